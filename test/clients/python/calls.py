"""Each method of the 1.x client with its arguments, in an order in which they find what they need."""

import dataclasses
import typing

from agent_sandbox.browser.types.action import Action_Click

import checks


@dataclasses.dataclass
class Call:
    method: str
    arguments: typing.Callable
    check: typing.Optional[typing.Callable] = None
    case: str = ""
    #: Where it is not what the tables say of the method.
    outcome: typing.Optional[str] = None

    @property
    def title(self):
        return f"{self.method} {self.case}".strip()


def calls(has_browser):
    return [
        *sandbox(),
        *bash(),
        *shell(),
        *files(),
        *failing_files(),
        *watchers(),
        *code(),
        *desktop(),
        *(browser() if has_browser else without_browser()),
        *removed(),
    ]


def call(method, *positional, check=None, case="", outcome=None, **named):
    """Arguments that are functions are asked when it is their turn."""

    def arguments(state):
        ask = lambda value: value(state) if callable(value) else value
        return [ask(value) for value in positional], {name: ask(value) for name, value in named.items()}

    return Call(method, arguments, check, case, outcome)


def kept(name):
    return lambda state: state.kept[name]


def path(name):
    return lambda state: f"{state.directory}/{name}"


def sandbox():
    yield call("sandbox.get_context", check=checks.context)
    yield call("sandbox.get_python_packages", check=checks.packages)
    yield call("sandbox.get_nodejs_packages", check=checks.packages)


def bash():
    session = {"session_id": kept("bash")}
    yield call("bash.create_session", check=checks.bash_session)
    yield call("bash.create_session", session_id="named", exec_dir="/tmp", case="with a name", check=checks.bash_named)
    yield call("bash.exec", **session, command="echo out; echo err >&2; exit 3", check=checks.bash_failed)
    yield call(
        "bash.exec",
        session_id="first-use",
        exec_dir="/tmp",
        env={"WHO": "me"},
        command='echo "$WHO in $PWD"',
        case="in a session of its first use",
        check=checks.bash_environment,
    )
    yield call("bash.exec", command="exit 0", case="without a session", check=checks.bash_unnamed)
    yield call("bash.exec", command="sleep 60", hard_timeout=0.2, case="for too long", check=checks.bash_timed_out)
    yield call(
        "bash.exec",
        command="head -c 90000 /dev/zero | tr '\\0' x",
        max_output_length=1000,
        case="with much output",
        check=checks.bash_truncated,
    )
    yield call("bash.exec", **session, command="cat", async_mode=True, case="in the background", check=checks.bash_running)
    yield call("bash.write", **session, command_id=kept("cat"), input="typed\n")
    yield call("bash.output", **session, command_id=kept("cat"), wait=True, wait_timeout=20, check=checks.bash_output)
    yield call("bash.output", **session, case="of what ran last", check=checks.bash_last)
    yield call("bash.kill", **session, signal="SIGKILL")
    yield call("bash.sessions", check=checks.bash_sessions)
    yield call("bash.close_session", kept("bash"))
    yield call("bash.output", session_id="nobody", case="of an unknown id", outcome="ApiError 404")
    yield call("bash.write", session_id="nobody", input="x", case="to an unknown id", outcome="ApiError 404")
    yield call("bash.kill", session_id="nobody", case="of an unknown id", outcome="ApiError 404")


