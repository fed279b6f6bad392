"""Makes every call of the SDK of E2B, and prints one line of JSON for each: its name and its result.

`calls.py sync|async debug|url|create DIRECTORY GROUP...`, with the addresses in the variables that the SDK reads.
With E2B_TURNS it prints a turn before each call, and waits for a line: a test may then kill the daemon. The SDK resumes
no stream, so there are no turns while the program is attached to a process.
"""
import asyncio
import inspect
import io
import json
import os
import sys
import urllib.error
import urllib.request

from e2b import ConnectionConfig, PtySize
from e2b_code_interpreter import AsyncSandbox, Sandbox
from packaging.version import Version

mode, way, place, *groups = sys.argv[1:]
Client = {"sync": Sandbox, "async": AsyncSandbox}[mode]
key = os.environ.get("E2B_API_KEY")
missing = 999_999
has_turns = "E2B_TURNS" in os.environ
is_attached = False


async def main():
    sandbox = await of(opened())
    for group in groups:
        await {"commands": commands, "files": files, "code": code, "control": control}[group](sandbox)
    # Threads of the SDK (pyqwest 0.12.0) may abort while Python ends.
    sys.stdout.flush()
    os._exit(0)


def opened():
    if way == "debug":
        return Client.create(debug=True)
    if way == "create":
        return Client.create(envs={"GIVEN": "1"})
    config = ConnectionConfig(extra_sandbox_headers={"X-Access-Token": key})
    return Client(
        sandbox_id="any",
        sandbox_domain=None,
        envd_version=Version("0.6.13"),
        envd_access_token=key,
        traffic_access_token=key,
        connection_config=config,
    )


async def of(value):
    """What a call of either client returns."""
    return await value if inspect.isawaitable(value) else value


def turn():
    if has_turns and not is_attached:
        print('["turn", null]', flush=True)
        sys.stdin.readline()


async def row(name, call):
    turn()
    try:
        result = await of(call())
    except (AttributeError, TypeError):
        result = "is not there"  # The version of the SDK has no such call or parameter.
    except Exception as error:
        result = f"raises {type(error).__name__.removesuffix('Exception')}"
        if hasattr(error, "exit_code"):
            result = [result, error.exit_code, error.stdout, error.stderr]
    print(json.dumps([name, result], ensure_ascii=False), flush=True)


async def ended(handle):
    """The result of a command that may be in the background."""
    handle = await of(handle)
    result = await of(handle.wait()) if hasattr(handle, "wait") else handle
    return [result.exit_code, result.stdout, result.stderr]


class Output:
    """What a process has printed, which the synchronous client iterates over and the other one is called with."""

    def __init__(self):
        self.text = ""
        self.came = asyncio.Event()

    def add(self, data):
        self.text += data.decode(errors="replace") if isinstance(data, bytes) else data or ""
        self.came.set()

    async def until(self, wanted, handle):
        if mode == "sync":
            for parts in handle:
                self.add(next(part for part in parts if part))
                if wanted in self.text:
                    return
        while wanted not in self.text:
            self.came.clear()
            await asyncio.wait_for(self.came.wait(), 30)


def listening(name, output):
    return {} if mode == "sync" else {name: output.add}


