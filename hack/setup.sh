#!/bin/sh
# Installs from the lockfile when it is needed: on a fresh clone, and after package-lock.json has changed.
# `setup.sh start` also builds the console where its sources are newer than what was built.
# No install scripts are run: none is needed.
set -e
cd "$(dirname "$0")/.."

# npm notes in node_modules/.package-lock.json what it has installed, whoever called it. Prints yes when all is here as the lockfile says.
# Optional packages may be missing: most are for other machines.
complete=$(node -e '
  const packagesOf = file => { try { return JSON.parse(require("fs").readFileSync(file, "utf8")).packages } catch { return {} } }
  const wanted = Object.entries(packagesOf("package-lock.json")).filter(([path, { optional, devOptional }]) => path !== "" && !optional && !devOptional)
  const found = packagesOf("node_modules/.package-lock.json")
  const isHere = ([path, { version, integrity }]) => found[path]?.version === version && found[path]?.integrity === integrity
  console.log(wanted.every(isHere) ? "yes" : "no")
')
if [ "$complete" = no ]; then
  echo "Installing packages from package-lock.json ..." >&2
  npm ci --include=dev --include=optional --ignore-scripts --no-audit --no-fund --loglevel=error >&2
fi

if [ "$1" = start ] && [ -d dataplane/console ]; then
  built=dist/console/index.html
  if [ ! -f "$built" ] || [ -n "$(find dataplane/console dataplane/contract package-lock.json -newer "$built" -type f -print -quit)" ]; then
    echo "Building the console ..." >&2
    hack/node node_modules/vite/bin/vite.js build dataplane/console --config dataplane/console/vite.config.ts --logLevel=warn >&2
  fi
fi
