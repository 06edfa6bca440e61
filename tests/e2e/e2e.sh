#!/usr/bin/env bash
# The end-to-end run: the wheel and the .vsix from dist/, installed as a user would, in the real VS Code workbench in a
# headless browser, and in Neovim. One line a step, a count at the end; screenshots in build/e2e/screenshots.
# `make e2e` builds dist/ first; E2E_ONLY="first again" runs only these phases of VS Code. Ends whatever it started, also when it fails.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
clone=$(cd "$here/../.." && pwd)
home=$clone/build/e2e
results=$home/results.txt
dist=${E2E_DIST:-$clone/dist}

tools=$("$here/setup.sh")
cache=$(dirname "$tools")
unset MNEMOLENS_E2E_CACHE  # the server would take it for a setting
export E2E_TOOLS=$tools E2E_HOME=$home
E2E_CHROMIUM=$("$here/chromium.sh")
export E2E_CHROMIUM

shopt -s nullglob
wheels=("$dist"/*.whl) packages=("$dist"/*.vsix)
if [ ${#wheels[@]} -ne 1 ] || [ ${#packages[@]} -ne 1 ]; then
  echo "$dist must hold one wheel and one .vsix; run: make package" >&2
  exit 2
fi

rm -rf "$home"
mkdir -p "$home"
: > "$results"

# The server as a user has it: the wheel with its dependencies, at the locked versions, in an environment of its own.
"${PYTHON:-python3}" -m venv "$home/venv"
sed -E 's/ *\\$//; /^ *--hash/d' "$clone/server/requirements.lock" > "$home/constraints.txt"
"$home/venv/bin/python" -m pip install -q --disable-pip-version-check -c "$home/constraints.txt" "${wheels[0]}" \
  2> "$home/pip.log" < /dev/null || { cat "$home/pip.log" >&2; exit 1; }
"$home/venv/bin/python" - "$home/venv" <<'PY'
import pathlib, sys
import mnemolens
place = pathlib.Path(mnemolens.__file__)
if pathlib.Path(sys.argv[1]) not in place.parents:
    sys.exit(f"the run would test {place}, not the wheel")
PY

# The fixture: a fresh git repository each run.
fresh_repository() {
  mkdir -p "$2"
  cp -R "$1/." "$2/"
  git -C "$2" init -q -b main
  git -C "$2" config user.name Ana
  git -C "$2" config user.email ana@example.org
  git -C "$2" config commit.gpgsign false
  git -C "$2" add .
  git -C "$2" commit -q -m "As it is today"
}
export E2E_FOLDER=$home/projects/shop E2E_SECOND=$home/projects/labels
fresh_repository "$here/sample" "$E2E_FOLDER"
fresh_repository "$here/second" "$E2E_SECOND"
export E2E_NOTED=$home/projects/ledger
fresh_repository "$here/noted" "$E2E_NOTED"
git clone -q --bare "$E2E_NOTED" "$home/projects/ledger.git"
git -C "$E2E_NOTED" remote add origin "$home/projects/ledger.git"
git clone -q "$home/projects/ledger.git" "$home/projects/again/ledger"
git -C "$E2E_FOLDER" worktree add -q "$home/projects/shop-hotfix" -b hotfix
cat > "$home/projects/both.code-workspace" <<JSON
{ "folders": [{ "path": "$E2E_FOLDER" }, { "path": "$E2E_SECOND" }] }
JSON

. "$here/workbench.sh"
run_pid=
leave() {
  [ -z "$run_pid" ] || kill "$run_pid" 2> /dev/null || true
  leave_workbench
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
prepare_workbench
export XDG_CACHE_HOME=$home/xdg/cache
"$node24" "$here/profile.mjs" "$home/data" "$home/venv/bin/python" --test
install_vsix "${packages[0]}"
port=$(free_port $((20000 + $$ % 10000)))  # the same for all starts: a browser keeps what it knows by address

failed=0
steps_so_far() { grep -cE '^(not )?ok ' "$results" || true; }
# phase NAME LIMIT COMMAND…: its steps are numbered on from those before; a phase that dies counts as one failure.
phase() {
  local name=$1 limit=$2 before status=0
  shift 2
  echo "# $name"
  before=$(grep -c '^not ok ' "$results" || true)
  E2E_STEP=$(steps_so_far) timeout --kill-after=10 "$limit" "$@" < /dev/null || status=$?
  if [ $status -ne 0 ]; then
    failed=1
    if [ "$(grep -c '^not ok ' "$results" || true)" -eq "$before" ]; then
      echo "not ok $(($(steps_so_far) + 1)) - $name ended with status $status" | tee -a "$results"
    fi
  fi
}
# in_workbench NAME LIMIT PHASE QUERY: one start of workbench and browser.
in_workbench() {
  [[ -z ${E2E_ONLY:-} || " $E2E_ONLY " == *" $3 "* ]] || return 0
  start_workbench "$port" || { failed=1; echo "not ok $(($(steps_so_far) + 1)) - $1: no workbench" | tee -a "$results"; return 0; }
  phase "$1" "$2" "$node24" "$here/driver/editor.mjs" "$3" "http://127.0.0.1:$port/?$4"
  stop_workbench
}

# check WHAT COMMAND…: one step that is a command.
check() {
  local what=$1 number said
  shift
  number=$(($(steps_so_far) + 1))
  if said=$("$@" 2>&1); then
    echo "ok $number - $what" | tee -a "$results"
  else
    failed=1
    echo "not ok $number - $what: $said" | tee -a "$results"
  fi
}

in_workbench "VS Code: a first day" 600 first "folder=$E2E_FOLDER"
# Overnight, while no editor runs: a command leaves a reminder, and git brings a renamed method.
overnight() {
  cd "$E2E_FOLDER"
  cat > "$home/reminder.jsonl" <<'JSON'
{"memory": {"content": "Count the shelves before the year ends.", "type": "prospective", "dueAt": "2026-01-02T08:00:00Z"}, "at": {"file": "shop/stock.py", "qualname": "Stock.ship"}}
JSON
  "$home/venv/bin/mnemolens" import "$home/reminder.jsonl"
  sed -i.before 's/\bavailable(/in_stock(/' shop/stock.py
  rm shop/stock.py.before
  git commit -q -a -m "Say what it is"
  cd "$clone"
}
check "overnight a command leaves a reminder, and git brings a renamed method" overnight
in_workbench "VS Code: the next day" 300 again "folder=$E2E_FOLDER"
in_workbench "VS Code: a linked worktree" 240 worktree "folder=$home/projects/shop-hotfix"
in_workbench "VS Code: two folders" 240 folders "workspace=$home/projects/both.code-workspace"
in_workbench "VS Code: what a project says already" 400 notes "folder=$E2E_NOTED"
in_workbench "VS Code: a fresh clone of it" 240 reclone "folder=$home/projects/again/ledger"
[ -n "${E2E_ONLY:-}" ] || E2E_PYTHON=$home/venv/bin/python E2E_RESULTS=$results \
  phase "Neovim" 180 nvim --headless -u NONE -i NONE -n -c "luafile $here/nvim/check.lua"

# A user's own installation: first with a setting that leads nowhere, then with none.
rm "$home/data/Machine/settings.json"
"$node24" "$here/profile.mjs" "$home/data" "$(command -v "${PYTHON:-python3}")" --test
in_workbench "VS Code: a wrong interpreter" 240 wrong "folder=$E2E_FOLDER"
echo '{}' > "$home/data/Machine/settings.json"
in_workbench "VS Code: no server yet" 600 install "folder=$E2E_FOLDER"

if [ -z "${E2E_ONLY:-}" ]; then
echo "# make run"
export RUN_HOME=$home/run
wrong_folder() {
  local said status=0
  said=$("$here/run.sh" --built "$home/no such folder" 2>&1) || status=$?
  echo "$status: $said"
  [ $status -eq 2 ] && [ "$(echo "$said" | wc -l)" -eq 1 ] && [[ $said == *"FOLDER=$home/no such folder is not there"* ]]
}
check "a folder that is not there gets one clear message" wrong_folder
# A stand-in for an editor on PATH: it writes down how it was called.
mkdir -p "$home/bin"
cat > "$home/bin/code" <<SH
#!/bin/sh
printf '%s\n' "\$*" >> "$home/code-calls.txt"
SH
chmod +x "$home/bin/code"
editor_on_path() {
  PATH=$home/bin:$PATH timeout 180 "$here/run.sh" --built "$E2E_FOLDER" || return 1
  cat "$home/code-calls.txt" "$home/run/code/data/User/settings.json"
  [ "$(wc -l < "$home/code-calls.txt")" -eq 2 ] || return 1
  while read -r call; do
    [[ $call == *"--user-data-dir $home/run/code/data --extensions-dir $home/run/code/extensions"* ]] || return 1
  done < "$home/code-calls.txt"
  grep -q -- '--install-extension .*\.vsix' "$home/code-calls.txt" || return 1
  grep -q -- "--new-window $E2E_FOLDER\$" "$home/code-calls.txt" || return 1
  grep -q "$clone/.venv/bin/python" "$home/run/code/data/User/settings.json"
}
check "with an editor on PATH, that one is opened, with a profile of its own" editor_on_path
RUN_EDITOR=npm MNEMOLENS_E2E_CACHE=$cache PORT=$((port + 1)) "$here/run.sh" --built > "$home/run.txt" 2>&1 < /dev/null &
run_pid=$!
for _ in $(seq 1 900); do
  grep -q 'Ctrl-C stops it' "$home/run.txt" && break
  kill -0 "$run_pid" 2> /dev/null || break
  sleep 0.2
done
phase "make run without an editor" 300 "$node24" "$here/driver/editor.mjs" sample "$(grep -o 'http://127[^ ]*' "$home/run.txt" || cat "$home/run.txt")"
stops_when_told() {
  kill "$run_pid" || return 1
  for _ in $(seq 1 150); do
    kill -0 "$run_pid" 2> /dev/null || break
    sleep 0.2
  done
  ! kill -0 "$run_pid" 2> /dev/null && grep -q Stopped "$home/run.txt"
}
check "make run stops when told to" stops_when_told
run_pid=
fi

passed=$(grep -c '^ok ' "$results" || true)
not_passed=$(grep -c '^not ok ' "$results" || true)
echo "screenshots: $home/screenshots"
echo "$passed passed, $not_passed failed"
[ $failed -eq 0 ] && [ "$not_passed" -eq 0 ]
