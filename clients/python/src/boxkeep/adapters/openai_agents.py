"""A sandbox for the OpenAI Agents SDK: `SandboxRunConfig(client=BoxkeepSandboxClient(address, key))`."""

from __future__ import annotations

import asyncio
import io
import tarfile
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from .._async._commands import AsyncCommandHandle
from .._async._sandbox import AsyncSandbox
from .._errors import BoxError
from .._output import Ending, Output
from ._framework import framework, implements_all
from ._remote import Remote, command_line, described, exit_code_of, kill, os_errors

with framework("openai-agents", "openai-agents"):
    from agents.sandbox import errors
    from agents.sandbox.manifest import Manifest
    from agents.sandbox.session import SandboxSession, SandboxSessionState, pty_types
    from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
    from agents.sandbox.session.mount_lifecycle import with_ephemeral_mounts_removed
    from agents.sandbox.session.pty_output import collect_pty_output
    from agents.sandbox.session.runtime_helpers import RESOLVE_WORKSPACE_PATH_HELPER, RuntimeHelperScript
    from agents.sandbox.session.sandbox_client import BaseSandboxClient, BaseSandboxClientOptions
    from agents.sandbox.snapshot import SnapshotBase, SnapshotSpec, resolve_snapshot
    from agents.sandbox.types import ExecResult, ExposedPortEndpoint, User
    from agents.sandbox.util.tar_utils import UnsafeTarMemberError, validate_tar_bytes
    from agents.sandbox.workspace_paths import coerce_posix_path, posix_path_as_path, sandbox_path_str

T = TypeVar("T")

TERMINAL = {"cols": 80, "rows": 24}


class BoxkeepSandboxClientOptions(BaseSandboxClientOptions):
    """`user` is the account of commands, by default that of the daemon's settings."""

    type: Literal["boxkeep"] = "boxkeep"
    user: str | None = None
    exposed_ports: tuple[int, ...] = ()


class BoxkeepSandboxSessionState(SandboxSessionState):
    """Says which sandbox has the workspace. The address and the key are those of the client that resumes it."""

    type: Literal["boxkeep"] = "boxkeep"
    sandbox_id: str
    user: str | None = None


@dataclass
class _Pty:
    """A process that the model talks with, and its output that the model has not seen."""

    handle: AsyncCommandHandle
    tty: bool
    chunks: deque[bytes] = field(default_factory=deque)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    notify: asyncio.Event = field(default_factory=asyncio.Event)
    exit_code: int | None = None
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    pump: asyncio.Task[None] | None = None