def shell():
    session = {"id": kept("shell")}
    yield call("shell.create_session", check=checks.shell_session)
    yield call("shell.create_session", id="named", exec_dir="/tmp", case="with a name", check=checks.shell_named)
    yield call("shell.exec_command", **session, command="cd /tmp && export WHO=me", check=checks.shell_done)
    yield call(
        "shell.exec_command",
        **session,
        command='echo "$WHO in $PWD"; (exit 3)',
        case="in the same shell",
        check=checks.shell_state,
    )
    yield call("shell.exec_command", command="true", case="without a session", check=checks.shell_unnamed)
    yield call("shell.exec_command", **session, command="cat", async_mode=True, case="that continues", check=checks.shell_running)
    yield call("shell.write_to_process", **session, input="typed", press_enter=True, check=checks.shell_written)
    yield call("shell.wait_for_process", **session, seconds=1, check=checks.shell_still_running)
    yield call("shell.view", **session, check=checks.shell_viewed)
    yield call("shell.kill_process", **session, check=checks.shell_killed)
    yield call("shell.update_session", **session, no_change_timeout=60)
    yield call("shell.get_session_stats", check=checks.shell_stats)
    yield call("shell.list_sessions", check=checks.shell_sessions)
    yield call("shell.get_terminal_url", check=checks.shell_url)
    yield call("shell.cleanup_session", kept("shell"))
    for method, named in [
        ("shell.view", {}),
        ("shell.wait_for_process", {"seconds": 1}),
        ("shell.write_to_process", {"input": "x", "press_enter": False}),
        ("shell.kill_process", {}),
        ("shell.update_session", {"no_change_timeout": 60}),
    ]:
        yield call(method, id="nobody", **named, case="of an unknown id", outcome="ApiError 404")
    yield call("shell.cleanup_session", "nobody", case="of an unknown id", outcome="ApiError 404")
    yield call("shell.cleanup_all_sessions")


def files():
    text = path("folder/a.txt")
    yield call("file.write_file", file=text, content="one\ntwo\nthree\n", check=checks.written)
    yield call(
        "file.write_file",
        file=text,
        content="four",
        append=True,
        leading_newline=True,
        trailing_newline=True,
        case="at the end",
    )
    yield call("file.write_file", file=path("folder/b.bin"), content="AAEC/w==", encoding="base64", case="as base64")
    yield call("file.read_file", file=text, check=checks.read)
    yield call("file.read_file", file=text, start_line=1, end_line=3, case="of some lines", check=checks.read_lines)
    yield call("file.replace_in_file", file=text, old_str="two", new_str="2", check=checks.replaced)
    yield call("file.replace_in_file", file=text, old_str="nothing", new_str="", case="of nothing", check=checks.unreplaced)
    yield call("file.search_in_file", file=text, regex="^t", check=checks.searched)
    yield call("file.find_files", path=path("folder"), glob="*.txt", check=checks.found)
    yield call("file.glob_files", path=path("folder"), pattern="**/*.txt", check=checks.globbed)
    yield call("file.grep_files", path=path("folder"), pattern="three", context_before=1, check=checks.grepped)
    yield call("file.list_path", path=path("folder"), include_permissions=True, sort_by="size", check=checks.listed)
    yield call("file.upload_file", file=b"\x00\x01sent", path=path("folder/up.bin"), check=checks.uploaded)
    yield call("file.upload_file", file=("my name.txt", b"sent"), case="without a path", check=checks.uploaded_anywhere)
    yield call("file.download_file", path=path("folder/up.bin"), check=checks.downloaded)
    edit = {"method": "file.str_replace_editor", "path": path("folder/edited.txt")}
    yield call(command="create", file_text="a\nb\n", **edit, case="creates", check=checks.edited)
    yield call(command="view", **edit, case="views", check=checks.viewed)
    yield call(command="str_replace", old_str="b", new_str="c", **edit, case="replaces", check=checks.edited)
    yield call(command="insert", insert_line=1, new_str="x", **edit, case="inserts", check=checks.edited)
    yield call(command="undo_edit", **edit, case="undoes", check=checks.edited)


def failing_files():
    """An expected failure is an answer of 1.x, which this version of its client cannot read on most routes."""
    gone = path("gone/none.txt")
    unreadable = {"case": "that is not there", "outcome": "ValidationError"}
    yield call("file.read_file", file=gone, **unreadable)
    yield call("file.replace_in_file", file=gone, old_str="a", new_str="b", **unreadable)
    yield call("file.search_in_file", file=gone, regex="a", **unreadable)
    yield call("file.glob_files", path=gone, pattern="*", **unreadable)
    yield call("file.grep_files", path=gone, pattern="a", **unreadable)
    yield call("file.str_replace_editor", command="view", path=gone, **unreadable)
    unwritable = {"case": "below a file", "outcome": "ValidationError"}
    yield call("file.write_file", file=path("folder/a.txt/below"), content="x", **unwritable)
    yield call("file.upload_file", file=b"x", path=path("folder/a.txt/below"), **unwritable)
    unlisted = {"case": "that is not there", "outcome": "parsed, success false and nothing listed"}
    yield call("file.find_files", path=gone, glob="*", **unlisted)
    yield call("file.list_path", path=gone, **unlisted)
    yield call("file.download_file", path=gone, case="that is not there", outcome="ApiError 404")


