"""What a 1.x program reads from each answer; a failed check shows the answer."""


def context(answer, state):
    system = answer.detail.system
    assert answer.data.startswith("System Environment (v")
    assert answer.home_dir == system.home_dir and answer.version
    assert system.user and system.os and system.arch and system.timezone
    assert all(isinstance(port, str) for port in system.occupied_ports)
    assert isinstance(answer.detail.runtime.python, list) and isinstance(answer.detail.utils, list)


def packages(answer, state):
    assert isinstance(answer.data, list)
    assert all(isinstance(item["name"], str) and isinstance(item["version"], str) for item in answer.data)


def bash_session(answer, state):
    state.kept["bash"] = answer.data.session_id
    assert answer.data.status == "ready" and answer.data.working_dir.startswith("/")
    assert answer.data.command_count == 0


def bash_named(answer, state):
    assert (answer.data.session_id, answer.data.working_dir) == ("named", "/tmp")


def bash_failed(answer, state):
    data = answer.data
    assert (data.status, data.exit_code) == ("completed", 3)
    assert (data.stdout, data.stderr) == ("out\n", "err\n")
    assert data.session_id == state.kept["bash"] and data.command_id and data.command.startswith("echo out")


def bash_environment(answer, state):
    assert (answer.data.session_id, answer.data.stdout) == ("first-use", "me in /tmp\n")


def bash_unnamed(answer, state):
    assert answer.data.session_id and answer.data.exit_code == 0


def bash_timed_out(answer, state):
    assert (answer.data.status, answer.data.exit_code) == ("timed_out", None)


def bash_truncated(answer, state):
    assert 1000 <= len(answer.data.stdout) < 2000 and answer.data.stdout[0] == answer.data.stdout[-1] == "x"


def bash_running(answer, state):
    state.kept["cat"] = answer.data.command_id
    assert (answer.data.status, answer.data.exit_code) == ("running", None)


def bash_output(answer, state):
    data = answer.data
    assert (data.stdout, data.offset, data.stderr, data.stderr_offset) == ("typed\n", 6, "", 0)
    assert data.command.command_id == state.kept["cat"] and data.command.status == "running"


def bash_last(answer, state):
    assert answer.data.stdout == "typed\n" and answer.data.command.command_id == state.kept["cat"]


def bash_sessions(answer, state):
    one = next(session for session in answer.data if session.session_id == state.kept["bash"])
    assert one.command_count == 2 and one.created_at and one.last_used_at


def shell_session(answer, state):
    state.kept["shell"] = answer.data.session_id
    assert answer.data.working_dir.startswith("/")


def shell_named(answer, state):
    assert (answer.data.session_id, answer.data.working_dir) == ("named", "/tmp")


def shell_done(answer, state):
    assert (answer.data.status, answer.data.exit_code) == ("completed", 0)
    assert answer.data.session_id == state.kept["shell"]


def shell_state(answer, state):
    data = answer.data
    assert (data.status, data.exit_code, data.output.strip()) == ("completed", 3, "me in /tmp")
    assert data.console[-1].command.startswith("echo") and "me in /tmp" in data.console[-1].output


def shell_unnamed(answer, state):
    assert answer.data.session_id and answer.data.status == "completed"


def shell_running(answer, state):
    assert answer.data.status == "running" and answer.data.exit_code is None


def shell_written(answer, state):
    assert answer.data.status == "running"


def shell_still_running(answer, state):
    assert answer.data.status == "running"


def shell_viewed(answer, state):
    assert "typed" in answer.data.output and answer.data.session_id == state.kept["shell"]
    assert answer.data.status == "running" and answer.data.command == "cat"


def shell_killed(answer, state):
    assert answer.data.status == "terminated"


def shell_stats(answer, state):
    data = answer.data
    assert data.total_sessions >= 2 and data.active_sessions >= 1 and 0 <= float(data.usage_ratio) <= 1


def shell_sessions(answer, state):
    assert answer.data.sessions[state.kept["shell"]].working_dir == "/tmp"


def shell_url(answer, state):
    assert "/#/terminal/" in answer.data


def written(answer, state):
    assert (answer.data.file, answer.data.bytes_written) == (f"{state.directory}/folder/a.txt", 14)


def read(answer, state):
    assert answer.data.content == "one\ntwo\nthree\n\nfour\n"


def read_lines(answer, state):
    assert answer.data.content.rstrip("\n") == "two\nthree"


def replaced(answer, state):
    assert answer.data.replaced_count == 1


def unreplaced(answer, state):
    assert answer.data.replaced_count == 0


