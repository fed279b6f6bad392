"""Runs the lines of the guide for agents with a scripted model: `ADDRESS KEY DIRECTORY GUIDE`."""

import ast
import asyncio
import inspect
import json
import pathlib
import re
import sys

from agents import set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools, **_):
        return self


def for_openai(calls):
    steps = [
        [function_call(name, arguments, call_id=f"call_{number}")] for number, (name, arguments) in enumerate(calls)
    ]
    return ScriptedModel([*steps, [assistant_message("done")]])


def for_langchain(calls):
    steps = [
        AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{number}"}])
        for number, (name, arguments) in enumerate(calls)
    ]
    return Scripted(responses=[*steps, AIMessage("done")])


def for_pydantic(calls):
    steps = iter([*[ToolCallPart(name, arguments) for name, arguments in calls], TextPart("done")])
    return FunctionModel(lambda messages, info: ModelResponse([next(steps)]))


def from_openai(result):
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    return [output["text"] if isinstance(output, dict) else output for output in outputs], result.final_output


def from_langchain(result):
    texts = [message.text for message in result["messages"] if message.type == "tool"]
    return texts, result["messages"][-1].text


def from_pydantic(result):
    parts = [part for message in result.all_messages() for part in message.parts]
    return [part.content for part in parts if part.part_kind in ("tool-return", "retry-prompt")], result.output


FRAMEWORKS = {
    "OpenAI Agents SDK": (for_openai, from_openai),
    "LangChain": (for_langchain, from_langchain),
    "Pydantic AI": (for_pydantic, from_pydantic),
}


async def lines_of(guide, framework, **names):
    """Runs the block of the framework, and returns what the block calls `result`."""
    text = re.search(rf"^\*\*{framework}\*\*.*?```python\n(.*?)```", guide, re.DOTALL | re.MULTILINE)[1]
    lines = text.replace("http://localhost:18091", names["address"])
    assert lines != text
    awaited = eval(compile(lines, framework, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(awaited):
        await awaited
    return names["result"]


async def main(address, key, directory, guide):
    set_tracing_disabled(True)
    found = {}
    for number, (framework, (scripted, read)) in enumerate(FRAMEWORKS.items()):
        path = f"{directory}/greeting-{number}"
        calls = [
            ("sandbox_execute_bash", {"cmd": f"echo hello > {path}; cat {path}; (exit 4)"}),
            (
                "sandbox_str_replace_editor",
                {"command": "str_replace", "path": path, "old_str": "hello", "new_str": "goodbye"},
            ),
            ("sandbox_file_operations", {"action": "read", "path": path}),
            ("sandbox_file_operations", {"action": "read", "path": f"{path}.absent"}),
        ]
        result = await lines_of(
            pathlib.Path(guide).read_text(), framework, address=address, key=key, model=scripted(calls)
        )
        texts, answer = read(result)
        found[framework] = {"results": texts, "answer": answer}
    return found


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
