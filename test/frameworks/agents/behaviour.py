"""Calls the methods of an adapter that every framework has, and finds what each of them has to do."""

import asyncio
import os


async def behaviour(directory, run, read, write):
    """`run` returns the exit code and both streams, with "timed out" as the code after a time limit."""
    program = "sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait"
    gone = "while kill -0 $(cat {}) 2>&-; do sleep 0.05; done; echo gone"
    at = lambda name: os.path.join(directory, name)
    found = {
        "streams": await run("printf out; printf err >&2; exit 3"),
        "absent program": (await run("no-such-program"))[0],
        "100 KB": (await run(f": {'x' * 100_000}; printf done"))[1],
        "no input": (await run("cat; printf end"))[1],
    }

    await write(at("new\nline/a\nb"), b"\xff\0\r\n")
    found["bytes"] = (await read(at("new\nline/a\nb"))).hex()
    name = at("new\nline/a\nb")
    found["owner"] = (await run(f"[ -O '{name}' ] && printf own"))[1]
    found["read absent"] = await failure(read(at("absent")))
    found["read directory"] = await failure(read(directory))
    await run(f"ln -s ../hidden/secret {at('shortcut')}")
    refused = [at("secret"), at("shortcut"), "/proc/self/environ"]
    found["read refused"] = [await failure(read(path)) for path in refused]
    await run(f"rm {at('shortcut')}")
    found["write directory"] = await failure(write(directory, b""))
    found["write refused"] = await failure(write(at("closed/new/file"), b""))

    limited = await run(program.format(at("limited")), timeout=4)
    found["timeout"] = [limited[0], (await run(gone.format(at("limited"))))[1]]

    task = asyncio.create_task(run(program.format(at("cancelled"))))
    await run(f"until [ -e {at('cancelled')} ]; do sleep 0.05; done")
    task.cancel()
    await asyncio.wait([task])
    found["cancelled"] = [task.cancelled(), (await run(gone.format(at("cancelled"))))[1]]
    return found


async def failure(call):
    try:
        await call
    except Exception as error:
        # Its class is what the framework decides by, so it is the finding.
        return type(error).__name__
    return "no error"
