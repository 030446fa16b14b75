#!/usr/bin/env bash
# Writes everything that is generated from markers: deep copies, CRDs, roles and webhook configurations of every module.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
mkdir -p bin
go build -o bin/controller-gen sigs.k8s.io/controller-tools/cmd/controller-gen

gen() { "$root/bin/controller-gen" "$@"; }

# has MARKER FOLDER...: controller-gen would write an empty file where there is none.
has() { grep -rqs --include='*.go' "+kubebuilder:$1" "${@:2}"; }

# module FOLDER ROLE: what a module with a manager generates from its own sources into its own config folder.
module() (
  cd "$root/$1"
  rm -rf config/rbac config/webhook
  has rbac . && gen rbac:roleName="$2" paths=./... output:rbac:dir=config/rbac
  has webhook . && gen webhook paths=./... output:webhook:dir=config/webhook
  return 0
)

# collects FOLDER ROLE LABEL: a role that gathers the rights of all roles with a label, by which providers of other groups let a manager at
# their kinds.
collects() {
  cat >"$root/$1/config/rbac/collected_role.yaml" <<YAML
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: $2
aggregationRule:
  clusterRoleSelectors:
  - matchLabels:
      $3: "true"
YAML
}

# The kinds of the core live in the contract, whose types every provider shares.
# Requests of runtime hooks are objects, too, but nobody stores them.
(cd contract && gen object paths=./api/... &&
  gen crd paths=./api/core/... paths=./api/addons/... paths=./api/ipam/... paths=./api/runtime/v1beta2 output:crd:dir=../core/config/crd/bases)
for provider in providers/*/; do
  [ -d "$provider/api" ] || continue
  (cd "$provider" && gen object paths=./api/... && gen crd paths=./api/... output:crd:dir=config/crd/bases)
done

module core capi-manager-role
module providers/bootstrap-kubeadm capi-kubeadm-bootstrap-manager-role
module providers/controlplane-kubeadm capi-kubeadm-control-plane-manager-role
module providers/infrastructure-docker capd-manager-role
collects core capi-collected-manager-role cluster.x-k8s.io/aggregate-to-manager
collects providers/controlplane-kubeadm capi-kubeadm-control-plane-collected-manager-role kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager

cd "$root"
go run ./hack/statemetrics

# The pod network of the quick start's clusters: what the node image holds for kind, delivered by a ClusterResourceSet.
{
  cat <<'YAML'
# Generated from hack/nodeimage/cni.yaml. Every Cluster of this namespace with the label pod-network=routes gets this pod network as
# soon as its API server answers.
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata:
  name: pod-network
spec:
  strategy: Reconcile
  clusterSelector:
    matchLabels:
      pod-network: routes
  resources:
  - kind: ConfigMap
    name: pod-network
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: pod-network
data:
  pod-network.yaml: |
YAML
  sed 's/^\(.\)/    \1/' hack/nodeimage/cni.yaml
} >docs/quickstart/pod-network.yaml
