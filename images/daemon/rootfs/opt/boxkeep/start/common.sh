# Shared by the start scripts: places, one line of log, and waiting.
start_directory=$(cd "${0%/*}" && pwd)
IMAGE_HOME=${IMAGE_HOME:-${start_directory%/*}}
# Writable also where the root is read-only; see `entry`.
IMAGE_STATE=${IMAGE_STATE:-/run/image}
account=agent
# Scripts of root must run no program of the account, which owns the first directories of PATH.
IMAGE_PATH=${IMAGE_PATH:-$PATH}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# The text must need no escaping in JSON.
log() {
  printf '{"at":"%s","level":"%s","message":"%s"}\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)" "$1" "$2"
}

# Turns the output of a program into lines of log.
log_output() {
  jq -Rc --unbuffered --arg from "$1" '{at: (now | todate), level: "info", message: "output", from: $from, text: .}'
}

browser_port() { echo "${BROWSER_REMOTE_DEBUGGING_PORT:-9222}"; }

is_browser_ready() {
  curl --silent --fail --max-time 1 --output /dev/null "http://127.0.0.1:$(browser_port)/json/version"
}

# Waits for a limited time, so that a browser that cannot start does not take the API away.
wait_for_browser() {
  deadline=$(($(date +%s) + $1))
  until is_browser_ready; do
    if [ "$(date +%s)" -ge "$deadline" ]; then
      log error "the browser is not ready after $1 s" >&2
      return 0
    fi
    sleep 0.1
  done
}

# Where the supervised program of this script has been killed, what it has started is left. The supervisor gives each
# program a group of its own. A socket that is left would be taken for that of a running program.
end_leftovers() {
  group=$IMAGE_STATE/${0##*/}.group
  if [ -f "$group" ]; then pkill -KILL -g "$(cat "$group")" || true; fi # Nothing is left, as usual.
  echo $$ >"$group"
  rm -f "$IMAGE_STATE/services/${0##*/}"
}

# What only the start scripts read. A proxy can have a password.
forget_settings() {
  unset RUN_HOOK_INIT RUN_HOOK_PRE_SERVICES RUN_HOOK_POST_READY RUN_HOOKS_STRICT PROXY_SERVER PROXY_MAP
  unset BOXKEEP_HAS_KEY IMAGE_PATH START_BUS START_CODE_SERVER START_JUPYTER START_POST_READY
  unset SUPERVISOR_ENABLED SUPERVISOR_GROUP_NAME SUPERVISOR_PROCESS_NAME SUPERVISOR_SERVER_URL
}

is_off() {
  case "$(echo "$1" | tr '[:upper:]' '[:lower:]')" in false | 0 | no | off) return 0 ;; *) return 1 ;; esac
}

is_on() {
  case "$(echo "$1" | tr '[:upper:]' '[:lower:]')" in true | 1 | yes | on) return 0 ;; *) return 1 ;; esac
}

# Replaces the shell with a program of the account, or of the caller where the container does not run as root.
exec_as_account() {
  end_leftovers
  PATH=$IMAGE_PATH
  forget_settings
  if [ "$(id -u)" -ne 0 ]; then exec "$@"; fi
  HOME=$WORKSPACE USER=$account LOGNAME=$account
  export HOME USER LOGNAME
  exec setpriv --reuid "$account" --regid "$account" --init-groups -- "$@"
}

wait_for_display() {
  until xdpyinfo >/dev/null 2>&1; do sleep 0.05; done
}

wait_for_bus() {
  until [ -S "$XDG_RUNTIME_DIR/bus" ]; do sleep 0.05; done
}

# From `a=b,c=d:80` to the rules of the browser.
host_rules() {
  printf %s "$1" | tr ',' '\n' | sed -n 's/^ *\([^= ]*\) *= *\([^ ]*\) *$/MAP \1 \2/p' | paste -sd,
}
