"""Makes every call of the published client to a sandbox, and prints each with its result.

The first argument is `pod` with two ports, for the in-cluster configuration, or `direct` with a URL.
"""
import io
import json
import sys
import tempfile

from k8s_agent_sandbox.models import SandboxDirectConnectionConfig, SandboxdInClusterConnectionConfig
from k8s_agent_sandbox.sandbox import Sandbox

way, *place = sys.argv[1:]
if way == "pod":
    rest, grpc = map(int, place)
    config = SandboxdInClusterConnectionConfig(mode="in-cluster-pod-ip", rest_port=rest, grpc_port=grpc)
else:
    config = SandboxDirectConnectionConfig(api_url=place[0])
sandbox = Sandbox("claim", "box", "default", config)
files, commands = sandbox.files, sandbox.commands


def tell(name, call):
    try:
        value = call()
    except Exception as error:
        response = getattr(error, "response", None)
        value = f"raises {type(error).__name__}" + (f" {response.status_code}" if response is not None else "")
    print(json.dumps([name, value]), flush=True)


def run(*args, **more):
    result = commands.run(*args, **more)
    shown = [result.exit_code, result.stdout, result.stderr]
    return shown + ["timed out"] if result.timed_out else shown


def names(path):
    return [[entry.name, entry.type] for entry in files.list(path)]


def read_to(path):
    with tempfile.TemporaryFile() as into:
        files.read_to(path, into)
        into.seek(0)
        return into.read().decode()


tell("commands.run", lambda: run("echo out"))
tell("commands.run exit code", lambda: run("sh -c 'echo err >&2; exit 3'"))
tell("commands.run quotes", lambda: run("""printf '%s|' "a b" c\\ d"""))
tell("commands.run cwd of a command", lambda: run("pwd")[1].rstrip().endswith("/workspace"))
# 137 where the shell of the client waits for the command, and -1 where it becomes the command.
tell("commands.run death by a signal", lambda: run("sh -c 'kill -9 $$'")[0] in (137, -1, -9))
tell("commands.run no such program", lambda: run("no-such-program")[0] != 0)
tell("commands.run command_timeout", lambda: [run("sleep 600", command_timeout=1)[part] for part in (0, 3)])
tell("commands.run env and cwd", lambda: run('echo "$A"; basename "$PWD"', env={"A": "b"}, cwd="."))
tell("files.write", lambda: files.write("a b/c#d.txt", b"text\n"))
tell("files.read", lambda: files.read("a b/c#d.txt").decode())
tell("files.read_to", lambda: read_to("a b/c#d.txt"))
tell("files.write again", lambda: files.write("a b/c#d.txt", io.BytesIO(b"stream")))
tell("files.read after it", lambda: files.read("a b/c#d.txt").decode())
tell("files.list", lambda: names("a b"))
tell("files.list the root", lambda: names("."))
tell("files.exists", lambda: [files.exists("a b/c#d.txt"), files.exists("missing"), files.exists("a b")])
tell("files.read missing", lambda: files.read("missing").decode())
tell("files.list missing", lambda: names("missing"))
tell("files.read outside", lambda: files.read("../../etc/passwd").decode())
tell("files.read through a link", lambda: files.read("out/passwd").decode())
tell("files.write outside", lambda: files.write("out/file", b""))
tell("files.delete a full directory", lambda: files.delete("a b"))
tell("files.delete", lambda: files.delete("a b/c#d.txt"))
tell("files.delete recursive", lambda: files.delete("a b", recursive=True))
tell("files.delete missing", lambda: files.delete("missing"))
tell("files.list at the end", lambda: names("."))
tell("status", lambda: sandbox.status()[0])
sandbox.close_connection()