class BoxkeepSandboxSession(BaseSandboxSession):
    """The workspace of the manifest in a sandbox that runs already, and goes on after the session."""

    state: BoxkeepSandboxSessionState

    def __init__(self, state: BoxkeepSandboxSessionState, address: str, key: str | None) -> None:
        self.state = state
        # Commands begin at the root until the workspace is there.
        self._remote = Remote(address, key, user=state.user, cwd="/")
        self._ptys: dict[int, _Pty] = {}

    def _runtime_helpers(self) -> tuple[RuntimeHelperScript, ...]:
        return (RESOLVE_WORKSPACE_PATH_HELPER,)

    def _current_runtime_helper_cache_key(self) -> object | None:
        return self.state.sandbox_id

    async def _validate_path_access(self, path: Path | str, *, for_write: bool = False) -> Path:
        return await self._validate_remote_path_access(path, for_write=for_write)

    async def _prepare_backend_workspace(self) -> None:
        root = self._workspace_root_path()
        with _start_errors(root):
            # Belongs to the account of the commands, which may not make it itself.
            await self._remote.repeat("files.mkdir", path=root.as_posix(), parents=True)
        self._remote.cwd = root.as_posix()

    async def _after_shutdown(self) -> None:
        await self._remote.close()

    async def running(self) -> bool:
        try:
            # A daemon that is replaced answers again within this time.
            info = await self._remote.box.info(retry_s=10)
        except BoxError:
            # The SDK asks in order to know this.
            return False
        return info.sandbox_id == self.state.sandbox_id

    async def _exec_internal(self, *command: str | Path, timeout: float | None = None) -> ExecResult:
        """A time limit ends the whole process tree."""
        argv = [str(word) for word in command]
        with _transport_errors(argv):
            run = await self._remote.run(timeout_s=timeout, **await self._options(argv))
        if run.is_timed_out:
            raise errors.ExecTimeoutError(command=argv, timeout_s=timeout)
        return ExecResult(stdout=run.stdout, stderr=run.stderr, exit_code=run.exit_code)

    async def _options(self, argv: list[str]) -> dict[str, Any]:
        env = await self.state.manifest.environment.resolve()
        if argv[:2] == ["sudo", "-u"] and argv[3:4] == ["--"]:
            # The SDK names another account so; the daemon needs no sudo for it.
            return {**command_line(argv[4:]), "env": env, "user": argv[2]}
        return {**command_line(argv), "env": env}

    async def _resolve_exposed_port(self, port: int) -> ExposedPortEndpoint:
        """The port on the host of the daemon, for a sandbox whose ports can be reached as the daemon's can."""
        return ExposedPortEndpoint(urlsplit(self._remote.address).hostname or "localhost", port)

    async def read(self, path: Path | str, *, user: str | User | None = None) -> io.IOBase:
        if user is not None:
            await self._check_read_with_exec(path, user=user)
        place = await self._validate_path_access(path)
        with _read_errors(place):
            return io.BytesIO(await self._remote.read(sandbox_path_str(place)))

    async def _read_bounded(self, path: Path, *, max_bytes: int) -> bytes:
        place = await self._validate_path_access(path)
        found = bytearray()
        with _read_errors(place):
            async with aclosing(self._remote.pieces(sandbox_path_str(place))) as pieces:
                async for piece in pieces:
                    found += piece
                    if len(found) >= max_bytes:
                        break
        return bytes(found[:max_bytes])

    async def write(self, path: Path | str, data: io.IOBase, *, user: str | User | None = None) -> None:
        payload = data.read()
        if isinstance(payload, str):
            payload = payload.encode()
        if not isinstance(payload, (bytes, bytearray)):
            error_path = posix_path_as_path(coerce_posix_path(path))
            raise errors.WorkspaceWriteTypeError(path=error_path, actual_type=type(payload).__name__)
        if user is not None:
            await self._check_write_with_exec(path, user=user)
        place = await self._validate_path_access(path, for_write=True)
        with _write_errors(place):
            await self._remote.write(sandbox_path_str(place), bytes(payload), **_account(user))

    async def persist_workspace(self) -> io.IOBase:
        return await self._beside_mounts(self._pack, errors.WorkspaceArchiveReadError)

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        await self._beside_mounts(lambda: self._unpack(data), errors.WorkspaceArchiveWriteError)

    async def _beside_mounts(self, work: Callable[[], Awaitable[T]], error: type[Any]) -> T:
        root, key = self._workspace_root_path(), "error_before_remount_corruption"
        return await with_ephemeral_mounts_removed(
            self, work, error_path=root, error_cls=error, operation_error_context_key=key
        )

    async def _pack(self) -> io.IOBase:
        root, archive = self._workspace_root_path(), io.BytesIO()
        with _read_errors(root), os_errors(root.as_posix()):
            await self._remote.box.files.download_directory(root.as_posix(), archive)
        archive.seek(0)
        skipped = [path.as_posix() for path in self._persist_workspace_skip_relpaths()]
        return _without(archive, skipped) if skipped else archive

    async def _unpack(self, data: io.IOBase) -> None:
        root, archive = self._workspace_root_path(), data.read()
        try:
            validate_tar_bytes(archive, allow_external_symlink_targets=False)
        except UnsafeTarMemberError as error:
            context = {"reason": "unsafe_or_invalid_tar", "member": error.member, "detail": str(error)}
            raise errors.WorkspaceArchiveWriteError(path=root, context=context, cause=error) from error
        with _write_errors(root), os_errors(root.as_posix()):
            await self._remote.box.files.upload_directory(archive, root.as_posix(), **_account(self.state.user))

    def supports_pty(self) -> bool:
        return True

    async def pty_exec_start(
        self,
        *command: str | Path,
        timeout: float | None = None,
        shell: bool | list[str] = True,
        user: str | User | None = None,
        tty: bool = False,
        yield_time_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> pty_types.PtyExecUpdate:
        argv = self._prepare_exec_command(*command, shell=shell, user=user)
        options = await self._options(argv)
        options |= {"terminal": TERMINAL, "stdin": "pipe"} if tty else {}
        with _transport_errors(argv):
            handle = await self._remote.start(timeout_s=timeout, **options)
        pty = _Pty(handle, tty)
        pty.pump = asyncio.create_task(_pump(pty))
        process_id = pty_types.allocate_pty_process_id(set(self._ptys))
        self._ptys[process_id] = pty
        wait_ms = 10_000 if yield_time_s is None else int(yield_time_s * 1000)
        return await self._update(process_id, pty, pty_types.clamp_pty_yield_time_ms(wait_ms), max_output_tokens)

    async def pty_write_stdin(
        self,
        *,
        session_id: int,
        chars: str,
        yield_time_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> pty_types.PtyExecUpdate:
        pty = self._resolve_pty_session_entry(pty_processes=self._ptys, session_id=session_id)
        if chars:
            if not pty.tty:
                raise RuntimeError("stdin is not available for this process")
            with _transport_errors(["write_stdin"]):
                await pty.handle.write(chars)
        wait_ms = 250 if yield_time_s is None else int(yield_time_s * 1000)
        wait_ms = pty_types.resolve_pty_write_yield_time_ms(yield_time_ms=wait_ms, input_empty=chars == "")
        return await self._update(session_id, pty, wait_ms, max_output_tokens)

    async def pty_terminate_all(self) -> None:
        ptys, self._ptys = list(self._ptys.values()), {}
        for pty in ptys:
            await _end(pty)

    async def _update(
        self, process_id: int, pty: _Pty, wait_ms: int, max_output_tokens: int | None
    ) -> pty_types.PtyExecUpdate:
        output, tokens, is_closed = await collect_pty_output(
            output_chunks=pty.chunks,
            output_lock=pty.lock,
            output_notify=pty.notify,
            is_done=pty.closed.is_set,
            yield_time_ms=wait_ms,
            max_output_tokens=max_output_tokens,
        )
        if is_closed:
            self._ptys.pop(process_id, None)
        return pty_types.PtyExecUpdate(
            process_id=None if is_closed else process_id,
            output=output,
            exit_code=pty.exit_code if is_closed else None,
            original_token_count=tokens,
        )


class BoxkeepSandboxClient(BaseSandboxClient[BoxkeepSandboxClientOptions | None]):
    """Sessions in the sandbox of one daemon. The key is never part of a state."""

    backend_id = "boxkeep"
    supports_default_options = True

    def __init__(self, address: str, key: str | None = None) -> None:
        self._address = address
        self._key = key

    async def create(
        self,
        *,
        snapshot: SnapshotSpec | SnapshotBase | None = None,
        manifest: Manifest | None = None,
        options: BoxkeepSandboxClientOptions | None = None,
    ) -> SandboxSession:
        options = options or BoxkeepSandboxClientOptions()
        manifest = self._validate_manifest_for_create(manifest or Manifest())
        with _start_errors(posix_path_as_path(coerce_posix_path(manifest.root))):
            sandbox_id = await self._sandbox_id()
        session_id = uuid.uuid4()
        state = BoxkeepSandboxSessionState(
            session_id=session_id,
            manifest=manifest,
            snapshot=resolve_snapshot(snapshot, str(session_id)),
            exposed_ports=options.exposed_ports,
            sandbox_id=sandbox_id,
            user=options.user,
        )
        return self._session(state)

    async def delete(self, session: SandboxSession) -> SandboxSession:
        """Ends what the session runs in terminals. The workspace stays, as the sandbox does."""
        await session._inner.shutdown()
        return session

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        """Another sandbox than that of the state gets its workspace from the snapshot."""
        if not isinstance(state, BoxkeepSandboxSessionState):
            raise TypeError("BoxkeepSandboxClient.resume expects a BoxkeepSandboxSessionState")
        state.assert_path_grants_rebound()
        session = self._session(state)
        is_same = await session._inner.running()
        if not is_same:
            state.workspace_root_ready = False
            state.sandbox_id = await self._sandbox_id()
        session._inner._set_start_state_preserved(is_same)
        return session

    def deserialize_session_state(self, payload: dict[str, object]) -> SandboxSessionState:
        return self._deserialize_session_state_payload(payload, BoxkeepSandboxSessionState)

    async def _sandbox_id(self) -> str:
        async with AsyncSandbox(self._address, self._key) as box:
            return (await box.info()).sandbox_id

    def _session(self, state: BoxkeepSandboxSessionState) -> SandboxSession:
        return self._wrap_session(BoxkeepSandboxSession(state, self._address, self._key))


async def _pump(pty: _Pty) -> None:
    try:
        async for event in pty.handle:
            if isinstance(event, Ending):
                pty.exit_code = exit_code_of(event)
            else:
                pty.chunks.append(event.bytes if isinstance(event, Output) else described(event).encode())
                pty.notify.set()
    except BoxError as error:
        # The model reads why there is no more.
        pty.chunks.append(f"\n[{error}]\n".encode())
    finally:
        pty.closed.set()
        pty.notify.set()


async def _end(pty: _Pty) -> None:
    if not pty.closed.is_set():
        await kill(pty.handle)
        await pty.closed.wait()


def _account(user: str | User | None) -> dict[str, Any]:
    return {} if user is None else {"user": user.name if isinstance(user, User) else user}


@contextmanager
def _start_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except BoxError as error:
        raise errors.WorkspaceStartError(
            path=root, cause=error, message=str(error), retryable=error.retryable
        ) from error


@contextmanager
def _transport_errors(argv: list[str]) -> Iterator[None]:
    try:
        yield
    except BoxError as error:
        raise errors.ExecTransportError(
            command=argv, cause=error, message=str(error), retryable=error.retryable
        ) from error


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise errors.WorkspaceReadNotFoundError(path=path, cause=error) from error
    except (OSError, BoxError) as error:
        raise errors.WorkspaceArchiveReadError(path=path, context={"reason": str(error)}, cause=error) from error


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, BoxError) as error:
        raise errors.WorkspaceArchiveWriteError(path=path, context={"reason": str(error)}, cause=error) from error


def _without(archive: io.BytesIO, skipped: list[str]) -> io.BytesIO:
    """The archive without these paths and what is below them."""
    kept = io.BytesIO()
    with tarfile.open(fileobj=archive) as source, tarfile.open(fileobj=kept, mode="w") as target:
        for member in source:
            name = member.name.removeprefix("./")
            if not any(name == path or name.startswith(f"{path}/") for path in skipped):
                target.addfile(member, source.extractfile(member) if member.isreg() else None)
    kept.seek(0)
    return kept


implements_all(BoxkeepSandboxSession, "openai-agents", "openai-agents")
implements_all(BoxkeepSandboxClient, "openai-agents", "openai-agents")
