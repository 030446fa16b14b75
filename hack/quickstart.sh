#!/usr/bin/env bash
# From nothing to a two-node cluster: hack/quickstart.sh docker|inMemory, and hack/quickstart.sh down for the way back.
# CLASS=1 makes the same cluster from a ClusterClass.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n==> %s\n' "$*"; }
slipway() { bin/slipway "$@"; }
# kubectl is the one that was built, which fits; where it was not, the one on the path.
kubectl_path() {
  local built
  built=$(bin/slipway binaries --list | awk '$1 == "kubectl" && $3 == "yes" {path = $4} END {print path}')
  echo "${built:-kubectl}"
}
kubectl() { command "$(kubectl_path)" "$@"; }
engine_answers() { command -v docker >/dev/null && docker info >/dev/null 2>&1; }

# beat WHAT COMMAND...: runs a command that is silent for long, and says each 15 seconds that it still does.
beat() {
  local what=$1 beater status=0
  shift
  (
    took=0
    while sleep 15 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
      took=$((took + 15))
      echo "  $what: ${took}s so far"
    done
  ) &
  beater=$!
  "$@" || status=$?
  kill "$beater" 2>/dev/null || true
  wait "$beater" 2>/dev/null || true
  return $status
}

# install PACKAGE...: those Debian packages that are missing; only root can.
install() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "these Debian packages are missing, and only root can install them: ${missing[*]}" >&2
    return 1
  fi
  say "Installing ${missing[*]}"
  beat "Debian packages" install_packages "${missing[@]}"
}
install_packages() {
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# An engine that was started here is stopped by `down`; one that ran before is not ours to stop.
started=bin/.engine-started
start_engine() {
  if engine_answers; then
    hack/dockerd/start.sh # only raises limits
    return
  fi
  [ "$(id -u)" -eq 0 ] || return 1
  install docker.io iptables && hack/dockerd/start.sh && engine_answers && mkdir -p bin && touch "$started"
}
stop_engine() {
  [ -f "$started" ] || return 0
  say "Stopping the Docker engine that the quick start has started"
  [ ! -f /var/run/docker.pid ] || kill "$(cat /var/run/docker.pid)"
  rm -f "$started"
}

up() {
  local backend=$1 manifest=in-memory more=()
  command -v go >/dev/null || { echo "Go is needed: https://go.dev/dl" >&2; exit 1; }
  if [ "$backend" = docker ] && ! start_engine; then
    echo "No Docker engine answers and none can be started here: using the in-memory backend, whose machines are simulated."
    backend=inMemory
  fi
  say "Building"
  beat "slipway and its managers" make --no-print-directory build
  make --no-print-directory -o build binaries
  if [ "$backend" = docker ]; then
    say "Node image"
    beat "node image" make --no-print-directory node-image
    manifest=docker
    more=(-f docs/quickstart/pod-network.yaml)
  fi
  say "Management plane"
  slipway up
  [ "${CLASS:-}" != 1 ] || manifest+=-clusterclass
  say "Cluster quickstart ($manifest)"
  slipway --kubeconfig "$(plane_kubeconfig)" quickstart -f "docs/quickstart/$manifest.yaml" "${more[@]}"
  tell
}

plane_kubeconfig() { bin/slipway status -o json | sed -n 's/^  "kubeconfig": "\(.*\)",*$/\1/p'; }

tell() {
  local kubectl=kubectl where=
  type -P kubectl >/dev/null || kubectl=$(kubectl_path)
  # In another shell the variable is not set, and the commands would look after another plane.
  [ -z "${SLIPWAY_STATE_DIR:-}" ] || where="SLIPWAY_STATE_DIR=$SLIPWAY_STATE_DIR "
  cat <<END

The new cluster:
  ${where}bin/slipway get kubeconfig quickstart --write-to quickstart.kubeconfig
  $kubectl --kubeconfig quickstart.kubeconfig get nodes,pods -A
The management plane:
  $kubectl --kubeconfig $(plane_kubeconfig) get clusters,kcp,md,machines
  ${where}bin/slipway watch quickstart
To remove everything:
  ${where}make quickstart-down
END
}

down() {
  [ -x bin/slipway ] || beat "slipway and its managers" make --no-print-directory build
  local config left=
  config=$(plane_kubeconfig)
  if [ -n "$config" ]; then
    say "Deleting cluster quickstart"
    if ! kubectl --kubeconfig "$config" delete cluster quickstart --ignore-not-found --timeout=3m; then
      echo "The cluster could not be deleted in time; its containers are removed below."
      left=ours
    fi
  fi
  slipway down --delete-state
  remove_containers "$left"
  stop_engine
  rm -f quickstart.kubeconfig
}

# remove_containers removes what a cluster has left that its plane could not delete. Without a plane nobody knows whose they are.
remove_containers() {
  engine_answers || return 0
  local containers
  containers=$(docker ps -aq --filter label=io.x-k8s.kind.cluster=quickstart)
  [ -n "$containers" ] || return 0
  if [ "$1" = ours ]; then
    docker rm -fv $containers >/dev/null
  else
    echo "There are containers of a cluster quickstart that this plane did not have. If nobody needs them:"
    echo "  docker rm -fv" $containers
  fi
}

case "${CLASS:-}" in
'' | 1) ;;
*) echo "CLASS must be 1 or empty, not $CLASS" >&2; exit 2 ;;
esac
case "${1:-docker}" in
down) down ;;
docker | inMemory) up "${1:-docker}" ;;
*) echo "BACKEND must be docker or inMemory, not $1" >&2; exit 2 ;;
esac
