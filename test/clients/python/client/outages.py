"""Failures of a daemon and of the way to it, as a caller hears of them."""

import asyncio
import os
import sys
import time
from array import array

from boxkeep import AsyncSandbox, BoxError, Unavailable, Unreachable
from waiting import AsyncWaiting, show

address, key, directory, servers = sys.argv[1:]


async def main():
    async with await AsyncSandbox.connect(address, key) as box:
        absent = await box.commands.start("no-such-program", shell="none")
        show("absent", [absent.record.error.errno_name, (await absent.wait()).status])
        silent = AsyncWaiting(code_of, lambda: AsyncSandbox.connect(f"{servers}/silent", key, retry_s=0))
        long = AsyncWaiting(box.code.run, "python", 'import time; time.sleep(4); print("slept")')
        await away()
        await unknown()
        printed = await box.commands.start("echo x")
        await printed.wait()
        again = await box.commands.connect(printed.id)
        show("from the end", [event.type async for event in again.events(from_=again.ends)])
        await wrong_addresses()
        show("silent", await silent.result())
        calls = [lambda: box.call("nope"), lambda: box.call("commands.read")]
        show("no operation", [(await code_of(call))[1] for call in calls])
        await box.files.write(os.path.join(directory, "long"), "x" * 1000)
        await odd_servers()
        show("long", (await long.result()).stdout)
        cat = await box.commands.start("cat", stdin="pipe")
        for content in [bytearray(2), memoryview(array("H", [0x4141, 0x4242])), b"\0"]:
            await cat.write(content)
        await cat.close_stdin()
        show("bytes", list(b"".join([event.bytes async for event in cat if event.type == "stdout"])))


async def wrong_addresses():
    # The address may be wrong, until a daemon has answered.
    begun_at = time.monotonic()
    nowhere = await code_of(lambda: AsyncSandbox.connect("127.0.0.1:2", key))
    show("nowhere", [nowhere[0], time.monotonic() - begun_at < 20])
    async with AsyncSandbox(f"{servers}/wrapped", key) as wrapped:
        calls = [
            lambda: AsyncSandbox.connect(f"{servers}/wrapped", key),
            lambda: wrapped.files.read("a"),
            wrapped.commands.list,
        ]
        show("wrapped", [(await code_of(call))[0] for call in calls])
    async with AsyncSandbox(f"{servers}/paged", key) as paged:
        command = await paged.commands.connect("x")
        show("wrapped lines", (await code_of(command.wait))[0])


async def odd_servers():
    heard = []
    async with AsyncSandbox(f"{servers}/lacking", key) as lacking:
        try:
            await lacking.info(on_away=lambda *_: heard.append(1))
        except Unavailable as error:
            show("lacking", [error.code, error.retryable, len(heard)])
    async with AsyncSandbox(f"{servers}/lengthless", key) as lengthless:
        down = await lengthless.files.download(os.path.join(directory, "long"))
        show("no length", len(await down.bytes()))


async def code_of(work):
    try:
        return await work()
    except BoxError as error:
        return [error.code, error.message]


async def away():
    waits = []

    def on_away(error, since_s):
        waits.append(f"{error.code} {str(error.is_maybe_done).lower()} {str(since_s >= 0).lower()}")
        if len(waits) == 2:
            raise RuntimeError("enough waits")

    async with AsyncSandbox("127.0.0.1:2") as absent:
        try:
            await absent.info(on_away=on_away)
        except RuntimeError as error:
            show("away", [str(error), waits])


async def unknown():
    # The answer of a call that is not repeated is lost, so its effect is unknown.
    async with AsyncSandbox(f"{servers}/cut", key) as lost:
        try:
            await lost.files.write(os.path.join(directory, "appended"), "x", append=True)
        except Unreachable as error:
            show("unknown", [error.code, error.is_maybe_done])


asyncio.run(main())
