#!/usr/bin/env bash
# A real node, with real pods, under a real control plane (control-plane.sh): containerd + runc + CNI from Debian,
# kubelet + kube-proxy + CoreDNS from build.sh, hand-made images (make-image.py).
# Usage: node.sh up | down | wipe | status | env
#        node.sh exec CMD...                              run CMD inside the node's network namespace
#        node.sh image NAME:TAG CONFIG-JSON SRC=DST..     make an image and load it (pods: imagePullPolicy: Never)
#        node.sh tag NAME:TAG OTHER                       give it another name
# Node, pods, services and control plane live in network namespace $CLUSTER_NETNS (default logpipeline), which has no link to the
# outside: pod and service addresses cannot leave it. From the host: the API at 127.0.0.1:16444, pods by kubectl port-forward/exec.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CLUSTER_NETNS=${CLUSTER_NETNS:-logpipeline} CLUSTER_PORT=${CLUSTER_PORT:-16444} CLUSTER_NODE_IP=${CLUSTER_NODE_IP:-10.123.0.1}
export CLUSTER_HOME=${CLUSTER_HOME:-${BACKENDS_RUN:-/tmp/logpipeline-backends}/node}
. "$here/control-plane.sh"                       # run, alive, stop, cert, kubeconfig; $home $pki $cfg $ns $ip
node=n1 rt=/run/$ns sock=/run/$ns/containerd.sock      # short paths: unix sockets have at most 107 characters
ctr() { command ctr -a "$sock" -n k8s.io "$@"; }

