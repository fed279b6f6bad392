"""A backend for the tools of AgentScope: `Toolkit(tools=tools_of(BoxkeepBackend(address, key)))`."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from .._errors import BoxError
from .._wire import FileNotFound
from ._account import above
from ._framework import framework, implements_all
from ._remote import Remote, command_line, os_errors

with framework("agentscope", "agentscope"):
    from agentscope.tool import BackendBase, Bash, DirEntry, Edit, ExecResult, Grep, Read, ToolBase, Write

ABSENT = ("ENOENT", "ENOTDIR")


class BoxkeepBackend(BackendBase):
    """Programs run as `user`, by default the account of the daemon's settings, and begin in `workdir`."""

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        user: str | None = None,
        workdir: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._remote = Remote(address, key, user=user, cwd=workdir, env=env)

    async def exec_shell(
        self, command: list[str], *, cwd: str | None = None, timeout: float | None = None
    ) -> ExecResult:
        """A time limit ends the whole process tree."""
        try:
            if command[0] == "rg":
                # The Grep tool runs the ripgrep of the daemon, because few images have one.
                command = [await self._ripgrep(), *command[1:]]
            run = await self._remote.run(timeout_s=timeout, cwd=cwd, **command_line(command))
        except BoxError as error:
            return ExecResult(-1, b"", str(error).encode())
        if run.is_timed_out:
            # The tools know a time limit by these two.
            return ExecResult(-1, run.stdout, b"timed out")
        return ExecResult(run.exit_code, run.stdout, run.stderr)

    async def read_file(self, path: str) -> bytes:
        return await self._remote.read(path)

    async def write_file(self, path: str, data: bytes) -> None:
        await self._remote.write(path, data)

    # What follows needs no GNU programs in the image, unlike the methods of the base class.

    async def getcwd(self) -> str:
        return posixpath.join((await self._remote.box.info()).workspace_dir, self._remote.cwd or "")

    async def file_exists(self, path: str) -> bool:
        return await self.stat(path) is not None

    async def is_dir(self, path: str) -> bool:
        entry = await self.stat(path)
        return entry is not None and entry.is_dir

    async def stat(self, path: str) -> DirEntry | None:
        try:
            found = await self._remote.box.files.stat(self._remote.path(path))
        except BoxError as error:
            if error.data.get("errno_name") in ABSENT:
                return None
            raise
        return _entry(posixpath.basename(path.rstrip("/")), found)

    async def stat_mtime(self, path: str) -> float | None:
        entry = await self.stat(path)
        return None if entry is None else entry.mtime

    async def scandir(self, path: str) -> list[DirEntry]:
        entries = []
        for entry in await self._listed(path):
            # A link is what it leads to; one that leads nowhere has no size.
            target = await self.stat(entry.path) if entry.is_symlink else _entry(entry.name, entry)
            entries.append(target or DirEntry(entry.name, is_dir=False))
        return entries

    async def list_dir(self, path: str, *, recursive: bool = False) -> list[str]:
        if not recursive:
            return [entry.name for entry in await self._listed(path)]
        found = await self._listed(path, recursive=True)
        root = self._remote.path(path)
        return [posixpath.join(root, entry.path) for entry in found if not (entry.is_directory or entry.is_symlink)]

    async def delete_path(self, path: str) -> None:
        path = self._remote.path(path)
        with os_errors(path):
            await self._remote.check("w", above(path))
            with suppress(FileNotFound):
                await self._remote.repeat("files.delete", path=path, recursive=True)

    async def close(self) -> None:
        """Closes the connections. Programs go on."""
        await self._remote.close()

    async def _ripgrep(self) -> str:
        files: Any = (await self._remote.box.info()).capabilities["files"]
        return files.ripgrep or "rg"

    async def _listed(self, path: str, **more: Any) -> list[Any]:
        try:
            return await self._remote.list(path, **more)
        except OSError:
            # The base class answers so for a directory that is absent or cannot be read.
            return []


def tools_of(backend: BoxkeepBackend) -> list[ToolBase]:
    """The tools of AgentScope for programs and files, but Glob, which needs Python and a script in the sandbox."""
    return [tool(backend=backend) for tool in (Bash, Edit, Grep, Read, Write)]


def _entry(name: str, found: Any) -> DirEntry:
    modified = found.modified_time and datetime.fromisoformat(found.modified_time.replace("Z", "+00:00")).timestamp()
    return DirEntry(name, found.is_directory, None if found.is_directory else found.size, modified)


implements_all(BoxkeepBackend, "agentscope", "agentscope")
