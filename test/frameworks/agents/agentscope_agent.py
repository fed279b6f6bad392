"""Runs an agent of AgentScope with a scripted model, then the methods of its backend: `ADDRESS KEY DIRECTORY`."""

import asyncio
import json
import os
import sys

from agentscope.agent import Agent
from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import TextBlock, ToolCallBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.permission import PermissionContext, PermissionMode
from agentscope.state import AgentState
from agentscope.tool import Toolkit
from behaviour import behaviour, failure

from boxkeep.adapters.agentscope import BoxkeepBackend, tools_of


class Scripted(ChatModelBase):
    """Calls the tools in turn, then says that it is done."""

    def __init__(self, calls):
        super().__init__(CredentialBase(), "scripted", self.Parameters(), stream=False)
        self.formatter = OpenAIChatFormatter()
        self.calls = list(enumerate(calls))

    async def _call_api(self, *_, **__):
        if not self.calls:
            return ChatResponse(content=[TextBlock(text="done")], is_last=True)
        number, (name, arguments) = self.calls.pop(0)
        call = ToolCallBlock(id=f"call_{number}", name=name, input=json.dumps(arguments))
        return ChatResponse(content=[call], is_last=True)


async def agent_results(backend, directory):
    path = os.path.join(directory, "greeting")
    calls = [
        ("Bash", {"command": f"echo hello > {path}; pwd; echo $WORD"}),
        ("Read", {"file_path": path}),
        ("Edit", {"file_path": path, "old_string": "hello", "new_string": "goodbye"}),
        ("Read", {"file_path": path}),
        ("Read", {"file_path": f"{path}.absent"}),
        ("Grep", {"pattern": "good", "path": path, "output_mode": "content"}),
        ("Bash", {"command": "exit 4"}),
        ("Bash", {"command": "sleep 100", "timeout": 300}),
    ]
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
    agent = Agent("agent", "", Scripted(calls), toolkit=Toolkit(tools=tools_of(backend)), state=state)
    answer = await agent.reply(UserMsg("user", "go"))
    results = [
        [block.state, "".join(one.text for one in block.output) if isinstance(block.output, list) else block.output]
        for message in agent.state.context
        for block in message.get_content_blocks()
        if block.type == "tool_result"
    ]
    return {"results": results, "answer": answer.get_text_content()}


async def methods(backend, directory):
    async def run(command, timeout=None):
        ended = await backend.exec_shell(["sh", "-c", command], timeout=timeout)
        code = "timed out" if ended.exit_code == -1 else ended.exit_code
        return code, ended.stdout.decode(), ended.stderr.decode()

    at = lambda name: os.path.join(directory, name)
    found = await behaviour(directory, run, backend.read_file, backend.write_file)
    found["absent argv"] = (await backend.exec_shell(["no-such-program", "x"])).exit_code
    found["cwd absent"] = (await backend.exec_shell(["pwd"], cwd=at("absent"))).stderr.decode()
    await run(f"cd {directory} && mkdir d && ln -s d link && ln -s nowhere broken && printf 12345 > d/five")
    found["scandir"] = sorted(
        (e.name, e.is_dir, e.size_bytes) for e in await backend.scandir(directory) if e.name in ("d", "link", "broken")
    )
    found["list"] = [
        await backend.list_dir(at("d")),
        await backend.list_dir(directory + "/d", recursive=True),
        await backend.list_dir(at("absent")),
    ]
    found["stat"] = [
        (await backend.stat(at("d/five"))).size_bytes,
        await backend.stat(at("broken")),
        await backend.stat_mtime(at("absent")),
    ]
    found["is"] = [
        await backend.is_dir(at("link")),
        await backend.file_exists(at("d/five/x")),
        await backend.file_exists(at("d/five")),
    ]
    await backend.delete_path(at("d"))
    await backend.delete_path(at("d"))
    found["deleted"] = await backend.file_exists(at("d"))
    found["delete refused"] = await failure(backend.delete_path("/etc/hostname"))
    found["cwd"] = await backend.getcwd()
    await backend.close()
    return found


async def main(address, key, directory):
    backend = BoxkeepBackend(address, key, workdir=directory, env={"WORD": "w"})
    return {**await agent_results(backend, directory), **await methods(backend, directory)}


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
