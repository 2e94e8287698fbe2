#!/bin/sh
# Gathers the root file system of the image in directory $1: the Node at $2 with the libraries it loads, `logpipeline` beside it, one user, an empty
# /data and /tmp. No shell, no package manager, nothing else that could be run.
set -eu
root=$1
node=$2

mkdir -p "$root/usr/local/bin" "$root/etc" "$root/data" "$root/tmp"
cp "$node" "$root/usr/local/bin/node"
# Lines of ldd: `name => /path (address)`, and `/path (address)` for the loader.
ldd "$node" | grep -o '/[^ ]*' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done

# For `kubectl exec POD -- logpipeline dlq list`: the kernel starts Node by the first line.
cat >"$root/usr/local/bin/logpipeline" <<'END'
#!/usr/local/bin/node --disable-warning=ExperimentalWarning
import('/app/dist/dataplane/main.js')
END
chmod 755 "$root/usr/local/bin/logpipeline"

echo 'logpipeline:x:65532:65532::/data:/sbin/nologin' >"$root/etc/passwd"
echo 'logpipeline:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
chmod 755 "$root"
chmod 1777 "$root/tmp"
chown 65532:65532 "$root/data"
