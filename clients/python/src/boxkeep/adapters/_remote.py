"""A sandbox for frameworks with coroutines: programs with a time limit, whole files, and failures as OSError."""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .._async._commands import AsyncCommandHandle
from .._async._sandbox import AsyncSandbox
from .._errors import BoxError
from .._output import Ending, Gap, Output, OutputEvent
from .._wire import FileNotFound
from ._account import Right, above, denied, may, os_error

if TYPE_CHECKING:
    from .. import types

# Exit codes of shells for programs that do not start.
EXIT_CODES = {"ENOENT": 127, "EACCES": 126}


class Finished(NamedTuple):
    """A program that has ended, with all its output."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    is_timed_out: bool


class Remote:
    """Sends nothing when it is made. `user`, `cwd` and `env` hold for every command."""

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        user: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.address = address
        self.cwd = cwd
        self._key = key
        self._user: dict[str, Any] = {} if user is None else {"user": user}
        self._env = dict(env or {})
        self._boxes: dict[asyncio.AbstractEventLoop, AsyncSandbox] = {}
        self._info: types.Sandbox | None = None

    @property
    def box(self) -> AsyncSandbox:
        """A client of the event loop that runs: frameworks may call a tool in a loop of its own."""
        loop = asyncio.get_running_loop()
        for ended in [one for one in self._boxes if one.is_closed()]:
            del self._boxes[ended]
        if loop not in self._boxes:
            self._boxes[loop] = AsyncSandbox(self.address, self._key)
        return self._boxes[loop]

    async def close(self) -> None:
        """Closes the connections. Commands go on."""
        box = self._boxes.pop(asyncio.get_running_loop(), None)
        if box is not None:
            await box.close()

    async def stream(self, command: str, *, timeout_s: float | None = None, **more: Any) -> AsyncIterator[OutputEvent]:
        """The output of a command and its end. A command that is not read to its end is killed with its children."""
        starting = asyncio.ensure_future(self.start(command, timeout_s=timeout_s, **more))
        has_ended = False
        try:
            handle = await asyncio.shield(starting)
            async for event in handle:
                has_ended = isinstance(event, Ending)
                yield _with_exit_code(handle, event) if isinstance(event, Ending) else event
        finally:
            if not has_ended:
                await asyncio.shield(_kill(starting))

    async def start(self, command: str, *, timeout_s: float | None = None, **more: Any) -> AsyncCommandHandle:
        """Starts a command, which goes on when nobody reads its output."""
        cwd = more.pop("cwd", None) or self.cwd
        options: dict[str, Any] = {
            "stdin": "null",
            "env": {**self._env, **(more.pop("env", None) or {})},
            **({} if cwd is None else {"cwd": cwd}),
            **({} if timeout_s is None else {"hard_timeout": timeout_s}),
            **self._user,
            **more,
        }
        return await self.box.commands.start(command, **options)

    async def run(self, command: str, *, timeout_s: float | None = None, **more: Any) -> Finished:
        """Runs a command to its end; after `timeout_s`, its whole process tree is ended."""
        streams: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        async for event in self.stream(command, timeout_s=timeout_s, **more):
            if isinstance(event, Output):
                streams[event.type].append(event.bytes)
            elif isinstance(event, Gap):
                streams[event.stream].append(described(event).encode())
            else:
                whole = {name: b"".join(pieces) for name, pieces in streams.items()}
                return Finished(**whole, exit_code=exit_code_of(event), is_timed_out=event.status == "timed_out")
        raise AssertionError("output ends with an exit")

    async def repeat(self, name: str, /, **fields: Any) -> None:
        """Calls a route of files that does the same twice as once, again where the answer is lost."""
        await self.box._transport.call(name, is_repeatable=True, **{**self._user, **fields})

    def path(self, path: str) -> str:
        return posixpath.join(self.cwd or "", path)

    async def read(self, path: str) -> bytes:
        return b"".join([piece async for piece in self.pieces(path)])

    async def pieces(self, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file as it comes."""
        path = self.path(path)
        with os_errors(path):
            await self.check("r", path)
            async for piece in await self.box.files.download(path, **self._user):
                yield piece

    async def write(self, path: str, content: bytes, **user: str) -> None:
        """Replaces the file as a whole, and makes the directories above it. Both belong to the account."""
        path = self.path(path)
        with os_errors(path):
            if not user:
                await self.check("w", path)
            await self.box.files.upload(content, path, **{**self._user, **user})

    async def delete(self, path: str) -> None:
        path = self.path(path)
        with os_errors(path):
            await self.check("w", above(path))
            if (await self.box.files.stat(path, follow_symlinks=False)).is_directory:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            with suppress(FileNotFound):
                # A request that was repeated finds that the first one has deleted it.
                await self.repeat("files.delete", path=path)

    async def list(self, path: str, **more: Any) -> list[Any]:
        """The entries of a directory."""
        path = self.path(path)
        entries: list[Any] = []
        with os_errors(path):
            await self.check("r", path)
            page: dict[str, Any] = {}
            while True:
                answer = await self.box.files.list(path, **more, **page, **self._user)
                entries += answer.files
                if answer.next_cursor is None:
                    return entries
                page = {"cursor": answer.next_cursor}

    async def check(self, want: Right, path: str) -> None:
        """Raises a PermissionError for what the account that runs the commands may not do itself."""
        if self._info is None:
            self._info = await self.box.info()
        account = self._user.get("user", self._info.default_user)
        if account in (None, self._info.user, str(self._info.uid)):
            return
        if (await self.run(cwd="/" if path.startswith("/") else self._info.workspace_dir, **may(want, path))).exit_code:
            raise denied(path)


def exit_code_of(ending: Ending) -> int:
    if ending.exit_code is None:
        hint = "Look at its output and at what it has done before you run it again."
        raise BoxError("the keeper of the command died, so nobody knows how it ended", hint=hint)
    return ending.exit_code


def described(gap: Gap) -> str:
    return f"\n[{gap.to - gap.from_} bytes are not kept]\n"


def command_line(argv: list[str]) -> dict[str, Any]:
    """A program and its arguments, for `run` and `stream`."""
    return {"command": argv[0], "args": argv[1:], "shell": "none"}


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """A failed file operation becomes the OSError of its number, such as FileNotFoundError."""
    try:
        yield
    except BoxError as error:
        failure = os_error(error, path)
        if failure is None:
            raise
        raise failure from error


def _with_exit_code(handle: AsyncCommandHandle, ending: Ending) -> Ending:
    """A program that could not be started ends as it does in a shell."""
    failure = handle.record.error
    if failure is None or ending.status != "failed":
        return ending
    return Ending(ending.status, EXIT_CODES.get(failure.errno_name or "", 126), None)


async def kill(handle: AsyncCommandHandle) -> None:
    """Ends the command with its children; what has ended already stays as it is."""
    await handle._transport.call("commands.kill", command_id=handle.id, is_repeatable=True)


async def _kill(starting: asyncio.Future[AsyncCommandHandle]) -> None:
    # Where nothing has started, or the daemon stays away, the caller has an error already or has gone.
    with suppress(BoxError):
        await kill(await starting)
