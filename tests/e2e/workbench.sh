# Sourced by e2e.sh and run.sh: starts and stops the npm workbench (code-server) with folders of its own.
# Expects `tools` (what setup.sh printed) and `home` (the folder for everything the workbench writes).
# Binds 127.0.0.1 only. Keeps no process: `stop_workbench` ends what `start_workbench` began, by its id.

workbench_pid=
workbench_log=
starts=0
runtime_dir=

node24=$tools/node/dist/bin/node
code_server=(
  "$node24" "$tools/code-server/node_modules/code-server/out/node/entry.js"
  --config "$home/code-server.yaml" --user-data-dir "$home/data" --extensions-dir "$home/extensions"
)

# The first free port from $1 on.
free_port() {
  "$node24" -e '
    const net = require("node:net");
    const attempt = (port) => {
      const probe = net.createServer();
      probe.once("error", () => attempt(port + 1));
      probe.listen(port, "127.0.0.1", () => probe.close(() => console.log(port)));
    };
    attempt(Number(process.argv[1]));' "$1"
}

prepare_workbench() {
  mkdir -p "$home/data" "$home/extensions" "$home/xdg/config" "$home/xdg/data"
  printf 'auth: none\nbind-addr: 127.0.0.1:0\n' > "$home/code-server.yaml"  # without a file it makes one in the home folder
  runtime_dir=$(mktemp -d "${TMPDIR:-/tmp}/mnl-XXXXXX")  # holds sockets, whose paths must be short
  export XDG_CONFIG_HOME=$home/xdg/config XDG_DATA_HOME=$home/xdg/data XDG_RUNTIME_DIR=$runtime_dir
  # No marketplace: nothing is asked of any other machine.
  export EXTENSIONS_GALLERY='{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":"","controlUrl":""}'
}

install_vsix() {
  timeout 300 "${code_server[@]}" --install-extension "$1" --force > "$home/install.log" 2>&1 < /dev/null || {
    echo "The extension could not be installed into the workbench:" >&2
    tail -n 20 "$home/install.log" >&2
    return 1
  }
}

# start_workbench PORT [more code-server options]: status 3 when another program has taken the port meanwhile.
start_workbench() {
  local port=$1 tries=0
  shift
  starts=$((starts + 1))
  workbench_log=$home/code-server-$starts.log
  : > "$workbench_log"
  "${code_server[@]}" --bind-addr "127.0.0.1:$port" --auth none --disable-telemetry --disable-update-check \
    --disable-getting-started-override "$@" > "$workbench_log" 2>&1 < /dev/null &
  workbench_pid=$!
  until grep -q 'HTTP server listening' "$workbench_log"; do
    tries=$((tries + 1))
    if grep -q EADDRINUSE "$workbench_log"; then
      stop_workbench
      return 3
    fi
    if [ $tries -gt 600 ] || ! kill -0 "$workbench_pid" 2> /dev/null; then
      echo "The workbench did not start. The last lines of $workbench_log:" >&2
      tail -n 20 "$workbench_log" >&2
      return 1
    fi
    sleep 0.2
  done
}

stop_workbench() {
  [ -n "$workbench_pid" ] || return 0
  kill "$workbench_pid" 2> /dev/null || true
  local tries=0
  while kill -0 "$workbench_pid" 2> /dev/null && [ $tries -lt 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill -9 "$workbench_pid" 2> /dev/null || true
  wait "$workbench_pid" 2> /dev/null || true
  workbench_pid=
}

leave_workbench() {
  stop_workbench
  [ -z "$runtime_dir" ] || rm -rf "$runtime_dir"
  runtime_dir=
}
