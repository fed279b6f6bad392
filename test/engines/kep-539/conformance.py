"""Judges a runtime by KEP-539.2 of kubernetes-sigs/agent-sandbox: which level holds, and which sentence a failure breaks.

    pip install 'k8s-agent-sandbox[grpc]==1.0.8'
    python conformance.py 127.0.0.1:8080 127.0.0.1:9090 [--json]

The first address serves files, health and metadata, the second processes. The root of the runtime should be empty.
Exit code 0 when the level Core holds.
"""
import http.client
import json
import re
import sys
import time
import urllib.parse

import grpc
from k8s_agent_sandbox.commands._process_stubs import process_pb2 as pb
from k8s_agent_sandbox.commands._process_stubs import process_pb2_grpc

rest, processes = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
stub = process_pb2_grpc.ProcessServiceStub(grpc.insecure_channel(processes))
limit = 20
cases = []


def case(part, sentence):
    """A case of a part of the level Core, with the sentence of the KEP that it checks."""

    def add(check):
        cases.append((part, check.__doc__, sentence, check))

    return add


def same(seen, wanted):
    assert seen == wanted, f"{seen!r} instead of {wanted!r}"


def shell(script, **more):
    return pb.ProcessConfig(command=["/bin/sh", "-c", script], **more)


def execute(config, **more):
    return stub.Execute(pb.ExecuteRequest(config=config), timeout=limit, **more)


def start(config):
    return stub.Start(pb.StartRequest(config=config), timeout=limit)


def status_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def ask(method, path, body=None, headers={}):
    connection = http.client.HTTPConnection(rest, timeout=limit)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def at(path):
    return f"/v1/files/{urllib.parse.quote(path, safe='')}"


table_of_rpcs = "Process Service (:9090 gRPC), table"
table_of_routes = "Filesystem Service (:8080 REST/OpenAPI), table"


@case("Run", f"{table_of_rpcs}: Execute runs a command synchronously, returns stdout/stderr/exit_code on exit")
def _():
    """Execute answers both streams and the exit code"""
    answer = execute(shell("echo out; echo err >&2; exit 3"))
    same((answer.stdout, answer.stderr, answer.exit_code), (b"out\n", b"err\n", 3))


@case("Run", "Conformance 1: Error codes and response formats MUST strictly match the spec")
def _():
    """a program that does not exist is NOT_FOUND, and an empty command INVALID_ARGUMENT"""
    same(status_of(lambda: execute(pb.ProcessConfig(command=["/no/such/program"]))), "NOT_FOUND")
    same(status_of(lambda: execute(pb.ProcessConfig())), "INVALID_ARGUMENT")


@case("Run", "Path Traversal Protection: Traversal attempts are rejected")
def _():
    """a working directory outside the root is PERMISSION_DENIED"""
    same(status_of(lambda: execute(shell("true", cwd="../.."))), "PERMISSION_DENIED")


@case("Kill", f"{table_of_rpcs}: SendSignal delivers SIGINT, SIGTERM, SIGKILL; errors via gRPC status")
def _():
    """each signal reaches its process, and an ended process is NOT_FOUND"""
    for signal in (pb.SIGNAL_SIGINT, pb.SIGNAL_SIGTERM, pb.SIGNAL_SIGKILL):
        call = start(shell("echo ready; exec sleep 600"))
        pid = next(call).init.process_id
        next(call)
        stub.SendSignal(pb.SendSignalRequest(process_id=pid, signal=signal))
        same([event.WhichOneof("event") for event in call][-1], "exit")
        same(status_of(lambda: stub.SendSignal(pb.SendSignalRequest(process_id=pid, signal=signal))), "NOT_FOUND")


@case("StreamOutput", f"{table_of_rpcs}: Start streams stdout/stderr in real time until ExitEvent")
def _():
    """Start sends init, output as it comes, and the exit last"""
    began = time.monotonic()
    times, kinds = [], []
    for event in start(shell("echo one; sleep 1; echo two >&2; exit 4")):
        kinds.append(event.WhichOneof("event"))
        times.append(time.monotonic() - began)
    same(kinds, ["init", "stdout", "stderr", "exit"])
    assert times[2] - times[1] > 0.5, "the output came together"
    same(event.exit.exit_code, 4)


