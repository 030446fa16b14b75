#!/usr/bin/env bash
# Builds slipway/node:<version>, the image of machines in containers, and slipway/haproxy, that of load balancers: Debian
# packages, and Kubernetes, etcd, CoreDNS and the pod network built from their modules. Nothing happens when the image for
# these very inputs exists. Needs root for the Debian packages, and a Docker engine.
# usage: build.sh [MINOR]; the newest minor of hack/kubernetes is the default, and the one that slipway/haproxy comes from.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/../.."

say() { printf '%s\n' "$*"; }
here=hack/nodeimage
cache=${SLIPWAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slipway}
suite=bookworm

newest=$(basename "$(ls -d hack/kubernetes/v* | sort -V | tail -1)")
minor=${1:-$newest}
kubernetes=$(awk '/k8s.io\/kubernetes v/ {print $NF; exit}' "hack/kubernetes/$minor/go.mod")
etcd=$(awk '/go.etcd.io\/etcd\/server\/v3 v/ {print $NF; exit}' hack/etcd/go.mod)
coredns=$(awk '/github.com\/coredns\/coredns v/ {print $NF; exit}' hack/coredns/go.mod)
network=$(awk '/github.com\/flannel-io\/flannel v/ {print $NF; exit}' hack/flannel/go.mod)
image=slipway/node:$kubernetes

key=$({ echo "$suite $kubernetes $etcd $coredns"; find $here hack/flannel -type f ! -name cni.yaml | LC_ALL=C sort | xargs sha256sum; } | sha256sum | cut -c1-24)
if [ "$(docker image inspect -f '{{index .Config.Labels "slipway.dev/key"}}' "$image" 2>/dev/null)" = "$key" ]; then
  say "$image is there"
  exit
fi

