"""Files and code through the client. The test kills the daemon whenever a line `kill` is printed."""

import asyncio
import os
import sys

from boxkeep import AsyncSandbox, FileExists, FileNotFound, SessionNotFound
from waiting import show

address, key, directory = sys.argv[1:4]
work = os.path.join(directory, "work")
a, b, c, d = (os.path.join(work, name) for name in "abcd")


async def main():
    async with await AsyncSandbox.connect(address, key) as box:
        await files(box)
        await code(box)


async def files(box):
    files = box.files
    await files.make_directory(work)
    await files.write(a, "one\ntwo\n", mode="600")
    await files.write(a, "three\n", append=True)
    show("read", (await files.read(a, start_line=1)).content)
    await files.edit(a, {"old_str": "two", "new_str": "zwei"})
    stat = await files.stat(a)
    show("stat", [stat.mode, stat.size])
    await files.copy(a, b)
    await files.move(b, c)
    show("list", sorted(file.name for file in (await files.list(work)).files))
    show("search", len((await files.search(work, "*c")).files))
    show("grep", len((await files.grep(work, "zwei", max_results=1)).matches))
    await files.delete(c)
    try:
        await files.read(c)
    except FileNotFound as error:
        show("gone", [error.code, error.status, error.data.errno_name])
    try:
        await files.write(a, "x", if_none_match="*")
    except FileExists as error:
        show("kept", [error.code, error.retryable])
    show("kill", 0)
    # What waits for the daemon is repeated where a repeat has no second effect.
    show("read again", (await files.read(a)).content)
    await files.write(d, "d")
    show("written again", True)
    # The daemon was killed and serves again. Connections to the dead one end with a call that is repeated.
    await asyncio.to_thread(sys.stdin.readline)
    await box.wait_until_ready()
    show("by name", (await box.call("files.stat", path=a)).size)


async def code(box):
    run = await box.code.run("javascript", "console.log([1, 2].map((x) => x * 2))")
    show("run", [run.status, run.stdout])
    session = await box.code.session(language="python", id="kept")
    await session.run("x = 20")
    same = await box.code.session(language="python", id="kept")
    show("session", (await same.run("print(x + 1)")).stdout)
    failed = await same.run("1 / 0")
    show("failed", [failed.status, failed.outputs[0].ename])
    show("sessions", list((await box.code.list()).sessions))
    await same.close()
    try:
        await box.code.connect("kept")
    except SessionNotFound as error:
        show("closed", error.code)


asyncio.run(main())
