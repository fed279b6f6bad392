"""Runs an agent of the Agent Development Kit with a scripted model, then its environment: `ADDRESS KEY DIRECTORY`."""

import asyncio
import json
import os
import sys

from behaviour import behaviour
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.environment import EnvironmentToolset
from google.genai import types

from boxkeep.adapters.adk import BoxkeepEnvironment


class Scripted(BaseLlm):
    """Calls the tools in turn, then says that it is done."""

    calls: list

    async def generate_content_async(self, llm_request, stream=False):
        if self.calls:
            name, arguments = self.calls.pop(0)
            part = types.Part.from_function_call(name=name, args=arguments)
        else:
            part = types.Part.from_text(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def agent_results(environment, directory):
    path = os.path.join(directory, "greeting")
    calls = [
        ("Execute", {"command": f"echo hello > {path}; pwd; echo $WORD; exit 4"}),
        ("EditFile", {"path": path, "old_string": "hello", "new_string": "goodbye"}),
        ("ReadFile", {"path": "greeting"}),
        ("ReadFile", {"path": f"{path}.absent"}),
        ("ReadFile", {"path": directory}),
    ]
    tools = EnvironmentToolset(environment=environment)
    agent = LlmAgent(name="agent", model=Scripted(model="scripted", calls=calls), tools=[tools])
    runner = InMemoryRunner(agent=agent, app_name="test")
    await runner.session_service.create_session(app_name="test", user_id="user", session_id="session")
    message = types.Content(role="user", parts=[types.Part.from_text(text="go")])
    parts = []
    async for event in runner.run_async(user_id="user", session_id="session", new_message=message):
        parts += event.content.parts if event.content else []
    results = [part.function_response.response for part in parts if part.function_response]
    answer = "".join(part.text for part in parts if part.text)
    await runner.close()
    return {"results": results, "answer": answer}


async def methods(environment, directory):
    async def run(command, timeout=None):
        ended = await environment.execute(command, timeout=timeout)
        return "timed out" if ended.timed_out else ended.exit_code, ended.stdout, ended.stderr

    await environment.initialize()
    found = {"working_dir": str(environment.working_dir), "made": (await run("pwd"))[1]}
    found |= await behaviour(directory, run, environment.read_file, environment.write_file)
    await environment.write_file("text", "ünï")
    found["text"] = (await environment.read_file("text")).decode()
    await environment.close()
    return found


async def main(address, key, directory):
    inside = BoxkeepEnvironment(address, key, working_dir=directory, env_vars={"WORD": "w"})
    made = BoxkeepEnvironment(address, key, working_dir=os.path.join(directory, "made/here"))
    return {**await agent_results(inside, directory), **await methods(made, directory)}


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
