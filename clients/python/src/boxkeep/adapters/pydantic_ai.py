"""A directory in a boxkeep sandbox as a workspace backend of Pydantic AI.

The environment is the directory. Its path is the ref, so a backend that is built again from the ref goes on there.
"""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from .._errors import BoxError
from .._wire import BadArgument, FileNotFound
from ._account import Right, above, denied, may, os_error
from ._framework import framework, implements_all
from ._run import run

with framework("pydantic-ai-slim", "pydantic-ai"):
    from pydantic_ai.workspaces import (
        CommandResult,
        FileEntry,
        SupportsCommands,
        SupportsFilesystem,
        SupportsRealpath,
        WorkspaceBackend,
        WorkspaceCommand,
        WorkspaceError,
        WorkspaceOutputLimitError,
        WorkspaceRef,
        WorkspaceTimeoutError,
        WorkspaceUnavailableError,
    )
    from pydantic_ai.workspaces.protocol import validate_timeout

if TYPE_CHECKING:
    from .. import types
    from .._async._sandbox import AsyncSandbox

PROVIDER = "boxkeep"

# The exit codes of a shell.
CANNOT_RUN = 126
NOT_FOUND = 127

# As many as the kernel follows.
MAX_LINKS = 40

_MAKE = 'mkdir -p -- "$1" && cd -- "$1" && pwd -P'
_ENTER = 'cd -- "$1" && pwd -P'

Answer = TypeVar("Answer")


