"""Failures of a daemon and of the way to it, as a caller hears of them."""

import asyncio
import os
import sys

from boxkeep import AsyncSandbox, Unreachable
from waiting import show

address, key, directory, servers = sys.argv[1:]


async def main():
    async with await AsyncSandbox.connect(address, key) as box:
        absent = await box.commands.start("no-such-program", shell="none")
        show("absent", [absent.record.error.errno_name, (await absent.wait()).status])
        await away()
        await unknown()
        printed = await box.commands.start("echo x")
        await printed.wait()
        again = await box.commands.connect(printed.id)
        show("from the end", [event.type async for event in again.events(from_=again.ends)])


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
