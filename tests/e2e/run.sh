#!/usr/bin/env bash
# Opens VS Code with the extension of this clone on a folder: `make run [FOLDER=…]`. With an editor on PATH it is that
# one, else the workbench from npm, served on 127.0.0.1. User data and extensions lie in build/run, never in the
# user's own profile. The server is the clone's (.venv).
#
#   run.sh [--built] [FOLDER]     --built: dist/ and .venv are there already
# FOLDER's default is a sample project, copied to build/run/sample, that already holds memories.
# PORT=… asks for a port of the npm workbench. RUN_EDITOR=… names another editor; `npm` means the npm workbench.
# RUN_HOME=… takes the place of build/run.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
clone=$(cd "$here/../.." && pwd)
home=${RUN_HOME:-$clone/build/run}
sample=$home/sample
say() { echo "$*" >&2; }

built=
if [ "${1:-}" = --built ]; then
  built=yes
  shift
fi

folder=${1:-}
case $folder in
  "~"|"~/"*) folder=$HOME${folder#\~} ;;  # make does not expand it
esac
if [ -n "$folder" ] && [ ! -d "$folder" ]; then
  say "FOLDER=$folder is $([ -e "$folder" ] && echo "not a folder" || echo "not there"). Give the folder to open, or none for the sample project."
  exit 2
fi
[ -z "$folder" ] || folder=$(cd "$folder" && pwd)

editor=${RUN_EDITOR:-}
if [ -z "$editor" ]; then
  for name in code codium cursor windsurf; do
    if command -v "$name" > /dev/null; then
      editor=$name
      break
    fi
  done
fi
: "${editor:=npm}"
if [ "$editor" != npm ] && ! command -v "$editor" > /dev/null; then
  say "RUN_EDITOR=$editor is not on PATH."
  exit 2
fi

# The slow part that can be refused comes before the building.
if [ "$editor" = npm ]; then
  tools=$("$here/setup.sh" --serve)
fi
if [ -z "$built" ]; then
  say "Building the extension and the server …"
  mkdir -p "$home"
  make -s -C "$clone" package > "$home/package.log" 2>&1 < /dev/null || {
    tail -n 20 "$home/package.log" >&2
    say "The build failed; the whole log is $home/package.log"
    exit 1
  }
fi
unset MNEMOLENS_E2E_CACHE  # the server would take it for a setting
python=$clone/.venv/bin/python
vsix=$(ls -t "$clone"/dist/*.vsix 2> /dev/null | head -n 1)
if [ -z "$vsix" ]; then
  say "There is no .vsix in dist/; run: make package"
  exit 2
fi

trust=()
if [ -z "$folder" ]; then
  trust=(--disable-workspace-trust)  # nobody needs to be asked about a project that was made a moment ago
  if [ ! -e "$sample/.git" ]; then
    say "Preparing the sample project …"
    rm -rf "$sample" "$sample.new"
    mkdir -p "$home"
    cp -R "$here/sample" "$sample.new"
    git -C "$sample.new" init -q -b main
    git -C "$sample.new" add .
    git -C "$sample.new" -c user.name=Ana -c user.email=ana@example.org -c commit.gpgsign=false commit -q -m "The shop as it is"
    "$python" "$here/seed.py" "$sample.new" || { say "The sample project could not be given its memories."; exit 1; }
    mv "$sample.new" "$sample"
  fi
  folder=$sample
fi

if [ "$editor" != npm ]; then
  node "$here/profile.mjs" "$home/$editor/data" "$python"
  own=(--user-data-dir "$home/$editor/data" --extensions-dir "$home/$editor/extensions")
  [ "$(id -u)" -ne 0 ] || own+=(--no-sandbox)
  "$editor" "${own[@]}" --install-extension "$vsix" --force > "$home/install.log" 2>&1 < /dev/null || {
    tail -n 20 "$home/install.log" >&2
    say "$editor could not install $vsix"
    exit 1
  }
  say "Opening $folder in $editor, with a profile of its own in $home/$editor."
  exec "$editor" "${own[@]}" ${trust[@]+"${trust[@]}"} --new-window "$folder"
fi

home=$home/npm
. "$here/workbench.sh"
trap leave_workbench EXIT
trap 'say; say "Stopped."; exit 0' INT TERM
prepare_workbench
"$node24" "$here/profile.mjs" "$home/data" "$python"
install_vsix "$vsix"
port=${PORT:-8137}
for _ in 1 2 3; do
  port=$(free_port "$port")
  status=0
  start_workbench "$port" ${trust[@]+"${trust[@]}"} || status=$?
  [ $status -eq 3 ] || break
done
[ $status -eq 0 ] || { say "The workbench could not be served on port $port."; exit 1; }
address=$("$node24" -p '`http://127.0.0.1:${process.argv[1]}/?folder=${encodeURI(process.argv[2]).replaceAll("#", "%23").replaceAll("?", "%3F").replaceAll("&", "%26").replaceAll("+", "%2B")}`' "$port" "$folder")
cat <<TEXT

  VS Code is served for this machine only. Open in a browser:

    $address

  The folder is $folder
  Ctrl-C stops it.

TEXT
wait "$workbench_pid" || true
workbench_pid=
say "The workbench has ended by itself; its log is $workbench_log"
exit 1