async def commands(sandbox):
    global is_attached
    commands, pty = sandbox.commands, sandbox.pty
    run = commands.run
    await row("is_running", sandbox.is_running)
    await row("commands.run", lambda: ended(run("echo out; echo err >&2")))
    await row("commands.run of a command that fails", lambda: run("echo kept; exit 3"))
    await row("commands.run with envs", lambda: ended(run('echo "$A $E2B_SANDBOX"', envs={"A": "1"}, cwd="/")))
    await row("commands.run with cwd", lambda: ended(run("pwd", cwd="/usr")))
    await row("commands.run in a missing directory", lambda: run("pwd", cwd="/none"))
    await row("commands.run as an unknown user", lambda: run("true", user="no-such-user"))
    seen = []
    await of(run("echo 1; echo 2; echo 3 >&2", on_stdout=seen.append, on_stderr=seen.append))
    await row("commands.run with on_stdout and on_stderr", lambda: sorted("".join(seen).split()))
    await row("commands.run with a character in two pieces", lambda: ended(run("printf 'caf\\303'; sleep 0.1; printf '\\251'")))
    large = await of(run("head -c 3000000 /dev/zero | tr '\\0' x"))
    await row("commands.run with much output", lambda: len(large.stdout))
    await row("commands.run that reaches its timeout", lambda: run("sleep 0.5; echo; sleep 30", timeout=1))
    await row("commands.run with background", lambda: ended(run("echo out", background=True)))

    is_attached = True
    reader = await of(run("read line; echo $line; exit 5", background=True, stdin=True))
    listed = [one.args for one in await of(commands.list()) if one.pid == reader.pid]
    await row("commands.list", lambda: listed)
    await row("commands.send_stdin", lambda: commands.send_stdin(reader.pid, "typed\n"))
    await row("handle.wait", reader.wait)
    deaf = await of(run("sleep 100", background=True, stdin=False))
    await row("commands.send_stdin without stdin", lambda: commands.send_stdin(deaf.pid, "x"))
    await row("commands.send_stdin to a missing process", lambda: commands.send_stdin(missing, "x"))
    await row("handle.disconnect", deaf.disconnect)
    await row("commands.kill", lambda: commands.kill(deaf.pid))
    await row("commands.kill of a process that has ended", lambda: commands.kill(reader.pid))
    await row("commands.kill of a missing process", lambda: commands.kill(missing))
    cat = await of(run("cat", background=True, stdin=True))
    await row("handle.send_stdin", lambda: cat.send_stdin("typed"))
    await row("commands.close_stdin", lambda: closed(commands, cat))
    await of(commands.kill(cat.pid))
    long = await of(run("sleep 100", background=True))
    await row("handle.kill", long.kill)
    await row("handle.wait for a killed process", long.wait)
    reader = await of(run("read line; echo $line", background=True, stdin=True))
    await row("commands.stream_input", lambda: streamed(commands, reader))
    await of(commands.kill(reader.pid))

    sleeper = await of(run("echo begun; sleep 100", background=True))
    output = Output()
    again = await of(commands.connect(sleeper.pid, **listening("on_stdout", output)))
    await output.until("begun\n", again)
    await row("commands.connect", lambda: output.text)
    await of(commands.kill(sleeper.pid))
    await row("commands.connect after the end", lambda: ended(commands.connect(sleeper.pid)))
    await row("commands.connect to a missing process", lambda: commands.connect(missing))

    output = Output()
    terminal = await of(pty.create(PtySize(cols=100, rows=30), cwd="/", **listening("on_data", output)))
    await of(pty.send_stdin(terminal.pid, b"stty size; read x; stty size; exit 4\n"))
    await output.until("30 100", terminal)
    await row("pty.create", lambda: "30 100")
    await row("pty.resize", lambda: pty.resize(terminal.pid, PtySize(cols=50, rows=20)))
    await row("pty.send_stdin", lambda: pty.send_stdin(terminal.pid, b"\n"))
    await row("handle.wait for a terminal", terminal.wait)
    output = Output()
    again = await of(pty.connect(terminal.pid, **listening("on_data", output)))
    await output.until("20 50", again)
    await row("pty.connect", lambda: "20 50")
    output = Output()
    other = await of(pty.create(PtySize(cols=80, rows=24), **listening("on_data", output)))
    await row("pty.kill", lambda: pty.kill(other.pid))
    await row("pty.kill of a terminal that has ended", lambda: pty.kill(terminal.pid))
    await row("pty.resize of a missing terminal", lambda: pty.resize(missing, PtySize(cols=1, rows=1)))
    is_attached = False


async def closed(commands, process):
    await of(commands.close_stdin(process.pid))
    return await ended(process)