def searched(answer, state):
    assert (answer.data.matches, answer.data.line_numbers) == (["three"], [2])


def found(answer, state):
    assert answer.data.files == [f"{state.directory}/folder/a.txt"]


def globbed(answer, state):
    data = answer.data
    assert [item.path for item in data.files] == [f"{state.directory}/folder/a.txt"]
    assert (data.total_count, data.truncated) == (1, False)


def grepped(answer, state):
    (match,) = answer.data.matches
    assert (match.line_number, match.line_content, match.context_before) == (3, "three", ["2"])


def listed(answer, state):
    data = answer.data
    assert (data.total_count, data.file_count, data.directory_count) == (2, 2, 0)
    assert [item.name for item in data.files] == ["b.bin", "a.txt"]
    assert data.files[1].extension == ".txt" and data.files[1].permissions and data.files[1].modified_time


def uploaded(answer, state):
    assert (answer.data.file_path, answer.data.file_size) == (f"{state.directory}/folder/up.bin", 6)
    assert answer.data.success is True


def uploaded_anywhere(answer, state):
    assert answer.data.file_path.endswith("/my name.txt") and answer.data.file_size == 4


def downloaded(answer, state):
    assert answer == b"\x00\x01sent"


def edited(answer, state):
    assert answer.data.path == f"{state.directory}/folder/edited.txt" and answer.data.output


def viewed(answer, state):
    assert "     1\ta" in answer.data.output


def watched(answer, state):
    state.kept["watcher"] = answer["data"]["watcher_id"]
    assert answer["watcher_id"] == answer["data"]["watcher_id"]


def watchers(answer, state):
    assert state.kept["watcher"] in repr(answer["data"])


def polled(answer, state):
    events = answer["data"]["events"]
    assert any(event["path"].endswith("/folder/seen.txt") for event in events)
    assert all(isinstance(event["timestamp"], float) for event in events)
    assert answer["data"]["cursor"] >= events[-1]["seq"] and answer["data"]["overflow"] is False


def waited(answer, state):
    assert answer["data"]["event"]["type"] == "create" and answer["event"] == answer["data"]["event"]


def code_info(answer, state):
    assert {item.language for item in answer.data.languages} >= {"python", "javascript"}


def ran(answer, state):
    data = answer.data
    assert (data.status, data.stdout) == ("ok", "42\n") and data.outputs[0]["text"] == "42\n"


def kernel_info(answer, state):
    assert "python3" in answer.data.available_kernels


def kernel_session(answer, state):
    state.kept["kernel"] = answer.data.session_id
    assert answer.data.kernel_name


def kernel_ran(answer, state):
    data = answer.data
    assert (data.status, data.execution_count, data.session_id) == ("ok", 1, state.kept["kernel"])
    assert (data.outputs[0].output_type, data.outputs[0].text) == ("stream", "42\n")


def kernel_sessions(answer, state):
    assert answer.data.sessions[state.kept["kernel"]].age_seconds >= 0


def node_info(answer, state):
    assert answer.data.node_version


def node_session(answer, state):
    state.kept["node"] = answer.data.session_id
    assert answer.data.created is True


def node_ran(answer, state):
    assert (answer.data.status, answer.data.stdout, answer.data.stderr) == ("ok", "42\n", "")


def node_sessions(answer, state):
    assert state.kept["node"] in answer.data.sessions


def node_one(answer, state):
    assert answer.data.session.session_id == state.kept["node"]


def browser_info(answer, state):
    data = answer.data
    assert data.user_agent.startswith("Mozilla/") and data.cdp_url.startswith("ws://") and "/vnc/" in data.vnc_url
    assert data.viewport.width > 0 and data.page_viewport.height > 0


def png(answer, state):
    assert answer.startswith(b"\x89PNG")


def tab(answer, state):
    state.kept["tab"] = answer.data["target_id"]
    assert answer.data["url"] == "about:blank"


def tabs(answer, state):
    fields = {"id", "tab_id", "target_id", "index", "type", "title", "url", "active"}
    assert all(set(item) == fields for item in answer.data)
    assert [item["active"] for item in answer.data].count(True) == 1
    assert state.kept["tab"] in [item["target_id"] for item in answer.data]


def cookies(answer, state):
    (cookie,) = answer.data
    assert (cookie["name"], cookie["value"], cookie["httpOnly"]) == ("a", "b", True)


def no_cookies(answer, state):
    assert answer.data == []


def requests(answer, state):
    assert isinstance(answer.data, list) and len(answer.data) <= 10
