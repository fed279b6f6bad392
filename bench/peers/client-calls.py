"""Makes the calls of the row `client` from Python, with the client and without: one on each line in."""
import json
import sys
import time

import httpx2
from boxkeep import Sandbox

address = sys.argv[1]
sandbox = Sandbox(address)
plain = httpx2.Client(base_url=address, timeout=None)


def run():
    return sandbox.commands.run("true").exit_code


def raw_run():
    return plain.post("/v2/commands", json={"command": "true", "mode": "sync"}).json()["data"]["exit_code"]


def output(script):
    return sum(len(event.bytes) for event in sandbox.commands.start(script) if event.type == "stdout")


def raw_output(script):
    started = plain.post("/v2/commands", json={"command": script, "mode": "async"}).json()["data"]
    path = f"/v2/commands/{started['command_id']}?stream=true&encoding=bytes"
    with plain.stream("GET", path) as answer:
        return sum(map(len, answer.iter_raw()))


calls = {"run": run, "rawRun": raw_run, "output": output, "rawOutput": raw_output}

for line in sys.stdin:
    name, count, *words = json.loads(line)
    took = []
    for _ in range(count):
        started_s = time.perf_counter()
        value = calls[name](*words)
        took.append([(time.perf_counter() - started_s) * 1000, value])
    print(json.dumps(took), flush=True)
