"""A boxkeep sandbox as a sandbox environment of Inspect AI, under the name `boxkeep`.

Each sample has a directory of its own in the sandbox, which goes with the sample.
"""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from .._async._sandbox import AsyncSandbox
from .._errors import BoxError
from .._wire import BadArgument
from ._account import Right, denied, may, os_error
from ._framework import framework, implements_all
from ._run import run

with framework("inspect-ai", "inspect"):
    from inspect_ai.util import (
        ExecResult,
        OutputLimitExceededError,
        SandboxConnection,
        SandboxEnvironment,
        SandboxEnvironmentConfigType,
        SandboxEnvironmentLimits,
        SandboxUnavailableError,
        sandboxenv,
    )
    from pydantic import BaseModel

if TYPE_CHECKING:
    from .. import types

# The exit codes of a shell.
CANNOT_RUN = 126
NOT_FOUND = 127


class BoxkeepConfig(BaseModel):
    """The address of the daemon. Its key is in `SVC_API_KEY`, because Inspect writes configurations into its logs."""

    address: str


@sandboxenv(name="boxkeep")
class BoxkeepSandboxEnvironment(SandboxEnvironment):
    """Without a configuration, the address is in `BOXKEEP_URL`."""

    def __init__(self, box: AsyncSandbox, directory: str) -> None:
        super().__init__()
        self._box = box
        self.directory = directory

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        box = AsyncSandbox(_address(config), os.environ.get("SVC_API_KEY"))
        # A command makes the directory, so that it belongs to the account. Other accounts may be asked for later.
        made = await run(box, 'directory=$(mktemp -d) && chmod 755 "$directory" && printf %s "$directory"', {})
        if made.exit_code != 0:
            await box.close()
            raise SandboxUnavailableError(f"no directory for the sample: {made.stderr}")
        return {"default": cls(box, made.stdout)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            own = environment.as_type(BoxkeepSandboxEnvironment)
            try:
                await own.exec(["rm", "-rf", "--", own.directory], cwd="/")
            finally:
                await own._box.close()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return BoxkeepConfig(**config)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        options: types.CommandsRunMore = {
            "shell": "none",
            "args": cmd[1:],
            "cwd": self._path(cwd or "."),
            "env": env or {},
            "output": False,
            "max_output_length": limit,
        }
        if user is not None:
            options["user"] = user
        if timeout is not None:
            options["hard_timeout"] = timeout
        try:
            result = await run(self._box, cmd[0], options, input.encode() if isinstance(input, str) else input)
        except BadArgument as error:
            # The account or the directory does not exist.
            return ExecResult(False, CANNOT_RUN, "", str(error))
        except BoxError as error:
            raise _unavailable(error) from error
        return _result_of(result, cmd[0], timeout, limit)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        path = self._path(file)
        try:
            await self._check("w", path)
            await self._box.files.upload(contents.encode() if isinstance(contents, str) else contents, path)
        except BoxError as error:
            raise (os_error(error, path) or _unavailable(error)) from error

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        path = self._path(file)
        try:
            await self._check("r", path)
            stat = await self._box.files.stat(path)
            if stat.size > SandboxEnvironmentLimits.MAX_READ_FILE_SIZE and not stat.is_directory:
                raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
            content = await (await self._box.files.download(path)).bytes()
        except BoxError as error:
            raise (os_error(error, path) or _unavailable(error)) from error
        return content.decode() if text else content

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        session = posixpath.basename(self.directory).replace(".", "-")
        return SandboxConnection(type="boxkeep", command=f"boxkeep attach {self._box.address} {session}")

    def default_polling_interval(self) -> float:
        return 0.2

    def _path(self, file: str) -> str:
        return posixpath.join(self.directory, file)

    async def _check(self, want: Right, path: str) -> None:
        if (await self._box.commands.run(**may(want, path))).exit_code != 0:
            raise denied(path)


implements_all(BoxkeepSandboxEnvironment, "inspect-ai", "inspect")


def _address(config: SandboxEnvironmentConfigType | None) -> str:
    address = cast("BoxkeepConfig", config).address if config is not None else os.environ.get("BOXKEEP_URL")
    if not address:
        raise SandboxUnavailableError("no address of a daemon: set BOXKEEP_URL, or pass a BoxkeepConfig")
    return address


def _result_of(run: types.CommandResult, program: str, timeout: int | None, limit: int) -> ExecResult[str]:
    if run.status == "timed_out":
        late = TimeoutError(f"Command timed out after {timeout} seconds")
        late.truncated_output = run.stdout + run.stderr  # type: ignore[attr-defined]
        raise late
    if run.error is not None:
        if run.error.errno_name in ("EACCES", "EPERM"):
            raise PermissionError(run.error.errno, run.error.message, program)
        code = NOT_FOUND if run.error.errno_name == "ENOENT" else CANNOT_RUN
        return ExecResult(False, code, run.stdout, run.error.message)
    if run.exit_code is None:
        raise SandboxUnavailableError(f"how {program} has ended is not known: its status is {run.status}")
    if run.truncated or max(run.offset, run.stderr_offset) > limit:
        raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, run.stdout + run.stderr)
    return ExecResult(run.exit_code == 0, run.exit_code, run.stdout, run.stderr)


def _unavailable(error: BoxError) -> Exception:
    return SandboxUnavailableError(str(error)) if error.retryable else error
