#!/usr/bin/env bash
# A real Kubernetes control plane for tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.
# Usage: control-plane.sh up | down | kill-apiserver | wipe | status | env     (wipe = down + forget all data and certificates)
#   CLUSTER_HOME  state folder (default /tmp/logpipeline-backends/kubernetes): pki/ logs/ pids/ admin.kubeconfig
#   CLUSTER_PORT  API port on 127.0.0.1 (default 16443). The other ports keep their usual distance to it: etcd 12379 and 12380,
#             controller-manager 20257, scheduler 20259; so another CLUSTER_PORT with another CLUSTER_HOME gives a second cluster
#   CLUSTER_AUDIT=1     also writes $CLUSTER_HOME/audit.log (one JSON line per API request); CLUSTER_AUDIT=USER: of that user alone
#   CLUSTER_NETNS=NAME  everything runs inside that network namespace (node.sh makes it); CLUSTER_NODE_IP is its
#                   address there; the host reaches the API at 127.0.0.1:$CLUSTER_PORT through a unix-socket relay (socat)
# All listeners are on 127.0.0.1 (or inside the namespace). Authorization is Node,RBAC.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${CLUSTER_HOME:-${BACKENDS_RUN:-/tmp/logpipeline-backends}/kubernetes}
port=${CLUSTER_PORT:-16443} ns=${CLUSTER_NETNS:-} ip=${CLUSTER_NODE_IP:-}
etcd_port=$((port - 4064)) kcm_port=$((port + 3814)) sched_port=$((port + 3816))
pki=$home/pki cfg=$home/admin.kubeconfig