async def streamed(commands, process):
    if mode == "sync":
        commands.stream_input(process.pid, ["typed", "\n"])
    else:
        async with commands.stream_input(process.pid) as handle:
            await handle.send("typed")
            await handle.send("\n")
    return await ended(process)


async def files(sandbox):
    files = sandbox.files
    at = lambda name: f"{place}/{name}"

    async def entry(call, *fields):
        found = await of(call)
        values = [getattr(getattr(found, field), "value", getattr(found, field)) for field in fields]
        values = [value.removeprefix(place) if isinstance(value, str) else value for value in values]
        return values if len(values) > 1 else values[0]

    written = ["name", "type", "path"]
    await row("files.write", lambda: entry(files.write(at("deep/er/text"), "café\n"), *written))
    await row("files.read", lambda: files.read(at("deep/er/text")))
    await row("files.write of bytes", lambda: entry(files.write(at("bytes"), b"\0\xff"), *written))
    raw = list(await of(files.read(at("bytes"), format="bytes")))
    await row("files.read of bytes", lambda: raw)
    await row("files.write of a stream", lambda: entry(files.write(at("stream"), io.BytesIO(b"x" * 3_000_000)), *written))
    await row("files.read as a stream", lambda: length(files.read(at("stream"), format="stream")))
    several = [{"path": at(name), "data": name} for name in ("one", "two")]
    names = [one.name for one in await of(files.write_files(several))]
    await row("files.write_files", lambda: names)
    await row("files.write with gzip", lambda: entry(files.write(at("zip"), "z" * 100_000, gzip=True), *written))
    await row("files.read with gzip", lambda: length(files.read(at("zip"), gzip=True)))
    await row("files.write with metadata", lambda: entry(files.write(at("noted"), "x", metadata={"Author": "me"}), "metadata"))
    await row("files.get_info of a file with metadata", lambda: entry(files.get_info(at("noted")), "metadata"))
    await of(files.write(at("noted"), "y"))
    await row("files.get_info after a write without metadata", lambda: entry(files.get_info(at("noted")), "metadata"))
    await row("files.write below ~", lambda: entry(files.write("~/e2b-sent", "x"), "name"))
    await of(files.remove("~/e2b-sent"))
    await row("files.write to a directory", lambda: files.write(place, "x"))
    await row("files.write as an unknown user", lambda: files.write(at("x"), "x", user="no-such-user"))
    await row("files.read of a missing file", lambda: files.read(at("none")))
    await row("files.read of a directory", lambda: files.read(place))

    await row("files.make_dir", lambda: files.make_dir(at("a/b")))
    await row("files.make_dir of a directory that exists", lambda: files.make_dir(at("a/b")))
    await row("files.make_dir over a file", lambda: files.make_dir(at("one")))
    await row("files.exists", lambda: files.exists(at("one")))
    await row("files.exists of a missing file", lambda: files.exists(at("none")))
    os.chmod(at("one"), 0o640)
    os.symlink("../one", at("a/link"))
    os.symlink("none", at("a/broken"))
    link = ["type", "permissions", "symlink_target"]
    info = ["name", "type", "permissions", "size"]
    await row("files.get_info", lambda: entry(files.get_info(at("one")), *info))
    await row("files.get_info of a link", lambda: entry(files.get_info(at("a/link")), *link))
    await row("files.get_info of a broken link", lambda: entry(files.get_info(at("a/broken")), *link))
    await row("files.get_info of a missing file", lambda: files.get_info(at("none")))
    await row("files.list", lambda: listed(files.list(at("deep"))))
    await row("files.list with depth", lambda: listed(files.list(at("deep"), depth=2)))
    await row("files.list of a file", lambda: files.list(at("one")))
    await row("files.list of a missing directory", lambda: files.list(at("none")))
    await row("files.rename", lambda: entry(files.rename(at("one"), at("c/two")), "path"))
    await row("files.rename of a missing file", lambda: files.rename(at("none"), at("d")))
    await row("files.remove", lambda: files.remove(at("c")))
    await row("files.remove of a missing file", lambda: files.remove(at("c")))
    await row("files.watch_dir", lambda: watched(files, recursive=True))
    await row("files.watch_dir with include_entry", lambda: watched(files, recursive=True, include_entry=True))
    await row("files.watch_dir of a missing directory", lambda: files.watch_dir(at("none"), **on_event(print)))
    await row("files.watch_dir after its stop", lambda: stopped(files))

    await row("upload_url", lambda: fetched(sandbox.upload_url(at("sent")), b"sent"))
    await row("download_url", lambda: fetched(sandbox.download_url(at("sent"))))
    await row("download_url with an expiration", lambda: fetched(sandbox.download_url(at("sent"), use_signature_expiration=60)))
    await row("download_url that has expired", lambda: fetched(sandbox.download_url(at("sent"), use_signature_expiration=-60)))


