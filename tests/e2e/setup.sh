#!/usr/bin/env bash
# Brings the real VS Code workbench onto this machine from npm alone, once for each set of versions, into the user's
# cache folder: Node 24, code-server (the workbench, served over HTTP) and playwright-core (drives a browser).
# Prints the folder on stdout, everything else on stderr. Installs no system package: it says what is missing.
#
#   setup.sh           what `make e2e` needs: a chromium and a Neovim are looked for too
#   setup.sh --serve   what `make run` without an editor needs: only the workbench
set -euo pipefail

NODE_VERSION=24.22.3
CODE_SERVER_VERSION=4.139.1
PLAYWRIGHT_VERSION=1.65.1

here=$(cd "$(dirname "$0")" && pwd)
say() { echo "$*" >&2; }

case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  *) say "The npm workbench runs on Linux (x64, arm64) and macOS (arm64); here is $(uname -sm). Put a VS Code on PATH instead."; exit 2 ;;
esac
cache=${MNEMOLENS_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mnemolens-e2e}
tools=$cache/node$NODE_VERSION-code-server$CODE_SERVER_VERSION-playwright$PLAYWRIGHT_VERSION-$platform
stamp=$tools/.complete

# What only the system's own package manager can bring. All of it in one message.
missing=()
if [ "${1:-}" != --serve ]; then
  "$here/chromium.sh" > /dev/null || missing+=(chromium fonts-dejavu-core)
  command -v nvim > /dev/null || missing+=(neovim)
fi
command -v git > /dev/null || missing+=(git)
if [ ! -f "$stamp" ]; then  # two small native modules are compiled once
  command -v python3 > /dev/null || missing+=(python3)
  command -v make > /dev/null || missing+=(make)
  command -v g++ > /dev/null || command -v clang++ > /dev/null || missing+=(g++)
fi
if [ ${#missing[@]} -gt 0 ]; then
  say "Missing here: ${missing[*]}. Install with:"
  say "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  exit 2
fi

if [ -f "$stamp" ]; then
  echo "$tools"
  exit 0
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/.making-XXXXXX")  # renamed when whole, so a broken set-up is never taken for a good one
trap 'rm -rf "$work"' EXIT
log=$cache/setup.log
: > "$log"
failed() { say "The set-up of the npm workbench failed at: $1. The last lines of $log:"; tail -n 15 "$log" >&2; exit 1; }
step() { say "[$SECONDS s] $*"; echo "== $*" >> "$log"; }
say "Setting up the npm workbench in $tools (once; one to three minutes) …"

quiet=(--no-audit --no-fund --no-update-notifier --loglevel=error)
npm_js=$(node -p 'require("fs").realpathSync(process.argv[1])' "$(command -v npm)")

step "Node $NODE_VERSION"
mkdir -p "$work/node" "$work/code-server" "$work/driver"
echo '{"private":true}' > "$work/node/package.json"
npm --prefix "$work/node" install "${quiet[@]}" "node-$platform@$NODE_VERSION" >> "$log" 2>&1 < /dev/null || failed "Node $NODE_VERSION"
mv "$work/node/node_modules/node-$platform" "$work/node/dist"
PATH=$work/node/dist/bin:$PATH
export PATH
export npm_config_nodedir=$work/node/dist  # that package holds the headers which the native modules are compiled against
npm24() { node "$npm_js" "$@" "${quiet[@]}" >> "$log" 2>&1 < /dev/null; }

step "code-server $CODE_SERVER_VERSION"
echo '{"private":true}' > "$work/code-server/package.json"
cd "$work/code-server"
npm24 install --ignore-scripts "code-server@$CODE_SERVER_VERSION" || failed "code-server"

# code-server's own post-install step would compile six native modules, some against system libraries that few
# machines have. The workbench needs two of them; the others' absence it tolerates.
step "the workbench's dependencies"
vscode=$work/code-server/node_modules/code-server/lib/vscode
cd "$vscode"
npm24 install --omit=dev --ignore-scripts || failed "the workbench's dependencies"
cd "$vscode/extensions"
npm24 install --omit=dev --ignore-scripts || failed "the built-in extensions' dependencies"
step "two native modules"
cd "$vscode"
npm24 rebuild --ignore-scripts=false @vscode/spdlog @vscode/native-watchdog || failed "compiling @vscode/spdlog and @vscode/native-watchdog"

step "playwright-core $PLAYWRIGHT_VERSION"
echo '{"private":true}' > "$work/driver/package.json"
cd "$work/driver"
npm24 install --ignore-scripts "playwright-core@$PLAYWRIGHT_VERSION" || failed "playwright-core"

step "a trial"
mkdir "$work/trial"
printf 'auth: none\n' > "$work/trial/config.yaml"
XDG_CONFIG_HOME=$work/trial XDG_DATA_HOME=$work/trial node "$work/code-server/node_modules/code-server/out/node/entry.js" \
  --config "$work/trial/config.yaml" --version >> "$log" 2>&1 || failed "starting code-server"
for module in @vscode/spdlog @vscode/native-watchdog; do
  (cd "$vscode" && node -e "require('$module')") >> "$log" 2>&1 || failed "loading $module"
done
rm -rf "$work/trial"
date -u +%FT%TZ > "$work/.complete"
cd "$cache"
# Two set-ups at once: the one that comes second keeps the first's.
[ -f "$stamp" ] || { rm -rf "$tools"; mv "$work" "$tools"; }
say "[$SECONDS s] done"
echo "$tools"