packages() {
  local p need=(); for p in containerd runc containernetworking-plugins iptables conntrack socat; do
    dpkg -s "$p" >/dev/null 2>&1 || need+=("$p"); done
  [ ${#need[@]} -eq 0 ] || { apt-get update -q >/dev/null; DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${need[@]}" >/dev/null; }
}
namespace() {
  [ -e "/run/netns/$ns" ] || ip netns add "$ns"
  ip -n "$ns" link set lo up
  ip -n "$ns" addr replace "$ip/32" dev lo         # the node's address (no dummy links in this kernel; lo does)
  ip -n "$ns" route replace 10.96.0.0/16 dev lo src "$ip"   # without a route the node's own processes could not reach services (apiserver -> webhooks)
  in_ns sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
}
in_ns() { nsenter --net=/run/netns/"$ns" "$@"; }   # not `ip netns exec`: that one hides the cgroup mounts below /sys

configs() {
  mkdir -p "$home"/{cni,img,logs,pids} "$rt"
  cat >"$home/containerd.toml" <<TOML
version = 2
root = "$home/containerd"
state = "$rt/containerd"
[grpc]
  address = "$sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true      # this root has no CAP_SYS_RESOURCE: scores cannot go below our own
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$home/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
TOML
  sed "s|RT/|$rt/|" >"$home/cni/10-pod.conflist" <<'JSON'
{"cniVersion":"1.0.0","name":"pod","plugins":[
 {"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":false,"hairpinMode":true,
  "ipam":{"type":"host-local","dataDir":"RT/ipam","ranges":[[{"subnet":"10.244.0.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}},
 {"type":"portmap","capabilities":{"portMappings":true}}]}
JSON
  cert node "/O=system:nodes/CN=system:node:$node" "IP:$ip,DNS:$node"
  cert kube-proxy /CN=system:kube-proxy
  kubeconfig node; kubeconfig kube-proxy
  cat >"$home/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $ip
containerRuntimeEndpoint: unix://$sock
cgroupDriver: cgroupfs
failCgroupV1: false        # these hosts have cgroup v1 (hybrid)
failSwapOn: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/node.crt
tlsPrivateKeyFile: $pki/node.key
clusterDomain: cluster.local
clusterDNS: [10.96.0.10]
resolvConf: ""             # nothing outside to resolve
evictionHard: {nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%", memory.available: "100Mi"}
imageGCHighThresholdPercent: 100   # there is no registry to pull an image from again
healthzBindAddress: 127.0.0.1
nodeStatusUpdateFrequency: 5s
YAML
  cat >"$home/kube-proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: 10.244.0.0/16
hostnameOverride: $node
clientConnection: {kubeconfig: $home/kube-proxy.kubeconfig}
conntrack: {maxPerCore: 0, min: 0}
iptables: {minSyncPeriod: 100ms}   # default 1s; shortens (does not close) the gap between "pods Ready" and "service answers"
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
YAML
}
image() {   # image REF CONFIG SRC=DST...
  local tar; tar=$home/img/$(echo "$1" | tr '/:' '__').tar
  python3 "$here/make-image.py" "$tar" "$@" && ctr images import "$tar" >/dev/null && rm -f "$tar"
  ctr images label "$1" io.cri-containerd.pinned=pinned >/dev/null      # (honoured by containerd >= 1.7)
}
has_image() { ctr images ls -q | grep -qx "$1"; }
pause_image() {
  has_image localhost/pause:1 && return 0
  cat >"$home/img/pause.c" <<'C'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void end(int s) { _exit(0); }
static void reap(int s) { while (waitpid(-1, 0, WNOHANG) > 0) {} }
int main(void) { signal(SIGTERM, end); signal(SIGINT, end); signal(SIGCHLD, reap); for (;;) pause(); }
C
  gcc -Os -static -o "$home/img/pause" "$home/img/pause.c"
  image localhost/pause:1 '{"Entrypoint":["/pause"]}' "$home/img/pause=/pause"
}
coredns() {
  local bin=$1; has_image localhost/coredns:1 || image localhost/coredns:1 '{"Entrypoint":["/coredns"]}' "$bin/coredns=/coredns"
  "$bin/kubectl" --kubeconfig "$cfg" apply -f "$here/coredns.yaml" >/dev/null
}
volumes() {   # four of 20 Gi on this machine's disk, and a default storage class that hands them out
  local i; { cat <<YAML
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: node-disk, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
YAML
  for i in 1 2 3 4; do mkdir -p "$home/volumes/$i"; cat <<YAML
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: node-disk-$i}
spec:
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: node-disk
  local: {path: $home/volumes/$i}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$node]}]}]}}
YAML
  done; } | "$1/kubectl" --kubeconfig "$cfg" apply -f - >/dev/null
}
node_up() {
  packages; namespace
  local bin i; bin=$("$here/build.sh" etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet kube-proxy coredns | tail -1)
  up; configs
  run containerd containerd --config "$home/containerd.toml"
  for i in $(seq 100); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
  pause_image
  run kubelet "$bin/kubelet" --config="$home/kubelet.yaml" --kubeconfig="$home/node.kubeconfig" --root-dir="$home/kubelet" \
    --cert-dir="$pki" --hostname-override="$node" --node-ip="$ip"
  run kube-proxy "$bin/kube-proxy" --config="$home/kube-proxy.yaml"
  for i in $(seq 240); do "$bin/kubectl" --kubeconfig "$cfg" get node "$node" >/dev/null 2>&1 && break; sleep 0.25; done
  "$bin/kubectl" --kubeconfig "$cfg" wait --for=condition=Ready "node/$node" --timeout=120s
  coredns "$bin"; volumes "$bin"
}
node_down() {
  local p nets=''; stop kube-proxy KILL; stop kubelet KILL
  if alive containerd; then    # ends the pods
    for p in $(ctr tasks ls -q 2>/dev/null); do ctr tasks kill -s KILL "$p" 2>/dev/null || true; done; sleep 1
    for p in $(ctr tasks ls -q 2>/dev/null); do ctr tasks rm -f "$p" >/dev/null 2>&1 || true; done
    for p in $(ctr containers ls -q 2>/dev/null); do
      nets+=" $(ctr containers info "$p" | grep -o 'netns/cni-[0-9a-f-]*' | sort -u || true)"; ctr containers rm "$p" >/dev/null 2>&1 || true
    done
  fi
  stop containerd
  for p in /proc/[0-9]*; do    # shims of our containerd that are still there
    { tr '\0' ' ' <"$p/cmdline" | grep -q "^[^ ]*containerd-shim.* -address $sock" && kill -KILL "${p#/proc/}"; } 2>/dev/null || true
  done
  down
  awk -v a="$home/" -v b="$rt/" 'index($2, a) == 1 || index($2, b) == 1 {print $2}' /proc/mounts | tac | while read -r p; do umount -l "$p" || true; done
  for p in $(tr ' ' '\n' <<<"$nets" | sort -u); do ip netns del "${p##*/}" 2>/dev/null || true; done
  if [ -e "/run/netns/$ns" ]; then ip netns del "$ns"; fi; rm -rf "$rt"
}
case ${1:-} in
  up) node_up ;;
  down) node_down ;;
  kill-apiserver) stop apiserver KILL ;;
  wipe) node_down; rm -rf "$home" /var/log/pods /var/log/containers ;;   # kubelet's log folders; pods mount them by this path
  status) status || true; for n in containerd kubelet kube-proxy; do alive $n && echo "$n pid $(cat "$home/pids/$n") RSS $(awk '/VmRSS/{print int($2/1024)}' "/proc/$(cat "$home/pids/$n")/status") MB" || echo "$n not running"; done ;;
  env) echo "export KUBECONFIG=$cfg PATH=$("$here/build.sh" | tail -1):\$PATH" ;;
  exec) shift; in_ns "$@" ;;
  image) shift; image "$@" ;;
  tag) ctr images tag --force "$2" "$3" >/dev/null ;;
  *) sed -n '2,9p' "$0" >&2; exit 2 ;;
esac