def watchers():
    yield call("file.watch_create", path=path("folder"), debounce=50, check=checks.watched)
    yield call("file.watch_list", check=checks.watchers)
    yield call("file.write_file", file=path("folder/seen.txt"), content="x", case="that is watched")
    yield call("file.watch_poll", kept("watcher"), since=0, timeout=20, check=checks.polled)
    yield call("file.watch_wait", path=path("folder/seen.txt"), timeout=20, event_types=["create"], check=checks.waited)
    # The stream does not end, and the client reads it to its end before it parses it.
    forever = {"request_options": {"timeout_in_seconds": 1}, "outcome": "ReadTimeout"}
    yield call("file.watch_events", kept("watcher"), **forever)
    yield call("file.watch_stop", kept("watcher"))
    yield call("file.watch_poll", "nobody", case="of an unknown id", outcome="ApiError 404")


def code():
    yield call("code.get_info", check=checks.code_info)
    yield call("code.execute_code", language="python", code="print(6 * 7)", check=checks.ran)
    yield call("code.execute_code", language="javascript", code="console.log(6 * 7)", case="in JavaScript", check=checks.ran)
    yield call("jupyter.get_info", check=checks.kernel_info)
    yield call("jupyter.create_session", check=checks.kernel_session)
    session = {"session_id": lambda state: state.kept.get("kernel", "none")}
    yield call("jupyter.execute_code", **session, code="x = 42\nprint(x)", check=checks.kernel_ran)
    yield call("jupyter.list_sessions", check=checks.kernel_sessions)
    yield call("jupyter.delete_session", session["session_id"])
    yield call("jupyter.delete_sessions")
    yield call("nodejs.get_info", check=checks.node_info)
    yield call("nodejs.create_session", check=checks.node_session)
    session = {"session_id": kept("node")}
    yield call("nodejs.execute_code", **session, code="var x = 42; console.log(x)", check=checks.node_ran)
    yield call("nodejs.execute_code", **session, code="console.log(x)", case="in the same session", check=checks.node_ran)
    yield call(
        "nodejs.execute_code",
        code="console.log(require('fs').readFileSync('a.txt', 'utf8'))",
        files={"a.txt": "42"},
        stdin="is not read",
        case="with files",
        check=checks.node_ran,
    )
    yield call("nodejs.list_sessions", check=checks.node_sessions)
    yield call("nodejs.get_session", kept("node"), check=checks.node_one)
    yield call("nodejs.update_session", kept("node"), max_idle_time=600)
    yield call("nodejs.delete_session", kept("node"))


def desktop():
    """Where there is no desktop."""
    yield call("browser.execute_action", request=Action_Click(x=1, y=2))
    yield call("browser.set_config")
    yield call("display.record", action="status")


def without_browser():
    yield call("browser.get_info")
    yield call("browser.screenshot")
    yield call("browser_tabs.list")
    yield call("browser_tabs.create")
    yield call("browser_tabs.close", 0)
    yield call("browser_tabs.activate", 0)
    yield call("browser_cookies.get_cookies", urls="https://a.example,https://b.example")
    yield call("browser_cookies.set_cookies", cookies=[{"name": "a", "value": "b"}])
    yield call("browser_cookies.clear_cookies")
    yield call("browser_network.get_requests", limit=10)


