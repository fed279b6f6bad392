"""What the client promises for terminals. The test kills or upgrades the daemon when such a line is printed, and answers
with a line when a daemon serves again.
"""

import asyncio
import io
import logging
import os
import sys
from urllib.parse import urlsplit

from boxkeep import AsyncSandbox, BoxError
from proxy import Proxy
from waiting import AsyncWaiting, show

address, key, directory, servers = sys.argv[1:]
log = io.StringIO()
logging.basicConfig(level=logging.DEBUG, stream=log)
proxy = Proxy(urlsplit(address).port)
wide = "printf 'é%.0s' $(seq 1 3000)"


async def main():
    async with AsyncSandbox(f"127.0.0.1:{proxy.port}", key) as box, AsyncSandbox(address, key) as direct:
        await box.terminals.create(id="work", cwd=directory, env={"HISTFILE": ""})
        await refusals(box)
        terminal = await box.terminals.open(id="work", cols=100, rows=30)
        shown = [repr(terminal), repr(vars(terminal)), log.getvalue()]
        show("key is shown", any(key in text for text in shown))
        end = await output(terminal, direct)
        await typing(terminal)
        other = await direct.terminals.attach("work")
        await doubt(terminal, other)
        await sharing(box, terminal, other)
        await slow_reader(box, direct, terminal, other, end)
        await endings(box)
    proxy.close()


async def refusals(box):
    show("unknown", await code_of(lambda: box.terminals.attach("missing")))
    show("wrong key", await code_of(lambda: AsyncSandbox(address, "wrong").terminals.attach("work")))
    show("another server", await code_of(lambda: AsyncSandbox(f"{servers}/other", key).terminals.attach("work")))
    show("timed out", await code_of(lambda: box.terminals.attach("work", timeout_s=0)))


async def output(terminal, direct):
    """Over a lost connection, a kill and an upgrade."""
    await terminal.write(f"stty -echo; seq 1 150000; {wide}; sleep 1; seq 150001 200000; {wide}; echo al''l\n")
    kinds, pieces, texts = set(), [], []
    first = end = 0
    acts = ["upgrade", "kill", "cut"]
    async for event in terminal:
        if event.type == "restore":
            first = end = event.offset
        if event.type != "output":
            kinds.add(event.type)
            continue
        if event.offset != end:
            show("not in order", [event.offset, end])
        end += len(event.bytes)
        pieces.append(event.bytes)
        texts.append(event.text)
        if acts and end > 250_000 * (4 - len(acts)):
            act = acts.pop()
            proxy.cut() if act == "cut" else show(act, end)
        if "all\r\n" in "".join(texts[-9:])[-1000:]:
            break
    await served(2)
    whole, text = b"".join(pieces), "".join(texts)
    again = await direct.terminals.attach("work", offset=first, read_only=True)
    logged = b""
    async for event in again:
        if event.type == "output":
            logged += event.bytes
            if len(logged) >= end - first:
                break
    plain = text.replace("\r", "")
    show(
        "output",
        {
            "isLog": logged[: end - first] == whole,
            "isText": text == whole.decode(errors="replace"),
            "isWhole": numbers(1, 150_000) in plain and numbers(150_001, 200_000) in plain,
            "kinds": sorted(kinds - {"title"}),
        },
    )
    show("read-only", await code_of(lambda: again.write("x")))
    await again.detach()
    return end


async def typing(terminal):
    """Input over the same."""
    await terminal.write('cat > typed; echo sto"r"ed\n')
    lines = [f"{index} {'x' * 1000}\n" for index in range(100)]
    for index, line in enumerate(lines):
        if index == 20:
            show("kill", index)
        if index == 60:
            proxy.cut()
        await terminal.write(line)
    whole = AsyncWaiting(terminal.write, "".join(lines))
    show("upgrade", len(lines))
    await whole.result()
    await served(2)
    await terminal.write("\x04")
    await read(terminal, lambda _, text: "stored" in text)
    with open(os.path.join(directory, "typed")) as typed:
        show("input", typed.read() == "".join(lines) * 2)