@case("StreamInput", f"{table_of_rpcs}: WriteStdin sends stdin bytes or EOF to a running process")
def _():
    """input and its end reach the process"""
    call = start(shell("cat; echo end"))
    pid = next(call).init.process_id
    stub.WriteStdin(pb.WriteStdinRequest(process_id=pid, input=b"in\n"))
    same(next(call).stdout, b"in\n")
    stub.WriteStdin(pb.WriteStdinRequest(process_id=pid, eof={}))
    same(b"".join(event.stdout for event in call), b"end\n")


@case("StreamInput", f"{table_of_rpcs}: ResizeTTY resizes the pseudo-terminal window (cols, rows)")
def _():
    """a terminal has the size that it is given"""
    config = shell("read line; stty size")
    call = stub.Start(pb.StartRequest(config=config, pty=pb.PTY(cols=80, rows=24)), timeout=limit)
    pid = next(call).init.process_id
    stub.ResizeTTY(pb.ResizeTTYRequest(process_id=pid, cols=100, rows=40))
    stub.WriteStdin(pb.WriteStdinRequest(process_id=pid, input=b"go\n"))
    shown = b"".join(event.stdout for event in call)
    assert b"40 100" in shown, repr(shown)


@case("Write", f"{table_of_routes}: PUT writes a file (octet-stream or multipart/form-data), creates parent dirs")
def _():
    """a file is written raw and from a form"""
    same(ask("PUT", at("kep/deep/raw"), b"raw")[0], 204)
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nform\r\n--b--\r\n'
    same(ask("PUT", at("kep/form"), form, {"Content-Type": "multipart/form-data; boundary=b"})[0], 204)
    same((ask("GET", at("kep/deep/raw"))[2], ask("GET", at("kep/form"))[2]), (b"raw", b"form"))


@case("Write", "Endpoint Surface Changes: supports mode parameter validated by ^0[0-7]{3}$")
def _():
    """the mode is checked and set"""
    same(ask("PUT", at("kep/mode") + "?mode=0750", b"")[0], 204)
    same(ask("PUT", at("kep/mode") + "?mode=888", b"")[0], 400)
    [entry] = [each for each in json.loads(ask("GET", at("kep"))[2])["entries"] if each["name"] == "mode"]
    same(entry["mode"], "0750")


@case("Read", f"{table_of_routes}: GET returns application/octet-stream for files")
def _():
    """a file is read whole; a missing one is 404"""
    ask("PUT", at("kep/a b#ü"), bytes(range(256)))
    status, headers, body = ask("GET", at("kep/a b#ü"))
    same((status, headers["Content-Type"], body), (200, "application/octet-stream", bytes(range(256))))
    status, _, body = ask("GET", at("kep/missing"))
    same((status, json.loads(body)["code"]), (404, "NOT_FOUND"))


