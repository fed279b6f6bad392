"""Runs an agent of Strands with a scripted model, then the methods of its sandbox: `ADDRESS KEY DIRECTORY`."""

import asyncio
import json
import os
import sys

from behaviour import behaviour, failure
from strands import Agent
from strands.models.model import Model
from strands.sandbox.errors import SandboxTimeoutError

from boxkeep.adapters.strands import BoxkeepSandbox


class Scripted(Model):
    """Calls the tools in turn, then says that it is done."""

    def __init__(self, calls):
        self.calls = iter(calls)

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *_, **__):
        raise NotImplementedError
        yield

    async def stream(self, messages, *_, **__):
        call = next(self.calls, None)
        yield {"messageStart": {"role": "assistant"}}
        if call is None:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
        else:
            name, arguments = call
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"call_{len(messages)}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if call is None else "tool_use"}}


def agent_results(sandbox, directory):
    path = os.path.join(directory, "greeting")
    calls = [
        ("sandbox_shell", {"command": f"echo hello > {path}; pwd; exit 4"}),
        ("sandbox_file_editor", {"command": "str_replace", "path": path, "old_str": "hello", "new_str": "goodbye"}),
        ("sandbox_file_editor", {"command": "view", "path": path}),
        ("sandbox_file_editor", {"command": "view", "path": f"{path}.absent"}),
        ("sandbox_file_editor", {"command": "view", "path": directory}),
    ]
    agent = Agent(model=Scripted(calls), sandbox=sandbox, callback_handler=None)
    answer = agent("go")
    results = [
        [
            block["toolResult"]["status"],
            "".join(str(one.get("text", one.get("json"))) for one in block["toolResult"]["content"]),
        ]
        for message in agent.messages
        for block in message["content"]
        if "toolResult" in block
    ]
    return {"results": results, "answer": str(answer).strip()}


async def methods(sandbox, directory):
    async def run(command, timeout=None):
        try:
            ended = await sandbox.execute(command, timeout=timeout)
        except SandboxTimeoutError as error:
            return "timed out", error.stdout, error.stderr
        return ended.exit_code, ended.stdout, ended.stderr

    found = await behaviour(directory, run, sandbox.read_file, sandbox.write_file)
    code = await sandbox.execute_code("import os; print(os.environ['WORD'])", "python3", env={"WORD": "w"})
    found["code"] = [code.exit_code, code.stdout]
    found["language"] = await failure(sandbox.execute_code("", "python3; id"))
    found["files"] = sorted(
        (one.name, one.is_dir) for one in await sandbox.list_files(os.path.join(directory, "new\nline"))
    )
    found["list absent"] = await failure(sandbox.list_files(os.path.join(directory, "absent")))
    await sandbox.remove_file(os.path.join(directory, "new\nline/a\nb"))
    found["remove absent"] = await failure(sandbox.remove_file(os.path.join(directory, "new\nline/a\nb")))
    found["remove directory"] = await failure(sandbox.remove_file(os.path.join(directory, "new\nline")))
    await sandbox.close()
    return found


address, key, directory = sys.argv[1:]
with_agent = agent_results(BoxkeepSandbox(address, key, working_dir=directory), directory)
print(json.dumps({**with_agent, **asyncio.run(methods(BoxkeepSandbox(address, key), directory))}))
