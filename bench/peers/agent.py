"""Runs loops of fifty tool calls with one scripted model: `deepagents`, `mcp` or `e2b`, an address and a directory.

Each line in is a loop. Its line out has the milliseconds, the bytes that the model was sent, and those of the results.
"""
import asyncio
import json
import sys
import time

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

kind, address, directory = sys.argv[1:]
rounds = 10
limits = {"recursion_limit": 1000}


class Scripted(BaseChatModel):
    """Calls the tools in turn, and keeps what a model is sent."""

    script: list
    sent: list = []
    tools: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        self.tools = list(tools)
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.sent.append((list(messages), self.tools))
        number = len(self.sent)
        if number > len(self.script):
            message = AIMessage("done")
        else:
            name, arguments = self.script[number - 1]
            message = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{number}"}])
        return ChatResult(generations=[ChatGeneration(message=message)])


def for_deepagents(path, text, old, new, command):
    return [
        ("write_file", {"file_path": path, "content": text}),
        ("read_file", {"file_path": path}),
        ("edit_file", {"file_path": path, "old_string": old, "new_string": new}),
        ("grep", {"pattern": new, "path": directory}),
        ("execute", {"command": command}),
    ]


def for_mcp(path, text, old, new, command):
    return [
        ("sandbox_file_operations", {"action": "write", "path": path, "content": text}),
        ("sandbox_file_operations", {"action": "read", "path": path}),
        ("sandbox_str_replace_editor", {"command": "str_replace", "path": path, "old_str": old, "new_str": new}),
        ("sandbox_file_operations", {"action": "grep", "pattern": new, "path": directory, "fixed_strings": True}),
        ("sandbox_execute_bash", {"cmd": command}),
    ]


def script(calls, loop):
    """The calls of a loop, and a text that the result of each has."""
    made = []
    for number in range(rounds):
        path = f"{directory}/{kind}-{loop}-{number}.txt"
        old, new = f"line 7 of {number}", f"changed in {loop}, {number}"
        text = "".join(f"line {line} of {number}, as in a source file\n" for line in range(40))
        wanted = ["", old, "", path.rpartition("/")[2], new]
        made += zip(calls(path, text, old, new, f"head -n 20 {path}; wc -c {path}; rm {path}"), wanted)
    return made


def boxkeep_backend():
    from boxkeep import Sandbox
    from boxkeep.adapters.deepagents import BoxkeepSandbox

    return BoxkeepSandbox(Sandbox(address))


def e2b_backend():
    from e2b import Sandbox
    from langchain_e2b import E2BSandbox

    return E2BSandbox(sandbox=Sandbox.create(debug=True), workdir=directory)


def with_deepagents(backend):
    from deepagents import create_deep_agent

    return lambda model, asked: create_deep_agent(model=model, backend=backend).invoke(asked, limits)


def with_mcp():
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient

    loop = asyncio.new_event_loop()
    place = {"transport": "streamable_http", "url": f"{address}/mcp"}
    tools = loop.run_until_complete(MultiServerMCPClient({"boxkeep": place}).get_tools())
    return lambda model, asked: loop.run_until_complete(create_agent(model, tools).ainvoke(asked, limits))


kinds = {
    "deepagents": lambda: (for_deepagents, with_deepagents(boxkeep_backend())),
    "e2b": lambda: (for_deepagents, with_deepagents(e2b_backend())),
    "mcp": lambda: (for_mcp, with_mcp()),
}


def results_of(done, wanted):
    texts = [message.text for message in done["messages"] if message.type == "tool"]
    for text, part in zip(texts, wanted, strict=True):
        if part not in text:
            raise ValueError(f"{part} is not in the result {text}")
    return texts


def bytes_of(messages, tools):
    body = {"messages": convert_to_openai_messages(messages), "tools": [convert_to_openai_tool(tool) for tool in tools]}
    return len(json.dumps(body))


calls, run = kinds[kind]()
for number, _ in enumerate(sys.stdin):
    made = script(calls, number)
    model = Scripted(script=[call for call, _ in made])
    began = time.perf_counter()
    done = run(model, {"messages": [("user", "Repair the files.")]})
    took = (time.perf_counter() - began) * 1000
    results = results_of(done, [part for _, part in made])
    print(json.dumps([took, sum(bytes_of(*sent) for sent in model.sent), sum(map(len, results))]), flush=True)
