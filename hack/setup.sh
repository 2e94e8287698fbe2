#!/bin/sh
# Installs from the lockfile when it is needed: on a fresh clone, and after package-lock.json has changed.
# `setup.sh start` leaves out what only tests and checks need. No install scripts are run: none is needed.
set -e
cd "$(dirname "$0")/.."
what=${1:-all}

is_installed() { cmp -s package-lock.json "node_modules/.installed-$1"; }
if is_installed all || is_installed "$what"; then exit 0; fi

if [ "$what" = start ]; then scope=--omit=dev; else scope=--include=dev; fi
echo "Installing packages from package-lock.json ..." >&2
npm ci "$scope" --include=optional --ignore-scripts --no-audit --no-fund --loglevel=error >&2
cp package-lock.json "node_modules/.installed-$what"
