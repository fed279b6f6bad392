/**
 * Contains the shell script that a keeper runs to hold a session in tmux.
 *
 * The tmux server belongs to this session alone. Standard output carries what the pane writes, unchanged. Lines of
 * standard input are tmux commands. The script ends the way the shell ended. The first line that it writes to standard
 * error reports the pid and the terminal of the shell, and the pid of the server.
 */

/** Earlier lines of standard error are not from the script. */
export const startLine = /^shell (\d+) (\S+) (\d+)$/m;

/**
 * Arguments: `$1` tmux, `$2` a name for its directory, `$3` columns, `$4` rows, `$5` PATH for the script itself; the
 * rest is the pane's command. The script's variables have unusual names, because the caller's variables pass through
 * the script to the shell.
 */
export const tmuxScript = String.raw`
_sd_tmux=$1 _sd_name=$2 _sd_cols=$3 _sd_rows=$4 PATH=$5
shift 5
export PATH
unset TMUX TMUX_PANE
_sd_dir= _sd_ending=
# A signal during mkdir is handled when the script knows the directory.
trap _sd_ending=yes TERM
for _sd_base in "$TMPDIR" /tmp /var/tmp; do
  # tmux takes what is in its commands for formats.
  case $_sd_base in '' | *[!A-Za-z0-9/._-]*) continue ;; esac
  # The path of a socket may have 107 bytes.
  [ ${'$'}{#_sd_base} -le 40 ] || continue
  for _sd_dir in "$_sd_base/boxkeep-$_sd_name" "$_sd_base/boxkeep-$_sd_name-$$"; do
    mkdir -m 700 "$_sd_dir" 2>/dev/null && break 2
  done
  _sd_dir=
done
if [ -z "$_sd_dir" ]; then echo 'no directory for a socket can be made in the temp directory' >&2; exit 1; fi
trap 'rm -rf "$_sd_dir"' EXIT
trap 'rm -rf "$_sd_dir"; trap - TERM EXIT; kill -TERM $$' TERM
[ -z "$_sd_ending" ] || kill -TERM $$
mkfifo "$_sd_dir/output" "$_sd_dir/ready" "$_sd_dir/end" "$_sd_dir/life" || exit 1
# Opened for reading and writing, they block neither end. The pump opens nothing itself: where tmux fails at once, the
# directory is gone before the pump has run.
exec 3<&0 4<>"$_sd_dir/output" 5<>"$_sd_dir/end" 6<>"$_sd_dir/ready" 7<>"$_sd_dir/life" 8<"$_sd_dir/output"
# The pump lasts as long as there is output. Its end, whatever the cause, ends the session: output would be lost.
{ trap '' TERM; cat; echo >&5; } <&8 3<&- 4>&- 6>&- 7>&- 8<&- &
_sd_pump=$!
exec 8<&-
# One list of commands: the server reads nothing of the pane before the whole of it is done. A tmux that is older than
# 3.2 does not know of extended keys, and ends it.
_sd_pane=$("$_sd_tmux" -S "$_sd_dir/tmux" -f /dev/null start-server \; \
  set -s extended-keys off \; set -s escape-time 0 \; set -s set-clipboard off \; \
  set -g status off \; set -g remain-on-exit on \; set -g automatic-rename off \; \
  set -g update-environment '' \; set -g default-terminal screen-256color \; \
  set-hook -g pane-died "run-shell 'echo x#{pane_dead_status} #{pane_dead_signal} >$_sd_dir/end'" \; \
  new-session -d -x "$_sd_cols" -y "$_sd_rows" -P -F '#{pane_pid} #{pane_tty} #{pid}' -s boxkeep "$@" \; \
  set -w window-size manual \; pipe-pane -O "exec >$_sd_dir/output; echo >$_sd_dir/ready; exec cat" \
  </dev/null 3<&- 4>&- 5>&- 6>&- 7>&-) || exit 1
_sd_server=${'$'}{_sd_pane##* }
read -r _sd_line <&6
exec 4>&-
echo "shell $_sd_pane" >&2
# The server ends with the keeper: a killed script reports no end.
{ exec >/dev/null 2>&1 3<&- 5>&- 6>&-; read -r _sd_line || { kill "$_sd_server"; rm -rf "$_sd_dir"; }; } \
  <"$_sd_dir/life" 7>&- &
# Attached again when a person at the same server has detached everybody.
{ exec >/dev/null 2>&1 5>&- 6>&- 7>&-; while "$_sd_tmux" -S "$_sd_dir/tmux" has-session; do
  "$_sd_tmux" -S "$_sd_dir/tmux" -C attach -f no-output <&3 || sleep 1
done; } &
exec 6>&-
read -r _sd_code _sd_signal <&5
"$_sd_tmux" -S "$_sd_dir/tmux" kill-server 2>/dev/null 3<&- 5>&-
wait "$_sd_pump"
echo over >&7
case $_sd_code in x?*) exit "${'$'}{_sd_code#x}" ;; esac
rm -rf "$_sd_dir"
trap - EXIT
# tmux 3.2 does not report which one; a terminal that was taken away hangs up.
kill "-${'$'}{_sd_signal:-HUP}" $$
`;
