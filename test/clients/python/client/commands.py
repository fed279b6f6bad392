"""What the client promises for commands. The test kills the daemon whenever a line `kill` is printed.

The test runs this program, and the synchronous program that the token table of the client makes of it.
"""

import asyncio
import hashlib
import io
import logging
import os
import pickle
import sys
import time
import traceback

from boxkeep import AsyncSandbox, BoxError, Ending, Gap
from waiting import AsyncWaiting, show

address, key, directory, servers, untrusted = sys.argv[1:]
once = os.path.join(directory, "once")
log = io.StringIO()
logging.basicConfig(level=logging.DEBUG, stream=log)


async def main():
    async with await AsyncSandbox.connect(address, key) as box:
        await errors(box)
        await standard_input(box)
        long = await a_dying_daemon(box)
        await bad_connections(box)
        await stopped(box)
        await connected(box, long)
        await activity(box)


async def errors(box):
    run = await box.commands.run("printf out; printf err >&2; exit 3")
    show("run", [run.exit_code, run["stdout"], run.stderr])
    refused = await failure(lambda: box.commands.run("true", cwd="/none"))
    show("refused", [refused.code, refused.retryable, refused.data.errno_name])
    show("thrown", await code_of(lambda: box.commands.run("")))
    show("field", (await failure(lambda: box.commands.run(""))).errors[0].location)
    show("wrong key", await code_of(lambda: AsyncSandbox.connect(address, "wrong")))
    show("no key", await code_of(lambda: AsyncSandbox.connect(address)))
    show("not a key", await code_of(lambda: AsyncSandbox.connect(address, "a\nb")))
    show("closed port", await code_of(lambda: AsyncSandbox.connect("127.0.0.1:1", retry_s=0.05)))
    show("key in the address", await code_of(lambda: AsyncSandbox.connect(f"{address}?api_key=x")))
    show("not an address", await code_of(lambda: AsyncSandbox.connect("http://")))
    show("not a host", await code_of(lambda: AsyncSandbox.connect("http://a%20b")))
    show("another scheme", await code_of(lambda: AsyncSandbox.connect("ftp://127.0.0.1")))
    show("unknown host", await code_of(lambda: AsyncSandbox.connect("nowhere.invalid", retry_s=0.05)))
    show("untrusted", await code_of(lambda: AsyncSandbox.connect(untrusted, key, retry_s=0.05)))
    https = address.replace("http", "https")
    show("no TLS", await code_of(lambda: AsyncSandbox.connect(https, key, retry_s=0.05)))
    show("another server", await code_of(lambda: AsyncSandbox.connect(f"{servers}/other", key)))
    show("elsewhere", await code_of(lambda: AsyncSandbox.connect(f"{servers}/away", key)))
    copied = pickle.loads(pickle.dumps(refused))
    assert (type(copied), copied.code, str(copied)) == (type(refused), "bad_argument", str(refused))
    away = await failure(lambda: AsyncSandbox.connect(untrusted, key, retry_s=0))
    shown = [repr(box), repr(vars(box)), repr(box.commands), trace(refused), trace(away), log.getvalue()]
    show("key is shown", any(key in text for text in shown))


async def standard_input(box):
    cat = await box.commands.start("cat; exit 4", stdin="pipe")
    await cat.write("é" * 100_000)
    await cat.write(bytes([0, 255]))
    await cat.close_stdin()
    echoed = b"".join([event.bytes async for event in cat if event.type == "stdout"])
    show("input", [sha256(echoed) == sha256("é".encode() * 100_000 + bytes([0, 255])), ended(await cat.wait())])
    show("written too late", await code_of(lambda: cat.write("x")))


