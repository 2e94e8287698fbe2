#!/usr/bin/env python3
"""Makes a container image without docker or a registry: a docker-archive that `ctr images import` takes.
Usage: make-image.py OUT.tar NAME:TAG 'CONFIG-JSON' [SRC=DST ...]
CONFIG is that of an image (Entrypoint, Cmd, Env, User, WorkingDir). SRC is a file or folder; symlinks at SRC itself are followed. The same input gives the same image id."""
import hashlib, io, json, os, sys, tarfile

out, ref, given, *files = sys.argv[1:]

def plain(t):                      # owner and times of the build machine do not belong into an image
    t.uid = t.gid = t.mtime = 0
    t.uname = t.gname = ""
    return t

layer_path = out + ".layer"
with tarfile.open(layer_path, "w") as tar:
    for f in files:
        src, dst = f.split("=", 1)
        tar.add(os.path.realpath(src), arcname=dst.lstrip("/"), filter=plain)
    tmp = tarfile.TarInfo("tmp")
    tmp.type, tmp.mode = tarfile.DIRTYPE, 0o1777
    tar.addfile(tmp)
h = hashlib.sha256()
with open(layer_path, "rb") as f:
    while chunk := f.read(1 << 20):
        h.update(chunk)
config = json.dumps({"architecture": "amd64", "os": "linux",
                     "config": {"Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], **json.loads(given)},
                     "rootfs": {"type": "layers", "diff_ids": ["sha256:" + h.hexdigest()]}}).encode()
name = hashlib.sha256(config).hexdigest() + ".json"
manifest = json.dumps([{"Config": name, "RepoTags": [ref], "Layers": ["layer.tar"]}]).encode()
with tarfile.open(out, "w") as tar:
    for n, b in ((name, config), ("manifest.json", manifest)):
        i = tarfile.TarInfo(n)
        i.size = len(b)
        tar.addfile(i, io.BytesIO(b))
    tar.add(layer_path, arcname="layer.tar", filter=plain)
os.unlink(layer_path)