def browser():
    yield call("browser.get_info", check=checks.browser_info)
    yield call("browser.screenshot", check=checks.png)
    yield call("browser_tabs.create", url="about:blank", check=checks.tab)
    yield call("browser_tabs.list", check=checks.tabs)
    yield call("browser_tabs.close", 0, case="by position")
    yield call("browser_tabs.close", kept("tab"), case="by target id", outcome="parsed")
    yield call("browser_tabs.activate", 0)
    cookie = {"name": "a", "value": "b", "domain": "a.example", "path": "/", "secure": True, "httpOnly": True}
    yield call("browser_cookies.set_cookies", cookies=[cookie])
    yield call("browser_cookies.get_cookies", case="all of them", check=checks.cookies)
    yield call("browser_cookies.get_cookies", urls="https://a.example,https://b.example", check=checks.cookies)
    yield call("browser_cookies.clear_cookies")
    yield call("browser_cookies.get_cookies", case="none left", check=checks.no_cookies)
    yield call("browser_network.get_requests", limit=10, check=checks.requests)


def removed():
    yield call("auth.authenticate")
    yield call("auth.create_ticket")
    yield call("browser.get_proxy_pac")
    yield call("browser.restart")
    yield call("browser_captcha.detect")
    yield call("browser_captcha.wait")
    yield call("browser_network.add_route", url_pattern="**/*", abort=True)
    yield call("browser_network.remove_route", url_pattern="**/*")
    yield call("browser_network.export_har", save_path="/tmp/a.har")
    yield call("browser_network.set_headers", headers={"a": "b"})
    yield call("browser_network.set_scoped_headers", origin="https://a.example", headers={"a": "b"})
    yield call("browser_state.load", path="/tmp/state.json")
    yield call("browser_state.save", path="/tmp/state.json")
    yield from removed_page()
    yield call("mcp.list_mcp_servers")
    yield call("mcp.list_mcp_tools", "files")
    yield call("mcp.execute_mcp_tool", "files", "read", request={"path": "/etc/hostname"})
    yield call("proxy.list_mappings")
    yield call("proxy.add_mapping", source="a.example", target="b.example")
    yield call("proxy.remove_mapping", "a.example")
    yield call("proxy.list_excludes")
    yield call("proxy.add_exclude", pattern="*.example")
    yield call("proxy.remove_exclude", pattern="*.example")
    yield call("proxy.diagnose", url="https://a.example")
    yield call("proxy.get_upstream")
    yield call("proxy.set_upstream", server="http://a.example:8080")
    yield call("proxy.remove_upstream")
    yield call("sandbox.list_hooks")
    yield call("sandbox.register_hook", name="a", command="true")
    yield call("sandbox.remove_hook", "a")
    yield call("skills.register_skills", file=b"x", path="/tmp/skill")
    yield call("skills.list_metadata")
    yield call("skills.get_content", "a")
    yield call("skills.delete_skill", "a")
    yield call("skills.clear_skills")
    yield call("util.convert_to_markdown", uri="https://a.example")


def removed_page():
    arguments = {
        "check": {"selector": "a"},
        "click": {"selector": "a"},
        "evaluate": {"expression": "1"},
        "export_console": {"save_path": "/tmp/console.json"},
        "fill": {"selector": "a", "text": "b"},
        "fill_form": {"items": [{"selector": "a", "value": "b"}]},
        "find_text": {"keyword": "a"},
        "hot_key": {"keys": ["Control", "a"]},
        "hover": {"selector": "a"},
        "navigate": {"url": "https://a.example"},
        "press_key": {"key": "Enter"},
        "scroll_to_element": {"selector": "a"},
        "select_option": {"selector": "a", "value": "b"},
        "type_text": {"text": "a"},
        "uncheck": {"selector": "a"},
        "upload_file": {"selector": "a", "files": ["/etc/hostname"]},
        "wait": {"type": "timeout"},
    }
    without = ["back", "forward", "get_console", "get_elements", "get_html", "get_markdown", "get_text", "record"]
    without += ["reload", "screenshot", "scroll", "scroll_to"]
    for name, named in {**{name: {} for name in without}, **arguments}.items():
        yield call(f"browser_page.{name}", **named)
