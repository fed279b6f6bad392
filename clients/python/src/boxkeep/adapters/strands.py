"""A sandbox for Strands Agents: `Agent(sandbox=BoxkeepSandbox(address, key))`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from .._output import Ending, Gap, Output, OutputEvent
from ._framework import framework, implements_all
from ._remote import Remote, described, exit_code_of

with framework("strands-agents", "strands"):
    from strands.sandbox.base import Sandbox
    from strands.sandbox.constants import LANGUAGE_PATTERN
    from strands.sandbox.errors import SandboxPathNotFoundError, SandboxTimeoutError
    from strands.sandbox.posix_shell import validate_env_keys
    from strands.sandbox.types import ExecutionResult, FileInfo, StreamChunk
    from strands.types.tools import AgentTool
    from strands.vended_tools.file_editor import make_file_editor
    from strands.vended_tools.shell import make_shell


class BoxkeepSandbox(Sandbox):
    """Commands run as `user`, by default the account of the daemon's settings, and begin in `working_dir`."""

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        user: str | None = None,
        working_dir: str | None = None,
    ) -> None:
        self._remote = Remote(address, key, user=user, cwd=working_dir)

    async def execute_streaming(
        self,
        command: str,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[StreamChunk | ExecutionResult, None]:
        """A time limit ends the whole process tree, and raises a SandboxTimeoutError with the output so far."""
        validate_env_keys(env or {})
        async for chunk in self._chunks(command, timeout, cwd=cwd, env=env):
            yield chunk

    async def execute_code_streaming(
        self,
        code: str,
        language: str,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[StreamChunk | ExecutionResult, None]:
        """The interpreter reads the code from its standard input."""
        if not LANGUAGE_PATTERN.fullmatch(language):
            raise ValueError(f"language parameter contains invalid characters: {language}")
        validate_env_keys(env or {})
        async for chunk in self._chunks(f"exec {language}", timeout, cwd=cwd, env=env, stdin={"data": code}):
            yield chunk

    async def read_file(self, path: str, **kwargs: Any) -> bytes:
        return await self._remote.read(path)

    async def write_file(self, path: str, content: bytes, **kwargs: Any) -> None:
        await self._remote.write(path, content)

    async def remove_file(self, path: str, **kwargs: Any) -> None:
        await self._remote.delete(path)

    async def list_files(self, path: str, **kwargs: Any) -> list[FileInfo]:
        try:
            entries = await self._remote.list(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SandboxPathNotFoundError(path) from error
        return [FileInfo(entry.name, entry.is_directory, entry.size) for entry in entries]

    def get_tools(self) -> list[AgentTool]:
        return [
            make_file_editor(sandbox=self, name="sandbox_file_editor"),
            make_shell(sandbox=self, name="sandbox_shell"),
        ]

    async def close(self) -> None:
        """Closes the connections. Commands go on."""
        await self._remote.close()

    async def _chunks(
        self, command: str, timeout: float | None, **more: Any
    ) -> AsyncGenerator[StreamChunk | ExecutionResult, None]:
        texts = {"stdout": "", "stderr": ""}
        async for event in self._remote.stream(command, timeout_s=timeout, **more):
            if isinstance(event, Ending):
                if event.status == "timed_out":
                    raise SandboxTimeoutError(timeout, texts["stdout"], texts["stderr"])
                yield ExecutionResult(exit_code_of(event), texts["stdout"], texts["stderr"])
                return
            chunk = _chunk(event)
            texts[chunk.stream_type] += chunk.data
            yield chunk


def _chunk(event: OutputEvent) -> StreamChunk:
    if isinstance(event, Output):
        return StreamChunk(event.text, event.type)
    assert isinstance(event, Gap)
    return StreamChunk(described(event), event.stream)


implements_all(BoxkeepSandbox, "strands-agents", "strands")
