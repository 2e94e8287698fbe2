#!/usr/bin/env bash
# Scale without kubelets: KWOK gives the control plane of control-plane.sh (already up) fake nodes whose pods become Ready at once.
# Usage: fake-nodes.sh up [NODES] | down        (NODES default 100; CLUSTER_HOME and CLUSTER_PORT as for control-plane.sh)
# Fake nodes have the label type=kwok and the taint kwok.x-k8s.io/node, so pods meant for them need
#   nodeSelector: {type: kwok} and tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
# Failures on demand (KWOK's chaos stages): label a running pod pod-container-running-failed.stage.kwok.x-k8s.io=true (it becomes
# Failed; annotations .../reason, /message, /exit-code, /delay) or a node node-not-ready.stage.kwok.x-k8s.io=true.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/control-plane.sh"                       # run, alive, stop; $home $cfg
version=0.7.0 cache=${BACKENDS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/logpipeline-backends} kwok=$cache/bin/kwok-$version
kwok_up() {
  local n=${1:-100} i bin stages; bin=$("$here/build.sh" | tail -1)
  if [ ! -x "$kwok" ]; then
    GOBIN=$kwok.d CGO_ENABLED=0 GOTOOLCHAIN=local go install -trimpath -ldflags "-s -w" "sigs.k8s.io/kwok/cmd/kwok@v$version"
    mv "$kwok.d/kwok" "$kwok" && rmdir "$kwok.d"
  fi
  stages=$(cd / && go mod download -json "sigs.k8s.io/kwok@v$version" | python3 -c 'import json,sys;print(json.load(sys.stdin)["Dir"])')/kustomize/stage
  for i in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete \
    pod/chaos/pod-container-running-failed node/chaos/node-not-ready; do echo ---; cat "$stages/$i.yaml"; done >"$home/kwok.yaml"
  run kwok "$kwok" --kubeconfig="$cfg" --config="$home/kwok.yaml" --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake \
    --node-lease-duration-seconds=40 --v=WARN
  for ((i = 0; i < n; i++)); do cat <<YAML
---
apiVersion: v1
kind: Node
metadata: {name: fake-$i, annotations: {kwok.x-k8s.io/node: fake}, labels: {type: kwok, kubernetes.io/hostname: fake-$i, topology.kubernetes.io/zone: z$((i % 3))}}
spec: {taints: [{key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}]}
status: {allocatable: {cpu: "32", memory: 256Gi, pods: "110"}, capacity: {cpu: "32", memory: 256Gi, pods: "110"}}
YAML
  done | "$bin/kubectl" --kubeconfig "$cfg" apply --server-side -f - >/dev/null
  "$bin/kubectl" --kubeconfig "$cfg" wait --for=condition=Ready nodes -l type=kwok --timeout=120s >/dev/null && echo "$n fake nodes ready"
}
case ${1:-} in
  up) kwok_up "${2:-100}" ;;
  down) stop kwok ;;
  *) sed -n '2,7p' "$0" >&2; exit 2 ;;
esac
