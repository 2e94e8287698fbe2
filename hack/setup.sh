#!/bin/sh
# Installs from the lockfile when it is needed: on a fresh clone, and after package-lock.json has changed.
# `setup.sh start` also builds the console where its sources are newer than what was built, and compiles the program where most of it is.
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

# Node keeps compiled code, in each thread for itself. A standalone that finds none holds 50 MB more for as long as it runs, since four threads compile
# TypeScript. So one is started for a moment, without anything of the user's; sources that change later are compiled at the next start.
compiled=${NODE_COMPILE_CACHE:-node_modules/.cache/node-compile}/complete
MANY_SOURCES=50
is_compiled() {
  [ -f "$compiled" ] || return 1
  changed=$(find dataplane -path dataplane/console -prune -o -name '*.ts' ! -name '*.test.ts' -newer "$compiled" -print | head -n $MANY_SOURCES | wc -l)
  [ "$changed" -lt $MANY_SOURCES ]
}
compile() {
  place=$(mktemp -d)
  ports=$(for each in DASHBOARD OTLP_GRPC OTLP_HTTP GATEWAY HEALTH BRIDGE TICKETING AGENT FEATURES SCHEDULER SEARCH; do echo "${each}_PORT=0"; done)
  env -i PATH="$PATH" ${NODE_COMPILE_CACHE:+NODE_COMPILE_CACHE="$NODE_COMPILE_CACHE"} $ports DATA_DIR="$place/data" \
    hack/logpipeline standalone > "$place/log" 2>&1 &
  tried=$!
  for tenth in $(seq 600); do
    if grep -q 'logpipeline is up' "$place/log"; then touch "$compiled"; break; fi
    kill -0 $tried 2> /dev/null || break
    sleep 0.1
  done
  kill $tried 2> /dev/null || true
  wait $tried || true
  rm -rf "$place"
}

if [ "$1" = start ] && [ -f dataplane/main.ts ] && ! is_compiled; then
  echo "Compiling the program ..." >&2
  compile &
fi
if [ "$1" = start ] && [ -d dataplane/console ]; then
  built=dist/console/index.html
  # The rules of the domain that the console shares are among its sources.
  sources='dataplane/console dataplane/contract dataplane/domain dataplane/json package-lock.json'
  if [ ! -f "$built" ] || [ -n "$(find $sources -newer "$built" -type f ! -name '*.test.ts' -print -quit)" ]; then
    echo "Building the console ..." >&2
    hack/node node_modules/vite/bin/vite.js build dataplane/console --config dataplane/console/vite.config.ts --logLevel=warn >&2
  fi
fi
wait
