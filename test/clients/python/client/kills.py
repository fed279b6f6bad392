"""What the client promises, again and again, beside kills of the daemon that it does not know of."""

import asyncio
import os
import sys
import time
import traceback

from boxkeep import AsyncSandbox, BoxError
from waiting import AsyncWaiting, show

address, key, parent, client, seconds = sys.argv[1:]
directory = os.path.join(parent, client)
ends_at = time.monotonic() + float(seconds)
failures = []


async def main():
    async with await AsyncSandbox.connect(address, key, retry_s=30) as box:
        terminal = await box.terminals.open(id=f"of-{os.path.basename(directory)}", cols=200, env={"HISTFILE": ""})
        tasks = {
            "run": lambda name, turn: run(box, name, turn),
            "output": lambda name, turn: output(box, name, turn),
            "input": lambda name, turn: standard_input(box, name, turn),
            "file": lambda name, turn: file(box, name, turn),
            "terminal": lambda name, turn: typing(box, terminal, name, turn),
        }
        loops = [AsyncWaiting(repeat, kind, task) for kind, task in tasks.items()]
        done = {kind: await loop.result() for kind, loop in zip(tasks, loops)}
        assert not failures, "\n".join(failures)
        show("done", done)


async def repeat(kind, task):
    turn = 0
    while time.monotonic() < ends_at and not failures:
        try:
            await task(f"once-{kind}-{turn}", turn)
            turn += 1
        except Exception:
            failures.append(f"{kind} {turn}: {traceback.format_exc()}")
    return turn


async def run(box, name, turn):
    result = await box.commands.run(marked(name, f"echo {name}; sleep 0.1; exit {turn % 200}"))
    assert (result.exit_code, result.stdout) == (turn % 200, f"{name}\n"), result
    await is_once(box, name)


async def output(box, name, turn):
    script = f"seq 1 20000; echo {name} >&2; sleep 0.5; seq 20001 40000; exit {turn % 200}"
    seen = {"stdout": "", "stderr": ""}
    async for event in await box.commands.start(marked(name, script)):
        if event.type == "exit":
            ending = event
        else:
            assert event.type != "gap", event
            seen[event.type] += event.text
    assert (ending.exit_code, seen["stderr"]) == (turn % 200, f"{name}\n"), (ending, seen["stderr"])
    assert seen["stdout"] == "".join(f"{number}\n" for number in range(1, 40_001)), len(seen["stdout"])
    await is_once(box, name)


async def standard_input(box, name, turn):
    cat = await box.commands.start(marked(name, "cat"), stdin="pipe")
    content = os.urandom(300_000)
    for start in range(0, len(content), 100_000):
        await cat.write(content[start : start + 100_000])
    await cat.close_stdin()
    assert b"".join([event.bytes async for event in cat if event.type == "stdout"]) == content
    await is_once(box, name)


async def file(box, name, turn):
    content = os.urandom(2_000_000)
    await box.files.upload(content, at("content"))
    assert await (await box.files.download(at("content"))).bytes() == content
    await box.files.write(at("words"), name)
    assert (await box.files.read(at("words"))).content == name
    try:
        await box.files.write(at(name), f"{name}\n", append=True)
    except BoxError as error:
        # Not repeated where it may have been done, so the caller hears of the doubt.
        assert error.is_maybe_done, error
    else:
        await is_once(box, name)


async def typing(box, terminal, name, turn):
    await terminal.write(marked(name, f"echo $(({turn} * 7)) e''nd-{name}.\n"))
    shown = ""
    async for event in terminal:
        assert event.type != "gap", event
        if event.type == "output":
            shown += event.text
        if f"end-{name}." in shown:
            break
    assert shown.count(f"{turn * 7} end-{name}.") == 1, shown
    await is_once(box, name)


def at(name):
    return os.path.join(directory, name)


def marked(name, script):
    return f"echo {name} >> {at(name)}; {script}"


async def is_once(box, name):
    assert (await box.files.read(at(name))).content == f"{name}\n"


asyncio.run(main())
