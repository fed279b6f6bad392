"""An environment for the Agent Development Kit: `EnvironmentToolset(environment=BoxkeepEnvironment(address, key))`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from ._framework import framework, implements_all
from ._remote import Remote

with framework("google-adk", "adk"):
    from google.adk.environment import BaseEnvironment
    from google.adk.environment._base_environment import ExecutionResult


class BoxkeepEnvironment(BaseEnvironment):
    """Commands run as `user`, by default the account of the daemon's settings.

    `working_dir` is made when it is not there; without it, commands begin in the workspace of the daemon.
    """

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        user: str | None = None,
        working_dir: str | os.PathLike[str] | None = None,
        env_vars: Mapping[str, str] | None = None,
    ) -> None:
        cwd = None if working_dir is None else os.fspath(working_dir)
        self._remote = Remote(address, key, user=user, cwd=cwd, env=env_vars)
        self._working_dir: Path | None = None

    @property
    def working_dir(self) -> Path:
        if self._working_dir is None:
            raise RuntimeError("`working_dir` is not known. Call initialize() first.")
        return self._working_dir

    async def initialize(self) -> None:
        # An absolute path stands for itself.
        directory = Path((await self._remote.box.info()).workspace_dir, self._remote.cwd or "")
        if self._remote.cwd is not None:
            made = await self._remote.run(f"mkdir -p -- {shlex.quote(str(directory))}", cwd="/")
            if made.exit_code != 0:
                raise OSError(made.stderr.decode(errors="replace").strip())
        self._remote.cwd = str(directory)
        self._working_dir = directory
        self._is_initialized = True

    async def close(self) -> None:
        """Closes the connections. What was made in the sandbox stays there."""
        await self._remote.close()
        self._is_initialized = False

    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:
        """A time limit ends the whole process tree."""
        run = await self._remote.run(command, timeout_s=timeout)
        return ExecutionResult(
            exit_code=run.exit_code,
            stdout=run.stdout.decode(errors="replace"),
            stderr=run.stderr.decode(errors="replace"),
            timed_out=run.is_timed_out,
        )

    async def read_file(self, path: str | os.PathLike[str]) -> bytes:
        return await self._remote.read(os.fspath(path))

    async def write_file(self, path: str | os.PathLike[str], content: str | bytes) -> None:
        await self._remote.write(os.fspath(path), content.encode() if isinstance(content, str) else content)


implements_all(BoxkeepEnvironment, "google-adk", "adk")
