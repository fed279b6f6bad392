"""What type checkers read from the client. The test adds lines that are wrong."""

from __future__ import annotations

from boxkeep import AsyncSandbox, BoxError, Ending, FileNotFound, Gap, Sandbox, types


def synchronous(box: Sandbox) -> int:
    run = box.commands.run("make", cwd="/srv", env={"A": None}, timeout_s=3)
    stdout: str = run.stdout
    code: int | None = run.exit_code
    for event in box.commands.start("make"):
        if isinstance(event, Ending):
            code = event.exit_code
        elif isinstance(event, Gap):
            stdout += f"{event.to - event.from_} bytes are missing"
        else:
            stdout += event.text
    entries: list[types.FileEntry] = box.files.list("/srv", recursive=True).files
    box.files.edit("/srv/a", [{"old_str": "a", "new_str": "b"}], dry_run=True)
    size: int = box.call("files.stat", path="/srv/a").size
    status: str = box.wait_until_ready().status
    try:
        session = box.code.session(language="python", id="work")
        status = session.run("1", timeout=3).status
    except FileNotFound as error:
        code = error.status
    except BoxError as error:
        status = error.code if error.code != "gave_up" else status
    return size + len(entries) + len(stdout) + (code or 0)


async def asynchronous() -> list[str]:
    async with await AsyncSandbox.connect("localhost") as box:
        handle = await box.commands.connect("a", stdout=3)
        await handle.write(b"a")
        ending = await handle.wait()
        reveal: Ending = ending
        pieces = [event.text async for event in handle if event.type == "stdout"]
        return [*pieces, reveal.status, (await box.files.read("/srv/a", start_line=1)).content]
