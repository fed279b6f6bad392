/** Words that callers use for a field or a route of ours, as other systems call them. */
import { once } from '../../kit/once.ts';
import type { Synonyms } from '../../kit/text/nearest.ts';

/** Whole names of fields, a group a line; the first name of a line that a schema has is suggested. */
export const fieldSynonyms = once(() =>
  groupsOf(`
command cmd code script shell_command run exec program line
cmd command script shell_command
code source script program content input command cmd
cwd exec_dir workdir work_dir working_dir working_directory current_dir directory dir folder path
timeout wait_timeout duration wait seconds max_time deadline timeout_ms time_limit
hard_timeout kill_after max_runtime ttl
env environment envs env_vars variables vars
mode async background async_mode is_async detach detached daemon run_in_background blocking sync
async mode background async_mode detach detached run_in_background
stdin input data text stdin_data
input data text stdin keys chars content value command string
args argv arguments params parameters
max_output_length max_output output_limit max_chars truncate
session_id session sid id name context_id shell_id
id session_id session name
command_id id request_id idempotency_key
user username user_name as_user uid owner account run_as sudo
signal sig kill_signal signum
tree group process_group recursive
eof close close_stdin end
source path src from from_path source_path old_path
path source file file_path filepath filename file_name target_file dir directory folder name root src from target uri
destination dest dst to to_path target target_path new_path destination_path
content contents text data body file_text value
old_str old_string old_text old search find before target original
new_str new_string new_text new replace replacement after with
replace_mode replace_all all count global occurrence
insert_line line line_number at_line
start_line start offset from_line line_start begin from first_line
end_line end to_line line_end limit last_line to lines
pattern query regex regexp search text glob expression name filter q term
include glob file_pattern include_glob files include_pattern include_patterns
include_patterns include patterns pattern glob globs filter only
exclude ignore ignore_patterns exclude_patterns skip excludes
case_insensitive ignore_case case_sensitive i nocase insensitive
fixed_strings literal fixed_string is_regex plain fixed
max_results limit max count head_limit max_count max_matches
limit count max max_results size n top
context_before before before_context b context
context_after after after_context a context
max_depth depth levels
show_hidden hidden all include_hidden dotfiles
parents recursive p make_parents exist_ok create_parents
recursive recurse r force deep
overwrite force replace clobber
encoding charset is_base64 base64 binary
mode permissions perm perms chmod
debounce debounce_ms interval delay
cursor since after offset from seq last_event_id
cols columns width col
rows lines height row
press_enter enter newline submit
language lang kernel kernel_name runtime
lang language
url uri href link address target_url page
wait_until wait wait_for until load_state
tab_id tab target_id page_id page id index
ref element element_id element_ref node target uid locator
selector css css_selector query locator xpath element
value text input content fill string
expression script code js javascript function fn source
full_page fullscreen entire_page whole_page full
interactive_only interactive only_interactive
action_type action type kind name
action action_type op operation type command method
actions steps batch items
keys key hotkey combo shortcut
key keys key_name keysym
text value string content input keys
dx scroll_x delta_x
dy scroll_y delta_y amount distance
x coordinate position point left
num_clicks clicks click_count count
duration seconds time timeout ms sleep delay
save_path path output output_path file filename
max_duration duration timeout length seconds
cookies cookie items
`),
);

/** Names of tools that models know from elsewhere. */
export const toolSynonyms = once(() =>
  groupsOf(`
sandbox_execute_bash bash shell terminal run_command execute_command exec run_bash shell_exec execute_bash run_shell
sandbox_execute_code python execute_python run_python run_code code_interpreter execute_code jupyter python_repl
sandbox_file_operations read_file write_file file files list_files list_directory search_files grep glob read write ls find
sandbox_str_replace_editor str_replace_editor str_replace_based_edit_tool edit_file edit editor text_editor multi_edit
sandbox_get_context get_context context info sandbox_info environment system_info
sandbox_get_packages get_packages packages list_packages pip_list
sandbox_load_skill load_skill skill skills use_skill
browser_get_info browser_info get_browser_info
browser_gui_screenshot screenshot take_screenshot browser_screenshot computer_screenshot
browser_gui_execute_action computer computer_use click type mouse keyboard gui_action execute_action browser_action
`),
);

/** Words of paths, a group a line. */
export const routeSynonyms = once(() =>
  groupsOf(`
fs file files filesystem dir directory folder
commands command exec execute run process processes bash cmd spawn start
pty terminal terminals shell shells tty console
computer desktop display gui screen vnc
navigate goto open visit load
tabs tab pages page targets
code python jupyter notebook nodejs javascript interpreter repl kernel kernels
sessions session contexts context
watch watchers watcher watches events
sandbox info system environment capabilities version
read cat get content contents view
write create save put touch
edit replace str_replace patch update
delete remove rm unlink
move mv rename
copy cp
list ls entries
search find glob
grep rg ripgrep
screenshot capture screenshots image
actions action act
evaluate eval script js
fill type input
kill stop terminate cancel signal interrupt
stdin input write
`),
);

/** Read at the first misspelt name: the start of the daemon needs none of them. */
function groupsOf(lines: string): Synonyms {
  return lines
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
}
