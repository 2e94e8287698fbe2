#!/bin/sh
# Installs from the lockfile when it is needed: on a fresh clone, and after package-lock.json has changed.
set -e
cd "$(dirname "$0")/.."
stamp=node_modules/.installed-lockfile
if [ ! -f "$stamp" ] || ! cmp -s package-lock.json "$stamp"; then
  echo "Installing packages from package-lock.json ..." >&2
  npm ci --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json "$stamp"
fi