async def length(content):
    content = await of(content)
    if isinstance(content, str):
        return len(content)
    if hasattr(content, "__aiter__"):
        return sum([len(piece) async for piece in content])
    return sum(len(piece) for piece in content)


async def listed(entries):
    return sorted([entry.path[len(place) :], entry.type.value] for entry in await of(entries))


def on_event(call):
    return {} if mode == "sync" else {"on_event": call}


async def watched(files, **options):
    """The events of a file that is made, moved, changed and removed, each once."""
    events, came = [], asyncio.Event()

    def add(event):
        entry = getattr(event, "entry", None)
        seen = [event.name, event.type.value] + ([entry.name] if entry else [])
        if not events or events[-1][:2] != seen[:2]:  # A file may be written in several steps.
            events.append(seen)
        came.set()

    handle = await of(files.watch_dir(f"{place}/a", **on_event(add), **options))

    async def until(name, kind):
        for _ in range(600):
            if mode == "sync":
                for event in handle.get_new_events():
                    add(event)
            if any(event[:2] == [name, kind] for event in events):
                return
            came.clear()
            try:
                await asyncio.wait_for(came.wait(), 0.05)
            except asyncio.TimeoutError:
                pass  # The synchronous client polls again.

    with open(f"{place}/a/new", "w") as file:
        file.write("x")
    await until("new", "write")
    os.rename(f"{place}/a/new", f"{place}/a/b/moved")
    await until("b/moved", "create")
    os.chmod(f"{place}/a/b/moved", 0o600)
    await until("b/moved", "chmod")
    os.remove(f"{place}/a/b/moved")
    await until("b/moved", "remove")
    await of(handle.stop())
    return events


async def stopped(files):
    handle = await of(files.watch_dir(f"{place}/a", **on_event(print)))
    await of(handle.stop())
    return [] if mode == "async" else handle.get_new_events()


async def fetched(url, body=None):
    """The status and the content of a URL that needs no SDK."""
    request = urllib.request.Request(await of(url), data=body, headers={"content-type": "application/octet-stream"})
    try:
        with urllib.request.urlopen(request) as answer:
            return [answer.status, answer.read().decode() if body is None else None]
    except urllib.error.HTTPError as error:
        return [error.code, None]


async def text_of(execution):
    return (await of(execution)).text