# run NAME CMD...: in the background, in the namespace if there is one, log and pid kept.
run() {
  local name=$1; shift
  alive "$name" && return 0
  setsid ${ns:+nsenter --net=/run/netns/"$ns"} "$@" </dev/null >>"$home/logs/$name.log" 2>&1 &
  echo $! >"$home/pids/$name"
}
alive() {   # is NAME's pid still that program? (guards against a reused pid; a zombie's cmdline is empty)
  local p; p=$(cat "$home/pids/$1" 2>/dev/null) && [ -d "/proc/$p" ] && tr '\0' ' ' <"/proc/$p/cmdline" | grep -qF "$home/"
}
stop() {    # stop NAME [SIGNAL]: ends it by pid, by force after 10 s
  local p i; if alive "$1"; then
    p=$(cat "$home/pids/$1"); kill "-${2:-TERM}" "$p"
    for i in $(seq 100); do alive "$1" || break; sleep 0.1; done
    if alive "$1"; then kill -KILL "$p"; fi
  fi; rm -f "$home/pids/$1"
}
# cert NAME SUBJECT [SAN]: key and certificate signed by our CA
cert() {
  [ -s "$pki/$1.crt" ] && return 0
  local ext=(-addext "basicConstraints=critical,CA:FALSE" -addext "extendedKeyUsage=clientAuth,serverAuth")
  [ -z "${3:-}" ] || ext+=(-addext "subjectAltName=$3")
  openssl req -x509 -config "$pki/req.cnf" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -subj "$2" "${ext[@]}" -keyout "$pki/$1.key" -out "$pki/$1.crt" 2>/dev/null
}
# kubeconfig NAME: self-contained $home/NAME.kubeconfig for the certificate pki/NAME
kubeconfig() {
  cat >"$home/$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$port", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$pki/$1.crt"), client-key-data: $(base64 -w0 "$pki/$1.key")}}]
contexts: [{name: test, context: {cluster: test, user: $1}}]
YAML
  chmod 600 "$home/$1.kubeconfig"
}
make_pki() {
  mkdir -p "$pki"; printf '[req]\ndistinguished_name=dn\n[dn]\n' >"$pki/req.cnf"
  [ -s "$pki/ca.crt" ] || openssl req -x509 -config "$pki/req.cnf" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -subj /CN=logpipeline-test-ca -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
  [ -s "$pki/sa.key" ] || { openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null; openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null; }
  cert apiserver /CN=kube-apiserver "IP:127.0.0.1,IP:10.96.0.1${ip:+,IP:$ip},DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  cert kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  cert front-proxy /CN=front-proxy-client
  cert admin /O=system:masters/CN=admin
  cert controller-manager /CN=system:kube-controller-manager
  cert scheduler /CN=system:kube-scheduler
  for u in admin controller-manager scheduler; do kubeconfig $u; done
}
up() {
  local bin; bin=$("$here/build.sh" | tail -1)
  mkdir -p "$home"/{logs,pids}; make_pki
  # etcd without fsync: data of a test cluster need not survive a power cut, and start and writes get faster
  run etcd "$bin/etcd" --data-dir "$home/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$((etcd_port + 1))"
  local opt=()
  if [ -n "$ip" ]; then opt+=(--bind-address=0.0.0.0 --advertise-address="$ip")              # inside the namespace only
  else opt+=(--bind-address=127.0.0.1 --advertise-address=192.0.2.1 --endpoint-reconciler-type=none); fi   # address unused, but wanted
  if [ -n "${CLUSTER_AUDIT:-}" ]; then
    local rules='{level: Metadata}'; [ "$CLUSTER_AUDIT" = 1 ] || rules="{level: Metadata, users: ['$CLUSTER_AUDIT']}, {level: None}"
    printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [%s]\n' "$rules" >"$home/audit.yaml"
    opt+=(--audit-policy-file="$home/audit.yaml" --audit-log-path="$home/audit.log")
  fi
  run apiserver "$bin/kube-apiserver" "${opt[@]}" --secure-port="$port" --etcd-servers="http://127.0.0.1:$etcd_port" \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true --profiling=false \
    --service-cluster-ip-range=10.96.0.0/16 --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
    --kubelet-client-certificate="$pki/kubelet-client.crt" --kubelet-client-key="$pki/kubelet-client.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --proxy-client-cert-file="$pki/front-proxy.crt" --proxy-client-key-file="$pki/front-proxy.key" \
    --requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra-
  if [ -n "$ns" ]; then   # relay host 127.0.0.1:port -> unix socket -> 127.0.0.1:port in the namespace (no route between the two)
    run relay-in socat "UNIX-LISTEN:$home/api.sock,fork,unlink-early" "TCP:127.0.0.1:$port"
    ns='' run relay-out socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$home/api.sock"
  fi
  local i; for i in $(seq 240); do
    "$bin/kubectl" --kubeconfig "$cfg" get --raw /readyz >/dev/null 2>&1 && break
    alive apiserver || { tail -5 "$home/logs/apiserver.log" >&2; echo "kube-apiserver ended, see $home/logs" >&2; exit 1; }
    [ "$i" -lt 240 ] || { echo "kube-apiserver not ready after 60 s, see $home/logs" >&2; exit 1; }
    sleep 0.25
  done
  run controller-manager "$bin/kube-controller-manager" --kubeconfig="$home/controller-manager.kubeconfig" \
    --authentication-kubeconfig="$home/controller-manager.kubeconfig" --authorization-kubeconfig="$home/controller-manager.kubeconfig" \
    --bind-address=127.0.0.1 --secure-port="$kcm_port" --leader-elect=false --use-service-account-credentials=true \
    --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" \
    --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" \
    --horizontal-pod-autoscaler-sync-period=3s --allocate-node-cidrs=true --cluster-cidr=10.244.0.0/16 --kube-api-qps=200 --kube-api-burst=400 --profiling=false
  run scheduler "$bin/kube-scheduler" --kubeconfig="$home/scheduler.kubeconfig" \
    --authentication-kubeconfig="$home/scheduler.kubeconfig" --authorization-kubeconfig="$home/scheduler.kubeconfig" \
    --bind-address=127.0.0.1 --secure-port="$sched_port" --leader-elect=false --kube-api-qps=200 --kube-api-burst=400 --profiling=false
  # pods can be created once the default service account is there
  for i in $(seq 120); do "$bin/kubectl" --kubeconfig "$cfg" get sa default >/dev/null 2>&1 && break; sleep 0.25; done
  echo "ready: KUBECONFIG=$cfg  PATH+=$bin"
}
down() {   # down [SIGNAL]; scheduler, controllers, relays and fake nodes keep nothing, so they need no farewell
  local n; for n in kwok scheduler controller-manager relay-out relay-in; do stop $n KILL; done
  stop apiserver "${1:-TERM}"; stop etcd "${1:-TERM}"
}
status() {
  local n rc=0
  for n in etcd apiserver controller-manager scheduler; do
    if alive $n; then echo "$n pid $(cat "$home/pids/$n") RSS $(awk '/VmRSS/{print int($2/1024)}' "/proc/$(cat "$home/pids/$n")/status") MB"
    else echo "$n not running"; rc=1; fi
  done
  return $rc
}
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0        # node.sh sources this file for its functions
case ${1:-} in
  up) up ;;
  down) down ;;
  kill-apiserver) stop apiserver KILL ;;
  wipe) down KILL; rm -rf "$home/etcd" "$home/pki" "$home/logs" "$home"/audit*.log "$home"/*.kubeconfig ;;
  status) status ;;
  env) echo "export KUBECONFIG=$cfg PATH=$("$here/build.sh" | tail -1):\$PATH" ;;
  *) sed -n '2,12p' "$0" >&2; exit 2 ;;
esac
