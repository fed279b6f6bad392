"""An agent of deepagents with a scripted model, and what the protocol of deepagents asks of its backend."""

import asyncio
import json
import sys
import time

from boxkeep import Sandbox
from boxkeep.adapters.deepagents import BoxkeepSandbox
from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

address, key = sys.argv[1:3]


class Scripted(GenericFakeChatModel):
    def bind_tools(self, *args, **more):
        return self


def calls(*tools):
    for number, (name, arguments) in enumerate(tools):
        yield AIMessage(
            "", tool_calls=[{"name": name, "args": arguments, "id": f"call-{number}"}]
        )
    yield AIMessage("done")


def show(what, value):
    print(json.dumps([what, value]))


def agent(backend):
    script = calls(
        (
            "execute",
            {
                "command": "mkdir -p /tmp/work && cd /tmp/work && printf 'one\\ntwo\\n' > file && pwd"
            },
        ),
        (
            "edit_file",
            {"file_path": "/tmp/work/file", "old_string": "two", "new_string": "three"},
        ),
        ("read_file", {"file_path": "/tmp/work/file"}),
        ("read_file", {"file_path": "/tmp/work/none"}),
        ("execute", {"command": "exit 3"}),
    )
    done = create_deep_agent(model=Scripted(messages=script), backend=backend).invoke(
        {"messages": [("user", "work")]}
    )
    for message in done["messages"]:
        if message.type == "tool":
            show(message.tool_call_id, message.content)
    show("answer", done["messages"][-1].content)


def protocol(backend):
    show(
        "written",
        [
            backend.write("/tmp/p/a.txt", text).error
            for text in ("first", "one\r\ntwo\r\n")
        ],
    )
    show(
        "edited", [backend.edit("/tmp/p/a.txt", "one\ntwo", "three\nfour").occurrences]
    )
    show("edited twice", backend.edit("/tmp/p/a.txt", "five", "six").error)
    show("line ends", backend.download_files(["/tmp/p/a.txt"])[0].content.decode())
    backend.upload_files(
        [
            ("/tmp/p/sub/b.txt", b"b"),
            ("/tmp/p/a\nname", b"n"),
            ("/tmp/p/.git/config", b"three"),
        ]
    )
    show(
        "glob",
        sorted(match["path"] for match in backend.glob("*.txt", "/tmp/p").matches),
    )
    show(
        "no directories",
        [match["path"] for match in backend.glob("sub", "/tmp/p").matches],
    )
    show("grep", [match["path"] for match in backend.grep("three", "/tmp/p").matches])
    show(
        "grep in .git",
        [match["path"] for match in backend.grep("three", "/tmp/p/.git").matches],
    )
    capped = [backend.grep("r", "/tmp/p/a.txt", max_count=count) for count in (1, 2)]
    show("capped", [[len(found.matches), found.truncated] for found in capped])
    show("newline", backend.read("/tmp/p/a\nname").file_data["content"])
    show("page", vars(backend.read("/tmp/p/a.txt", offset=1, limit=1)))
    show("async", asyncio.run(backend.als("/tmp/p/sub")).entries[0]["path"])
    show(
        "deleted",
        [backend.delete("/tmp/p/sub").error, backend.delete("/tmp/p/sub").error],
    )
    backend.execute("ln -s /root/secret /tmp/p/link; printf text > \"$(printf '/tmp/p/\\377')\"")
    refused = ["/tmp/p/link", "file:///root/secret", "/proc/self/environ"]
    show(
        "root's",
        [backend.write("/etc/x", "x").error, backend.ls("/root").error]
        + [backend.write("file:///etc/x", "x").error]
        + [backend.delete("file:///etc%2Fpasswd").error]
        + [backend.read(path).error for path in refused],
    )
    show(
        "no UTF-8",
        [
            backend.read("file:///tmp/p/%FF").file_data["content"],
            backend.download_files(["file:///tmp/p/%FF"])[0].content.decode(),
            backend.upload_files([("file:///tmp/p/%FE", b"")])[0].error,
            backend.delete("file:///tmp/p/%FF").error,
        ],
    )
    long = "x" * 100_000
    show("long command", len(backend.execute(f"printf %s {long}").output))
    began = time.monotonic()
    late = backend.execute("sleep 61 & echo begun; sleep 62", timeout=1)
    show("late", [late.exit_code, late.output, time.monotonic() - began < 30])
    show("left", backend.execute("ps -eo args | grep -c '^sleep 6[12]'").output)
    show("both streams", backend.execute("echo out; echo err >&2; echo out").output)
    show("python", backend.execute("cat /tmp/python-was-run").exit_code)


with Sandbox(address, key) as box:
    agent(BoxkeepSandbox(box))
    protocol(BoxkeepSandbox(box))