async def code(sandbox):
    run = sandbox.run_code

    async def brief(call):
        execution = await of(call)
        error = execution.error and [execution.error.name, execution.error.value]
        return [execution.text, "".join(execution.logs.stdout), "".join(execution.logs.stderr), error]

    async def error(call):
        return (await brief(call))[3][0]

    await row("run_code", lambda: brief(run("x = 20; x + 1")))
    await row("run_code in the same context", lambda: text_of(run("x")))
    await row("run_code of a string", lambda: text_of(run("'it is'")))
    counts = [(await of(run(code))).execution_count for code in ("1", "2")]
    await row("run_code counts", lambda: counts[1] - counts[0])
    await row("run_code that prints", lambda: brief(run("import sys; print('out'); print('err', file=sys.stderr)")))
    await row("run_code that raises", lambda: brief(run("1/0")))
    seen = []
    await of(
        run(
            "import sys\nprint('a')\nprint('b', file=sys.stderr)\n2",
            on_stdout=lambda message: seen.append(message.line),
            on_stderr=lambda message: seen.append(message.line),
            on_result=lambda result: seen.append(result.text),
        )
    )
    await of(run("1/0", on_error=lambda failure: seen.append(failure.name)))
    await row("run_code with on_stdout, on_stderr, on_result and on_error", lambda: sorted(seen))
    await row("run_code with envs", lambda: text_of(run("import os; os.environ['LENT']", envs={"LENT": "1"})))
    await row("run_code in JavaScript", lambda: text_of(run("const y = 4; y * 2", language="js")))
    await row("run_code in an unknown language", lambda: run("1", language="cobol"))
    html = await of(run("class H:\n  def _repr_html_(self): return '<b>h</b>'\nH()"))
    await row("run_code with HTML", lambda: [result.html for result in html.results])
    picture = await of(run("class P:\n  def _repr_png_(self): return b'\\x89PNG'\nP()"))
    await row("run_code with a picture", lambda: picture.results[0].png.strip())
    await row("run_code that ends its interpreter", lambda: error(run("import os; os._exit(3)")))
    await row("run_code after that", lambda: text_of(run("2")))
    await row("run_code that reaches its timeout", lambda: run("import time; time.sleep(60)", timeout=1))
    await row("run_code after the timeout", lambda: text_of(run("3")))

    context = await of(sandbox.create_code_context(cwd=place))
    await row("create_code_context", lambda: [context.language, context.cwd == place])
    await row("run_code with context", lambda: text_of(run("import os; z = 1; os.getcwd() == %r" % place, context=context)))
    await row("run_code in another context", lambda: error(run("z")))
    await row("restart_code_context", lambda: sandbox.restart_code_context(context))
    await row("run_code in a restarted context", lambda: error(run("z", context=context)))
    ids = [one.id == context.id for one in await of(sandbox.list_code_contexts())]
    await row("list_code_contexts", lambda: ids[-1])
    await row("remove_code_context", lambda: sandbox.remove_code_context(context))
    await row("run_code in a removed context", lambda: run("1", context=context))
    await row("remove_code_context of a missing context", lambda: sandbox.remove_code_context("none"))
    await row("restart_code_context of a missing context", lambda: sandbox.restart_code_context("none"))
    await row("create_code_context in a missing directory", lambda: sandbox.create_code_context(cwd="/none"))


async def control(sandbox):
    mine = sandbox.sandbox_id
    run = lambda box, script: ended(box.commands.run(script))
    await row("create with envs", lambda: run(sandbox, "echo $GIVEN"))
    await row("run_code with the envs of create", lambda: text_of(sandbox.run_code("import os; os.environ['GIVEN']")))
    await row("create with a wrong key", lambda: Client.create(api_key="e2b_0"))
    again = await of(Client.connect(mine))
    await row("connect", lambda: run(again, "echo again"))
    await row("connect to a missing sandbox", lambda: Client.connect("another"))
    await row("set_timeout", lambda: sandbox.set_timeout(120))
    info = await of(sandbox.get_info())
    lasts = (info.end_at - info.started_at).total_seconds()
    await row("get_info", lambda: [info.sandbox_id == mine, info.state.value, lasts > 100])
    boxes = await of(Client.list().next_items())
    await row("list", lambda: [one.sandbox_id == mine for one in boxes])
    await row("get_metrics", sandbox.get_metrics)
    await row("pause", sandbox.pause)
    await row("create_snapshot", sandbox.create_snapshot)
    left = await of(sandbox.commands.run("sleep 100", background=True))
    await row("kill", sandbox.kill)
    await row("handle.wait after the kill", left.wait)
    await row("commands.run after the kill", lambda: run(sandbox, "echo on"))


asyncio.run(main())
