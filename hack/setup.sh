#!/bin/sh
# Installs from the lockfile when it is needed: on a fresh clone, and after package-lock.json has changed.
# `setup.sh start` is content without what only tests and checks need, and leaves it out, unless some of it is there: what is installed stays.
# No install scripts are run: none is needed.
set -e
cd "$(dirname "$0")/.."
what=${1:-all}

# npm notes in node_modules/.package-lock.json what it has installed, whoever called it. Prints all, start or none: what is here as the lockfile
# says; and dev when packages that only tests need are here. Optional packages may be missing: most are for other machines.
found=$(node -e '
  const packagesOf = file => { try { return JSON.parse(require("fs").readFileSync(file, "utf8")).packages } catch { return {} } }
  const wanted = Object.entries(packagesOf("package-lock.json")).filter(([path, { optional, devOptional }]) => path !== "" && !optional && !devOptional)
  const found = packagesOf("node_modules/.package-lock.json")
  const isHere = ([path, { version, integrity }]) => found[path]?.version === version && found[path]?.integrity === integrity
  const state = wanted.every(isHere) ? "all" : wanted.filter(([, { dev }]) => !dev).every(isHere) ? "start" : "none"
  console.log(state, wanted.some(([path, { dev }]) => dev && found[path]) ? "dev" : "")
')
case "$what $found" in "all all"* | "start all"* | "start start"*) exit 0 ;; esac

scope=--include=dev
case "$what $found" in "start "*" dev") ;; "start "*) scope=--omit=dev ;; esac
echo "Installing packages from package-lock.json ..." >&2
npm ci "$scope" --include=optional --ignore-scripts --no-audit --no-fund --loglevel=error >&2