async def doubt(terminal, other):
    """Input whose arrival cannot be known, because another client has typed too."""
    await terminal.write("cat > /dev/null\n")
    proxy.deafen()
    doubtful = AsyncWaiting(code_of, lambda: terminal.write("y" * 1000))
    assert await asyncio.to_thread(proxy.has_lost_input)
    await other.write(f"{'z' * 2000}\n")
    proxy.cut()
    event = await read(terminal, lambda event, _: event.type == "error")
    show("in doubt", [event.error.code, event.error.data["bytes"], (await doubtful.result())[0]])
    await other.write("\x04")


async def sharing(box, terminal, other):
    """What clients of one terminal see of each other."""
    # The job itself sets the title, so that it is in the foreground when the signal comes.
    await other.write("""sh -c 'printf "\\033]0;name\\007"; exec sleep 100'\n""")
    show("title", (await read(terminal, lambda event, _: event.type == "title")).title)
    await other.resize(90, 20)
    resized = await read(terminal, lambda event, _: event.type == "resize")
    show("resized", [resized.cols, resized.rows])
    await terminal.signal()
    show("exec", (await terminal.exec("cd /tmp && pwd")).output)
    show("screen", (await terminal.screen(wait_for="/tmp")).matched)
    seen = []
    await terminal.restore()
    restored = await read(terminal, lambda event, _: event.type == "restore", seen)
    show("restored", ["/tmp" in restored.text, len([event for event in seen if event.type == "away"])])
    show("renamed", (await box.terminals.rename("work", "Work of two")).name)
    show("listed", list((await box.terminals.list()).sessions))


async def slow_reader(box, direct, terminal, other, end):
    slow = await direct.terminals.attach("work", offset=end, read_only=True)
    await terminal.write('clear; seq 1 500000; echo al""l\n')
    await read(terminal, lambda _, text: "all\r\n" in text)
    await other.detach()
    while (await box.terminals.get("work")).attached > 1:
        await asyncio.sleep(0.05)
    events = []
    await read(slow, lambda _, text: "all\r\n" in text, events)
    away = next(index for index, event in enumerate(events) if event.type == "away")
    before = sum(len(event.bytes) for event in events[:away] if event.type == "output")
    text = "".join(event.text for event in events if event.type == "output").replace("\r", "")
    show("slow", [before < 1_500_000, numbers(1, 500_000) in text])
    await terminal.write("exit 3\n")
    show("end", [shown(await terminal.wait()), shown(await terminal.wait()), (await slow.wait()).exit_code])
    show("written too late", (await code_of(lambda: terminal.write("x")))[0])


async def endings(box):
    unnamed = await box.terminals.open(cwd="/")
    show("unnamed", (await box.terminals.get(unnamed.id)).retention)
    await unnamed.detach()
    show("left", (await code_of(lambda: unnamed.write("x")))[0])
    await unnamed.close()
    show("closed", (await code_of(lambda: box.terminals.get(unnamed.id)))[0])


async def read(terminal, is_last, seen=None):
    """Reads up to an event, which may be the first output with a text."""
    text = ""
    async for event in terminal:
        if seen is not None:
            seen.append(event)
        if event.type == "output":
            # The end is enough, because searching the whole again and again takes long.
            text = text[-1000:] + event.text
        if is_last(event, text):
            return event
    raise AssertionError("no such event")


async def served(count):
    for _ in range(count):
        await asyncio.to_thread(sys.stdin.readline)


async def code_of(work):
    try:
        return await work()
    except BoxError as error:
        return [error.code, error.message]
    except TimeoutError as error:
        return type(error).__name__


def numbers(first, last):
    return "".join(f"{number}\n" for number in range(first, last + 1))


def shown(event):
    return {"type": event.type, "exitCode": event.exit_code, "signal": event.signal}


asyncio.run(main())