async def a_dying_daemon(box):
    long = await box.commands.start("seq 1 300000; echo é >&2; sleep 1; seq 300001 400000")
    texts = {"stdout": "", "stderr": ""}
    kills = 0
    async for event in long:
        if isinstance(event, Ending):
            ending = event
        elif isinstance(event, Gap):
            show("gap", [event.from_, event.to])
        else:
            texts[event.type] += event.text
        if kills < 2 and len(texts["stdout"]) > 500_000 * (kills + 1):
            show("kill", kills)
            kills += 1
    numbers = "".join(f"{number}\n" for number in range(1, 400_001))
    show("followed", [texts["stdout"] == numbers, texts["stderr"], ended(ending)])

    # A daemon that dies while a call waits: the repeat finds the command.
    script = f"echo begun >> {once}; sleep 1; echo ended >> {once}; echo done; exit 5"
    waiting = AsyncWaiting(box.commands.run, script)
    while not (os.path.exists(once) and os.path.getsize(once)):
        await asyncio.sleep(0.005)
    show("kill", 2)
    run = await waiting.result()
    show("once", [run.exit_code, run.stdout, run.replayed, read(once)])
    return long.id, len(numbers)


async def bad_connections(box):
    # An answer that breaks off, a refusal of a proxy that names a date, and one that asks for a second.
    async with AsyncSandbox(f"{servers}/fragile", key) as fragile:
        begun_at = time.monotonic()
        lost = await fragile.commands.run(f"echo line >> {once}.more; cat {once}.more")
        show("lost", [lost.stdout, lost.replayed, time.monotonic() - begun_at >= 1])
    async with AsyncSandbox(f"{servers}/gap") as gap:
        seen = []
        async for event in await gap.commands.connect("x"):
            if isinstance(event, Gap):
                seen.append([event.from_, event.to])
            else:
                seen.append("exit" if isinstance(event, Ending) else [event.offset, event.text])
        show("gap", seen)
    # What may have had its effect is not repeated, and a daemon that stays away is given up.
    async with AsyncSandbox(f"{servers}/cut", key) as cut:
        show("broken off", (await code_of(lambda: cut.files.write(f"{once}.cut", "x", append=True)))[0])
        show("not repeated", read(f"{once}.cut"))
    async with AsyncSandbox(f"{servers}/gone", retry_s=0.05) as gone:
        show("away", await code_of(lambda: gone.info()))


async def stopped(box):
    show("run stopped", await code_of(lambda: box.commands.run("sleep 60", command_id="stopped", timeout_s=0.05)))
    sleeping = await box.commands.start("sleep 60")
    begun_at = time.monotonic()
    show("stopped", await code_of(lambda: sleeping.wait(timeout_s=0.05)))
    assert time.monotonic() - begun_at < 5
    if hasattr(AsyncWaiting, "cancel"):
        await AsyncWaiting(sleeping.wait).cancel()
    show("goes on", len((await box.commands.list(status="running")).commands))
    await sleeping.kill(signal="SIGKILL")
    show("killed", ended(await sleeping.wait()))
    await box.commands.kill("stopped", signal="SIGKILL")
    show("killed by name", ended(await (await box.commands.connect("stopped")).wait()))


async def connected(box, long):
    id, length = long
    again = await box.commands.connect(id, stdout=length - 7)
    rest = [event.exit_code if isinstance(event, Ending) else event.text async for event in again]
    show("connected", sorted(rest, key=str))
    show("listed", len((await box.commands.list(status="running")).commands))


async def activity(box):
    before = await box.call("operations.activity", limit=1)
    await box.commands.run("exit 7", command_id="seen")
    seen = []
    async for entry in box.activity(cursor=before.cursor):
        seen.append([entry.kind, entry.subject, entry.exit_code])
        if entry.kind == "ended":
            break
    show("activity", seen)


async def failure(work):
    try:
        await work()
    except BoxError as error:
        return error
    raise AssertionError("the call succeeds")


def trace(error):
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


async def code_of(work):
    try:
        return await work()
    except BoxError as error:
        return [error.code, error.status, error.message]
    except TimeoutError as error:
        return [type(error).__name__]


def ended(event):
    return [event.status, event.exit_code, event.signal]


def sha256(text):
    return hashlib.sha256(text).hexdigest()


def read(path):
    with open(path) as file:
        return file.read()


asyncio.run(main())