@case("List", "Wire Format Changes (FileEntry): name, size, type, modified_at (RFC 3339), mode (octal)")
def _():
    """a directory is listed as JSON with the fields of an entry"""
    ask("PUT", at("kep/list/file"), b"12345")
    ask("PUT", at("kep/list/folder/file"), b"")
    status, headers, body = ask("GET", at("kep/list"))
    same((status, headers["Content-Type"].split(";")[0]), (200, "application/json"))
    file, folder = json.loads(body)["entries"]
    same((file["name"], file["size"], file["type"], file["mode"]), ("file", 5, "file", "0644"))
    same((folder["name"], folder["type"]), ("folder", "directory"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", file["modified_at"]), file


@case("List", 'Wire Format Changes (FileEntry): "symlink" is never returned on the wire')
def _():
    """a link shows what it leads to"""
    ask("PUT", at("kep/links/file"), b"")
    execute(shell("ln -s file kep/links/link"))
    same([entry["type"] for entry in json.loads(ask("GET", at("kep/links"))[2])["entries"]], ["file", "file"])


@case("Stat", f"{table_of_routes}: HEAD: 200 if exists, 404 if absent, without the body")
def _():
    """HEAD has the status and no body"""
    ask("PUT", at("kep/stat"), b"12345")
    status, headers, body = ask("HEAD", at("kep/stat"))
    same((status, headers["Content-Length"], body), (200, "5", b""))
    same(ask("HEAD", at("kep/missing"))[0], 404)


@case("Delete", f"{table_of_routes}: DELETE removes a file or directory (supports recursive=true)")
def _():
    """a full directory needs recursive"""
    ask("PUT", at("kep/gone/file"), b"")
    same(ask("DELETE", at("kep/gone"))[0], 409)
    same(ask("DELETE", at("kep/gone") + "?recursive=true")[0], 204)
    same(ask("HEAD", at("kep/gone"))[0], 404)


@case("Paths", "Path Traversal Protection: Traversal attempts (../) are rejected with 403 Forbidden")
def _():
    """no path leads out of the root, be it through dots or a link"""
    ask("PUT", at("kep/file"), b"")
    execute(shell("ln -s /etc kep/out"))
    for path in ("../../etc/passwd", "kep/../../etc/passwd", "kep/out/passwd"):
        same((path, ask("GET", at(path))[0]), (path, 403))
        same((path, ask("PUT", at(path), b"")[0]), (path, 403))


@case("Paths", "Conformance 1: Error codes and response formats MUST strictly match the spec")
def _():
    """a path below a file is an error of the caller"""
    ask("PUT", at("kep/file"), b"")
    status = ask("GET", at("kep/file/below"))[0]
    assert 400 <= status < 500, f"{status}"


@case("Delete", "Conformance 2: Core must support all methods in Filesystem Operations")
def _():
    """a link that is deleted is gone, and its target stays"""
    ask("PUT", at("kep/target"), b"kept")
    execute(shell("ln -s target kep/link"))
    same(ask("DELETE", at("kep/link"))[0], 204)
    same((ask("HEAD", at("kep/target"))[0], ask("HEAD", at("kep/link"))[0]), (200, 404))


@case("Probes", 'Runtime Probes & Metadata: 200 OK ({"status": "ok"}) when ready to accept traffic')
def _():
    """the health is ok"""
    status, _, body = ask("GET", "/v1/health")
    same((status, json.loads(body)["status"]), (200, "ok"))


@case("Probes", "Runtime Probes & Metadata: must never carry credentials or tokens")
def _():
    """the metadata are variables without secrets"""
    env = json.loads(ask("GET", "/v1/metadata")[2])["env"]
    same([name for name in env if re.search("TOKEN|SECRET|PASSWORD|KEY", name, re.I)], [])


results = []
for part, title, sentence, check in cases:
    try:
        check()
        failure = None
    except Exception as error:  # Whatever a runtime answers, the next case is judged.
        failure = f"{type(error).__name__}: {error}".split("\n")[0]
    results.append({"part": part, "case": title, "sentence": sentence, "failure": failure})
ask("DELETE", at("kep") + "?recursive=true")

failed = [result for result in results if result["failure"]]
report = {
    "levels": {"Core": not failed, "Full": "not judged: the KEP specifies no wire for code contexts and watching"},
    "passed": len(results) - len(failed),
    "failed": failed,
}
if "--json" in sys.argv:
    print(json.dumps(["report", report]))
else:
    for result in results:
        print(f"{'FAIL' if result['failure'] else 'ok  '} {result['part']}: {result['case']}")
        if result["failure"]:
            print(f"     {result['failure']}\n     KEP-539.2, {result['sentence']}")
    print(f"Core: {'holds' if not failed else 'does not hold'} ({report['passed']} of {len(results)} cases)")
    print(f"Full: {report['levels']['Full']}")
sys.exit(1 if failed else 0)
