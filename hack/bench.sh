#!/usr/bin/env bash
# Measures what docs/benchmarks.md reports, on a plane of its own: start of the plane, idle memory, the in-memory cluster.
set -euo pipefail
cd "$(dirname "$0")/.."
state=$(mktemp -d)
export SLIPWAY_STATE_DIR=$state/plane
unset KUBECONFIG
trap 'bin/slipway down --delete-state >/dev/null 2>&1 || true; rm -rf "$state"' EXIT

field() { bin/slipway status -o json | sed -n "s/^  \"$1\": \([0-9]*\),*$/\1/p"; }

echo "First start (empty state)"
bin/slipway up >/dev/null
bin/slipway down 2>/dev/null
echo "Second start (state kept)"
bin/slipway up >/dev/null
echo "Idle for 60 s"
sleep 60
bin/slipway status
printf 'plane start: %d ms\nplane idle memory: %d MiB\n' $(($(field startTook) / 1000000)) $(($(field resident) / 1048576))
echo "In-memory cluster, 1 control plane machine and 1 worker"
bin/slipway quickstart -f docs/quickstart/in-memory.yaml --timeout 2m | tail -1
