#!/usr/bin/env bash
# Builds a real Kubernetes (and its etcd) from the Go module proxy, once, into
#   ${BACKENDS_CACHE:-~/.cache/logpipeline-backends}/kubernetes-<version>/bin
# Usage: build.sh [NAME...]   names: etcd kube-apiserver kube-controller-manager kube-scheduler
#        kubectl kubelet kube-proxy coredns; without names: the control plane (the first five).
# What is already there is not built again. Needs: go >= 1.24, python3.
set -euo pipefail
V=${KUBERNETES_VERSION:-1.34.4}             # k8s.io/kubernetes v1.34.4; its staging modules are v0.34.4
S=0.${V#1.}; minor=${V#1.}; minor=${minor%%.*}
out=${BACKENDS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/logpipeline-backends}/kubernetes-$V
want=("$@"); [ $# -gt 0 ] || want=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)
todo=(); for b in "${want[@]}"; do [ -x "$out/bin/$b" ] || todo+=("$b"); done
[ ${#todo[@]} -gt 0 ] || { echo "$out/bin"; exit 0; }
export PATH=$PATH:/usr/local/go/bin
mkdir -p "$out/bin" "$out/src"; cd "$out/src"

# `go install k8s.io/kubernetes/...@v` is impossible: its go.mod replaces every k8s.io/* module by ./staging/...
# So: a module of our own that takes upstream's go.mod, with those replaced by the published modules.
if [ ! -s go.mod ]; then
  D=$(cd / && go mod download -json "k8s.io/kubernetes@v$V" | python3 -c 'import json,sys;print(json.load(sys.stdin)["Dir"])')
  cp "$D/go.sum" go.sum && chmod u+w go.sum            # keeps upstream's hashes of the third-party modules
  python3 - "$D/go.mod" "$V" "$S" > go.mod.new <<'PY'
import re, sys
src, v, s = sys.argv[1:]
t = open(src).read()
t = re.sub(r'(?ms)^replace \(.*?^\)\n', '', t)
t = re.sub(r'(?m)^replace .*\n', '', t)
pat = r'(?m)^(\s*(?:require )?)(k8s\.io/[\w./-]+) v0\.0\.0(?=\s|$)'
mods = sorted({m[1] for m in re.findall(pat, t)})
t = re.sub(pat, lambda m: f'{m[1]}{m[2]} v{s}', t)
t = re.sub(r'(?m)^module .*', 'module local/k8s', t, count=1)
print(t + f'\nrequire k8s.io/kubernetes v{v}\n\nreplace (\n' + ''.join(f'\t{m} => {m} v{s}\n' for m in mods) + ')')
PY
  mv go.mod.new go.mod
fi

export GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local CGO_ENABLED=0
ld="-s -w"
for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ld+=" -X $p.gitVersion=v$V -X $p.gitMajor=1 -X $p.gitMinor=$minor -X $p.gitTreeState=clean"
  ld+=" -X $p.gitCommit=0000000000000000000000000000000000000000 -X $p.buildDate=2026-01-01T00:00:00Z"
done
for b in "${todo[@]}"; do
  t0=$SECONDS
  case $b in
    etcd) pkg=go.etcd.io/etcd/server/v3 ;;             # the version upstream's go.mod names (3.6.x)
    coredns) pkg=github.com/coredns/coredns@v${COREDNS_VERSION:-1.13.1} ;;
    *) pkg=k8s.io/kubernetes/cmd/$b ;;
  esac
  if [ "$b" = coredns ]; then (cd / && GOFLAGS=-buildvcs=false GOBIN="$out/bin" go install -trimpath -ldflags "-s -w" "$pkg")
  else go build -trimpath -ldflags "$ld" -o "$out/bin/$b.new" "$pkg" && mv "$out/bin/$b.new" "$out/bin/$b"; fi
  echo "built $b in $((SECONDS - t0)) s, $(du -m "$out/bin/$b" | cut -f1) MB" >&2
done
echo "$out/bin"
