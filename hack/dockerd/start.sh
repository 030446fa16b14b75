#!/usr/bin/env bash
# Makes sure that a Docker engine answers: installs Debian's if there is none, and starts it. Needs root for both.
# On hosts that hold back CAP_SYS_RESOURCE the engine gets a runtime that does not ask for it.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Every node runs systemd, containerd, a kubelet and kube-proxy; the kernel's default of 128 inotify instances is enough for
# about four of them, and then kube-proxy fails with "too many open files".
instances=/proc/sys/fs/inotify/max_user_instances
if [ -w "$instances" ] && [ "$(cat "$instances")" -lt 1024 ]; then echo 1024 >"$instances" || true; fi

answers() { docker info >/dev/null 2>&1; }
if answers; then exit 0; fi
if [ "$(id -u)" -ne 0 ]; then
  echo "no Docker engine answers, and only root can install and start one" >&2
  exit 1
fi
if ! command -v dockerd >/dev/null; then
  echo "installing Docker"
  apt-get install -y -q docker.io iptables >/dev/null 2>&1 || { apt-get update -q >/dev/null && apt-get install -y -q docker.io iptables >/dev/null; }
fi

flags=(--log-level warn)
bounding=$(awk '/^CapBnd:/ {print $2}' /proc/self/status)
cap_sys_resource=24
if [ $(((0x$bounding >> cap_sys_resource) & 1)) -eq 0 ]; then
  go build -o bin/strip-capabilities ./hack/dockerd/strip-capabilities
  install -D bin/strip-capabilities /usr/local/lib/slipway/strip-capabilities
  flags+=(--add-runtime slipway=/usr/local/lib/slipway/strip-capabilities --default-runtime slipway)
fi
# Sandboxes mount only single cgroup v1 hierarchies; systemd in the node containers needs its own.
if [ ! -f /sys/fs/cgroup/cgroup.controllers ] && ! mountpoint -q /sys/fs/cgroup/systemd; then
  mkdir -p /sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
fi
mkdir -p /var/log
rm -f /var/run/docker.pid
nohup setsid dockerd "${flags[@]}" >/var/log/dockerd.log 2>&1 &
for _ in $(seq 1 60); do
  if answers; then exit 0; fi
  sleep 0.5
done
echo "the Docker engine did not start; its log ends with:" >&2
tail -20 /var/log/dockerd.log >&2
exit 1
