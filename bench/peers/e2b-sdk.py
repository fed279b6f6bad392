"""Makes the calls of the bench with the published SDK of E2B: a call on each line in, its answers on lines out."""
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from e2b import CommandExitException, Sandbox

sandbox = Sandbox.create(debug=True)


def run(script):
    try:
        yield sandbox.commands.run(script).exit_code
    except CommandExitException as error:
        yield error.exit_code


def follow(script):
    for text, _, _ in sandbox.commands.run(script, background=True):
        yield len(text)


def upload(target, source):
    with open(source, "rb") as file:
        sandbox.files.write(target, file)
    yield 0


def download(path):
    yield sum(map(len, sandbox.files.read(path, format="stream")))


calls = {"run": run, "follow": follow, "upload": upload, "download": download}


def answer(number, value):
    os.write(1, f"{json.dumps([number, value])}\n".encode())


def make(line):
    number, name, *words = json.loads(line)
    try:
        for value in calls[name](*words):
            answer(number, value)
        answer(number, None)
    except Exception as error:
        answer(number, str(error))


with ThreadPoolExecutor(16) as threads:
    for line in sys.stdin:
        threads.submit(make, line)
