#!/usr/bin/env bash
# A kind cluster that holds the image of this project, for the suites with real pods on a machine that has Docker.
# Usage: hack/kind.sh [up|down]
#   up    creates the cluster unless it is there, builds the image, loads it, says how to run the suites
#   down  deletes the cluster and its kubeconfig
# Settings: KIND_CLUSTER (its name), KIND_KUBECONFIG (file that is written), KIND_NODE_IMAGE (kind's own default when empty).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cluster=${KIND_CLUSTER:-logpipeline}
kubeconfig=${KIND_KUBECONFIG:-${TMPDIR:-/tmp}/$cluster-kind.kubeconfig}
# The suites install the first, and upgrade to the second.
images=(localhost/logpipeline:test localhost/logpipeline:next)

need() {
  command -v "$1" >/dev/null || { echo "$1 is not installed: $2" >&2; exit 69; }
}

up() {
  need docker 'https://docs.docker.com/engine/install'
  need kind 'https://kind.sigs.k8s.io, or go install sigs.k8s.io/kind@latest'
  docker info >/dev/null 2>&1 || { echo 'docker info fails: Docker does not run, or not for this user' >&2; exit 69; }
  if kind get clusters 2>/dev/null | grep -qx "$cluster"; then
    kind export kubeconfig --name "$cluster" --kubeconfig "$kubeconfig"
  else
    kind create cluster --name "$cluster" --kubeconfig "$kubeconfig" --wait 5m ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"}
  fi
  docker build --tag "${images[0]}" .
  docker tag "${images[@]}"
  kind load docker-image "${images[@]}" --name "$cluster"
  cat <<EOF

The cluster $cluster is up and holds ${images[*]}.

  REAL_KUBERNETES_NODE=$kubeconfig npm run test:cluster -- e2e/cluster
  kubectl --kubeconfig $kubeconfig get pods --all-namespaces
EOF
}

down() {
  need kind 'https://kind.sigs.k8s.io'
  kind delete cluster --name "$cluster" --kubeconfig "$kubeconfig"
  rm -f "$kubeconfig"
}

case ${1:-up} in
  up) up ;;
  down) down ;;
  *) sed -n '2,6p' "$0" >&2; exit 64 ;;
esac
