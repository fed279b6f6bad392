"""Runs an agent of the OpenAI Agents SDK with a scripted model, then its session: `ADDRESS KEY DIRECTORY`."""

import asyncio
import io
import json
import os
import sys
import tarfile

from agents import RunConfig, Runner
from agents.run_config import SandboxRunConfig
from agents.sandbox import Manifest, SandboxAgent
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import File
from agents.sandbox.errors import ExecTimeoutError
from agents.sandbox.manifest import Environment
from agents.sandbox.snapshot import LocalSnapshotSpec
from agents.testing import ScriptedModel, assistant_message, function_call
from behaviour import behaviour, failure
from openai.types.responses import ResponseCustomToolCall

from boxkeep.adapters.openai_agents import BoxkeepSandboxClient, BoxkeepSandboxClientOptions

PATCH = """*** Begin Patch
*** Update File: {}
@@
-hello
+goodbye
*** End Patch"""


def command(number, **arguments):
    return [function_call("exec_command", {"yield_time_ms": 10_000, **arguments}, call_id=f"call_{number}")]


def patch(number, name):
    text = PATCH.format(name)
    return [ResponseCustomToolCall(type="custom_tool_call", name="apply_patch", input=text, call_id=f"call_{number}")]


async def agent_results(client, root):
    model = ScriptedModel(
        [
            command(1, cmd="echo hello > greeting; pwd; cat given; echo $WORD; exit 4"),
            patch(2, "greeting"),
            command(3, cmd="cat greeting"),
            patch(4, "absent"),
            [assistant_message("done")],
        ]
    )
    manifest = Manifest(
        root=root, entries={"given": File(content=b"given\n")}, environment=Environment(value={"WORD": "w"})
    )
    agent = SandboxAgent(name="agent", instructions="", model=model, capabilities=[Shell(), Filesystem()])
    config = RunConfig(sandbox=SandboxRunConfig(client=client, manifest=manifest), tracing_disabled=True)
    result = await Runner.run(agent, "go", run_config=config)
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    # Each answer of a command says first how long it took.
    texts = [output.split("\nOutput:\n")[-1] for output in outputs]
    codes = [line for output in outputs for line in output.splitlines() if line.startswith("Process exited")]
    return {"results": texts, "codes": codes, "answer": result.final_output}


async def methods(client, directory):
    root = directory
    spec = LocalSnapshotSpec(base_path=os.path.abspath("snapshots"))
    session = await client.create(
        manifest=Manifest(root=root), snapshot=spec, options=BoxkeepSandboxClientOptions(exposed_ports=(8000,))
    )
    await session.start()

    async def run(command, timeout=None):
        try:
            ended = await session.exec(command, timeout=timeout)
        except ExecTimeoutError:
            return "timed out", "", ""
        return ended.exit_code, ended.stdout.decode(), ended.stderr.decode()

    async def read(path):
        return (await session.read(path)).read()

    async def write(path, content):
        await session.write(path, io.BytesIO(content))

    found = await behaviour(root, run, read, write)
    found["running"] = await session.running()
    found["user"] = (await session.exec("id -un", user="root")).stdout.decode()
    found["escape"] = await failure(session.read("../secret"))
    await run("ln -s /etc/passwd out")
    found["link out"] = await failure(session.read("out"))
    await run("rm out")
    found["bounded"] = (await session.read_bounded("new\nline/a\nb", max_bytes=2)).hex()
    endpoint = await session.resolve_exposed_port(8000)
    found["port"] = [endpoint.host, endpoint.port, await failure(session.resolve_exposed_port(1))]

    started = await session.pty_exec_start(
        "stty -echo; read name; echo hi $name; read more", shell=True, tty=True, yield_time_s=0.25
    )
    answered = await until(session, started.process_id, "Ada\n", b"hi Ada")
    ended = await until(session, started.process_id, "\n", None)
    found["terminal"] = [b"hi Ada" in answered, ended]
    plain = await session.pty_exec_start("echo plain; exit 5", shell=True, yield_time_s=30)
    found["plain"] = [plain.output.decode(), plain.exit_code, plain.process_id]
    await session.pty_exec_start("echo $$ > pid; exec sleep 1000", shell=True, tty=True, yield_time_s=0.25)
    await run("until [ -s pid ]; do sleep 0.05; done")
    await session.pty_terminate_all()
    found["terminated"] = (await run("while kill -0 $(cat pid) 2>&-; do sleep 0.05; done; rm pid; echo gone"))[1]
    found["pty absent"] = await failure(session.pty_write_stdin(session_id=1, chars=""))

    session.register_persist_workspace_skip_path("skipped")
    await run("mkdir skipped kept; echo a > skipped/a; echo b > kept/b; chmod 751 kept/b; ln -s kept/b link")
    archive = await session.persist_workspace()
    found["members"] = sorted(
        name.removeprefix("./")
        for name in tarfile.open(fileobj=archive).getnames()
        if "kept" in name or "link" in name or "skip" in name
    )
    await session.aclose()

    state = client.deserialize_session_state(json.loads(json.dumps(client.serialize_session_state(session.state))))
    again = await client.resume(state)
    await again.start()
    found["resumed"] = (await again.exec("cat link")).stdout.decode()
    await again.aclose()
    state.sandbox_id = "sbx_gone"
    state.manifest = Manifest(root=os.path.join(directory, "restored"))
    restored = await client.resume(state)
    await restored.start()
    found["restored"] = (await restored.exec("pwd; cat link; stat -c %a kept/b; ls -d skipped")).stdout.decode()
    found["unsafe"] = await failure(restored.hydrate_workspace(unsafe()))
    await restored.aclose()
    found["key in state"] = "a-key" in json.dumps(client.serialize_session_state(state))
    return found


async def until(session, process_id, chars, wanted):
    """Writes, and reads up to the wanted output, or to the end."""
    output = b""
    while True:
        update = await session.pty_write_stdin(session_id=process_id, chars=chars, yield_time_s=0.25)
        output, chars = output + update.output, ""
        if wanted is None and update.process_id is None:
            return update.exit_code
        if wanted is not None and wanted in output:
            return output


def unsafe():
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../outside"))
    archive.seek(0)
    return archive


async def main(address, key, directory):
    client = BoxkeepSandboxClient(address, key)
    found = {"bad key": await failure(BoxkeepSandboxClient(address, "wrong").create(options=None))}
    return {
        **found,
        **await agent_results(client, os.path.join(directory, "agent")),
        **await methods(client, directory),
    }


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