class BoxkeepWorkspaceBackend(WorkspaceBackend, SupportsCommands, SupportsFilesystem, SupportsRealpath):
    """Makes a directory below `parent` when it is first used, or attaches to the one that `ref` names."""

    def __init__(self, box: AsyncSandbox, *, ref: WorkspaceRef | None = None, parent: str = "/tmp") -> None:
        if ref is not None and ref.provider != PROVIDER:
            raise ValueError(f"the ref is one of {ref.provider}, not of {PROVIDER}")
        self._box = box
        self._ref = ref
        self._parent = parent
        self._directory: str | None = None
        self._lock = anyio.Lock()

    @property
    def ref(self) -> WorkspaceRef | None:
        return self._ref

    async def working_dir(self) -> str:
        async with self._lock:
            if self._directory is not None:
                return self._directory
            # A directory whose making is cancelled would stay without a ref.
            with anyio.CancelScope(shield=True):
                self._directory = await (self._attach(self._ref) if self._ref else self._make())
                return self._directory
        raise AssertionError("a shield swallows no error")

    async def run(
        self,
        command: WorkspaceCommand,
        *,
        shell: bool = False,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> CommandResult:
        validate_timeout(timeout)
        options: types.CommandsRunMore = {
            "cwd": await self.working_dir(),
            "env": dict(env or {}),
            "output": False,
            "max_output_length": 0,
        }
        if isinstance(command, str):
            if not shell:
                raise TypeError("a string command requires shell=True; pass an argv sequence otherwise")
            program = command
        else:
            if shell:
                raise TypeError("an argv sequence cannot be combined with shell=True; pass a command string")
            program, options["shell"], options["args"] = command[0], "none", list(command[1:])
        if timeout is not None:
            options["hard_timeout"] = timeout
        result = await self._in_directory(lambda: run(self._box, program, options))
        # The directory may have gone while the command ran.
        await self._look()
        return _result_of(result, timeout)

    async def read_bytes(self, path: str) -> bytes:
        async def read() -> bytes:
            download = await self._box.files.download(path)
            return await download.bytes()

        await self._check("r", path)
        return await _file(path, read)

    async def write_bytes(self, path: str, data: bytes) -> None:
        await self._check("w", path)
        await _file(path, lambda: self._box.files.upload(data, path))

    async def stat(self, path: str) -> FileEntry:
        await self._look()
        stat = await _file(path, lambda: self._box.files.stat(path))
        return _entry(path, stat.is_directory, stat.size)

    async def list_dir(self, path: str) -> Sequence[FileEntry]:
        await self._check("r", path)
        entries: list[FileEntry] = []
        options: types.FilesListMore = {}
        while True:
            page = await _file(path, lambda: self._box.files.list(path, **options))
            entries += [_entry(posixpath.join(path, file.name), file.is_directory, file.size) for file in page.files]
            if page.next_cursor is None:
                return entries
            options["cursor"] = page.next_cursor

    async def make_dir(self, path: str) -> None:
        await self._check("w", path)
        await self._again(path, "files.mkdir", parents=True)

    async def remove(self, path: str) -> None:
        root = await self.working_dir()
        await self._look()
        stat = await _file(path, lambda: self._box.files.stat(path, follow_symlinks=False))
        real = stat.real_path or path
        if not stat.is_symlink and posixpath.commonpath([real, root]) == real:
            raise ValueError("cannot remove the workspace root or its ancestor")
        # The entry stands in the directory above, and that is what changes.
        await self._check("w", above(path))
        try:
            await self._again(path, "files.delete", recursive=True)
        except FileNotFoundError as error:
            # Where the answer to the first request was lost, the second one finds nothing.
            if not getattr(error.__cause__, "is_maybe_done", False):
                raise

    async def exists(self, path: str) -> bool:
        try:
            await self.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    async def realpath(self, path: str) -> str:
        await self._look()
        real, rest, links = "/", _names(path), 0
        while rest:
            name = rest.pop()
            if name == "..":
                real = posixpath.dirname(real)
                continue
            entry = posixpath.join(real, name)
            target = await self._target(entry)
            if target is None or links == MAX_LINKS:
                real = entry
                continue
            links += 1
            rest += _names(target)
            if target.startswith("/"):
                real = "/"
        return real

    async def _target(self, path: str) -> str | None:
        """What a link names; None of other entries, and of what does not exist."""
        try:
            stat = await _file(path, lambda: self._box.files.stat(path, follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return stat.target if stat.is_symlink else None

    async def _make(self) -> str:
        # The client names the directory, so that a repeated request makes it once.
        directory = posixpath.join(self._parent, f"pydantic-ai-{secrets.token_hex(8)}")
        made = await run(self._box, "sh", _script(_MAKE, directory))
        if made.exit_code != 0:
            raise WorkspaceUnavailableError(f"cannot make {directory}: {made.stderr.strip()}")
        self._ref = WorkspaceRef(provider=PROVIDER, id=directory)
        return made.stdout.removesuffix("\n")

    async def _attach(self, ref: WorkspaceRef) -> str:
        entered = await run(self._box, "sh", _script(_ENTER, ref.id))
        if entered.exit_code != 0:
            raise WorkspaceUnavailableError(f"cannot enter {ref.id}: {entered.stderr.strip()}")
        return entered.stdout.removesuffix("\n")

    async def _look(self) -> None:
        """Raises WorkspaceUnavailableError unless the environment exists."""
        directory = await self.working_dir()
        try:
            await self._box.files.stat(directory)
        except FileNotFound as error:
            raise WorkspaceUnavailableError(f"{directory} does not exist") from error

    async def _in_directory(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            return await work()
        except BadArgument:
            # A directory that is gone is one reason of several.
            await self._look()
            raise

    async def _check(self, want: Right, path: str) -> None:
        if not path.startswith("/"):
            raise ValueError(f"path must be absolute, got {path!r}")
        cwd = await self.working_dir()
        asked = await self._in_directory(lambda: self._box.commands.run(cwd=cwd, **may(want, path)))
        if asked.exit_code != 0:
            raise denied(path)

    async def _again(self, path: str, name: str, **fields: Any) -> None:
        """Repeats a call whose second time has no effect."""
        await _file(path, lambda: self._box._transport.call(name, path=path, is_repeatable=True, **fields))


implements_all(BoxkeepWorkspaceBackend, "pydantic-ai-slim", "pydantic-ai")


async def _file(path: str, work: Callable[[], Awaitable[Answer]]) -> Answer:
    try:
        return await work()
    except BoxError as error:
        raise (os_error(error, path) or error) from error


def _names(path: str) -> list[str]:
    """The parts of a path, the last one first."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _script(script: str, directory: str) -> types.CommandsRunMore:
    return {"shell": "none", "args": ["-c", script, "sh", directory]}


def _entry(path: str, is_directory: bool, size: int | None) -> FileEntry:
    return FileEntry(
        name=posixpath.basename(path.rstrip("/")), path=path, is_dir=is_directory, size=None if is_directory else size
    )


def _result_of(run: types.CommandResult, timeout: float | None) -> CommandResult:
    if run.truncated:
        length = len(run.stdout) + len(run.stderr)
        raise WorkspaceOutputLimitError(
            "the daemon keeps no more of the output", limit=length, stdout=run.stdout, stderr=run.stderr
        )
    if run.status == "timed_out":
        late = f"command timed out after {timeout:g}s and was killed"
        raise WorkspaceTimeoutError(late, stdout=run.stdout, stderr=run.stderr)
    if run.error is not None:
        code = NOT_FOUND if run.error.errno_name == "ENOENT" else CANNOT_RUN
        return CommandResult(exit_code=code, stdout=run.stdout, stderr=run.error.message)
    if run.exit_code is None:
        raise WorkspaceError(f"how the command has ended is not known: its status is {run.status}")
    return CommandResult(exit_code=run.exit_code, stdout=run.stdout, stderr=run.stderr)