# Programs, each built once into the cache.
bin=$cache/kubernetes/$kubernetes
[ -x bin/slipway ] || go build -o bin/slipway ./cmd/slipway
bin/slipway binaries --set kubernetes --version "$minor"
bin/slipway binaries --set etcd
build() { # build TARGET MODULE_FOLDER PACKAGE
  [ -x "$1" ] && return
  say "building $(basename "$1")"
  mkdir -p "$(dirname "$1")"
  (cd "$2" && GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$1.new" "$3") && mv "$1.new" "$1"
}
network_key=$(cat hack/flannel/* | sha256sum | cut -c1-12)
build "$cache/coredns/$coredns/coredns" hack/coredns github.com/coredns/coredns
build "$cache/pod-network/$network_key/pod-network" hack/flannel .
build "$cache/pause/pause-$(sha256sum <$here/pause/main.go | cut -c1-12)" $here/pause ./main.go

# The Debian part, cached by its list of packages.
base=$cache/nodeimage/base-$suite-$(sha256sum <$here/packages | cut -c1-12).tar
if [ ! -f "$base" ]; then
  command -v mmdebstrap >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap >/dev/null; }
  say "installing Debian packages into a new root file system"
  mkdir -p "$cache/nodeimage"
  mmdebstrap --quiet --format=tar --variant=minbase --include="$(paste -sd, $here/packages)" --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    $suite "$base.new"
  mv "$base.new" "$base"
fi

work=$(mktemp -d)
builder=slipway-node-image-builder
trap 'rm -rf "$work"; docker rm -fv $builder >/dev/null 2>&1 || true' EXIT
say "assembling $image"

# Container images of one program each.
from_folder() { # from_folder FOLDER NAME CHANGE...
  local folder=$1 name=$2 changes=()
  shift 2
  for change in "$@"; do changes+=(--change "$change"); done
  tar -C "$folder" --owner=0 --group=0 -c . | docker import "${changes[@]}" - "$name" >/dev/null
  images+=("$name")
}
path='ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
images=()
listed=$("$bin/kubeadm" config images list --kubernetes-version "$kubernetes" 2>/dev/null)
named() { grep "/$1:" <<<"$listed"; }
program() { # program BINARY IMAGE PATH_INSIDE
  local folder=$work/images/$2
  mkdir -p "$folder/$(dirname "$3")" "$folder/tmp" "$folder/etc"
  ln -f "$1" "$folder/$3" 2>/dev/null || cp "$1" "$folder/$3"
  cp $work/certificates "$folder/etc/ca-certificates.crt"
  from_folder "$folder" "$(named "$2")" "$path" "ENTRYPOINT [\"/$3\"]"
}
mkdir -p "$work/root"
tar -C "$work/root" -xf "$base" ./usr ./lib ./lib64 ./sbin ./bin ./etc/ssl ./etc/alternatives 2>/dev/null || true
cp "$work/root/etc/ssl/certs/ca-certificates.crt" "$work/certificates"
for component in kube-apiserver kube-controller-manager kube-scheduler; do program "$bin/$component" $component usr/local/bin/$component; done
program "$cache/etcd/$etcd/etcd" etcd usr/local/bin/etcd
program "$cache/coredns/$coredns/coredns" coredns coredns
program "$cache/pause/pause-$(sha256sum <$here/pause/main.go | cut -c1-12)" pause pause

# Programs that need iptables get it from the same Debian packages, with the libraries it is linked with.
with_iptables() { # with_iptables BINARY FOLDER PATH_INSIDE
  local folder=$2
  mkdir -p "$folder/usr/sbin" "$folder/usr/lib" "$folder/$(dirname "$3")" "$folder/tmp" "$folder/run" "$folder/etc"
  ln -sfn usr/lib "$folder/lib"; ln -sfn usr/lib64 "$folder/lib64"; ln -sfn usr/sbin "$folder/sbin"
  (cd "$work/root" && tar -c usr/sbin/xtables-* usr/sbin/nft* usr/lib/*/xtables $(ldd_closure usr/sbin/xtables-*-multi usr/sbin/nft* usr/lib/*/xtables/*.so)) | tar -C "$folder" -x
  for name in iptables ip6tables iptables-save ip6tables-save iptables-restore ip6tables-restore; do
    ln -sfn xtables-nft-multi "$folder/usr/sbin/$name"
  done
  ln -f "$1" "$folder/$3" 2>/dev/null || cp "$1" "$folder/$3"
}
ldd_closure() {
  chroot "$work/root" ldd "${@/#//}" 2>/dev/null | awk '$2 == "=>" {print $3} $1 ~ /ld-linux/ && $2 != "=>" {print $1}' | sort -u | while read -r file; do
    file=$(chroot "$work/root" readlink -e "$(dirname "$file")")/$(basename "$file")
    echo "${file#/}"
    echo "$(chroot "$work/root" readlink -e "$file" | cut -c2-)"
  done | sort -u
}
with_iptables "$bin/kube-proxy" "$work/images/kube-proxy" usr/local/bin/kube-proxy
from_folder "$work/images/kube-proxy" "$(named kube-proxy)" "$path" 'ENTRYPOINT ["/usr/local/bin/kube-proxy"]'
with_iptables "$cache/pod-network/$network_key/pod-network" "$work/images/pod-network" usr/local/bin/pod-network
from_folder "$work/images/pod-network" "slipway.local/pod-network:$network" "$path" 'ENTRYPOINT ["/usr/local/bin/pod-network"]'

# The node: Debian, the programs of a node, and the images in its containerd.
docker import "$base" slipway/node-base:latest >/dev/null
docker run -d --pull=never --privileged --stop-signal SIGRTMIN+3 --name $builder --entrypoint sleep slipway/node-base:latest infinity >/dev/null
node=$work/node
mkdir -p $node/usr/bin $node/kind/manifests $node/etc/systemd/system $node/etc/containerd $node/etc/sysctl.d $node/usr/local/bin
for program in kubeadm kubelet kubectl; do ln "$bin/$program" $node/usr/bin/ 2>/dev/null || cp "$bin/$program" $node/usr/bin/; done
echo "$kubernetes" >$node/kind/version
cp $here/cni.yaml $node/kind/manifests/default-cni.yaml
install -m 755 $here/files/entrypoint $node/usr/local/bin/entrypoint
install -m 755 $here/files/create-kubelet-cgroups $node/usr/local/bin/create-kubelet-cgroups
install -m 755 $here/files/setup.sh $node/setup.sh
cp $here/files/kubelet.service $node/etc/systemd/system/
sed "s|PAUSE|$(named pause)|" $here/files/containerd.toml >$node/etc/containerd/config.toml
cp $here/files/crictl.yaml $node/etc/crictl.yaml
cp $here/files/sysctl.conf $node/etc/sysctl.d/99-node.conf
docker save -o "$node/images.tar" "${images[@]}"
tar -C $node --owner=0 --group=0 -c . | docker cp - $builder:/
docker exec $builder /setup.sh
docker kill $builder >/dev/null
docker commit --change 'ENTRYPOINT ["/usr/local/bin/entrypoint"]' --change 'CMD []' --change 'ENV container=docker' \
  --change "$path" --change "LABEL slipway.dev/key=$key" --change "LABEL slipway.dev/kubernetes=$kubernetes" $builder "$image" >/dev/null
[ "$minor" != "$newest" ] || docker tag "$image" slipway/haproxy:latest
# kube-proxy's image stays: while a cluster is upgraded, nodes of both versions run the same one, and machines that reach no
# registry get the other by preLoadImages.
for used in slipway/node-base:latest "${images[@]}"; do
  [ "$used" = "$(named kube-proxy)" ] || docker rmi "$used" >/dev/null 2>&1 || true
done
say "built $image, $(docker image inspect -f '{{.Size}}' "$image" | numfmt --to=iec)"
