"""Keeps one client at a terminal across lost connections: each byte of output once, and typed input once."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from .._backoff import Backoff
from .._concurrency import AsyncLock, AsyncMonitor, AsyncWorker
from .._deadline import Deadline
from .._errors import BoxError, Detached, InputInDoubt
from .._failure import closed
from .._terminal_events import (
    TerminalAttached,
    TerminalAway,
    TerminalError,
    TerminalEvent,
    TerminalExit,
    TerminalGap,
    TerminalQueue,
    TerminalResize,
    TerminalRestore,
    TerminalTitle,
)
from .._typed_input import TypedInput
from .._wire import Forbidden, TerminalEnded, errors
from ._terminal_socket import AsyncTerminalSocket, TerminalFrame, upgrade_headers

if TYPE_CHECKING:
    from .. import types
    from ._transport import AsyncTransport

# Output is acknowledged at least this often, so that the daemon never waits for a fast reader.
ACKNOWLEDGE_BYTES = 64 * 1024
TOO_SLOW = 4003

ATTACH_AGAIN = "Attach to the terminal again when the daemon is back; its output is kept."


class AsyncTerminalConnection:
    def __init__(
        self,
        transport: AsyncTransport,
        id: str,
        offset: int | None,
        read_only: bool,
        size: tuple[int, int] | None,
        options: types.CallOptions,
    ) -> None:
        self.exit: TerminalExit | None = None
        self._transport = transport
        self._id = id
        self._read_only = read_only
        self._size = size
        # Guards the state below. Nothing is sent while it is held.
        self._monitor = AsyncMonitor()
        self._queue = TerminalQueue(offset)
        self._input = TypedInput()
        self._backoff = Backoff(transport.budget(options.get("retry_s")), options.get("on_away"))
        # Keeps pieces of input in order from here to the socket.
        self._typing = AsyncLock()
        self._socket: AsyncTerminalSocket | None = None
        # True from `ready` to the end of the connection.
        self._is_attached = False
        self._was_attached = False
        self._is_restoring = False
        # There will be no further connection.
        self._is_over = False
        self._error: BaseException | None = None
        self._acknowledged = 0
        # Why the last connection did not open, or what ended it.
        self._lost: BoxError = closed(transport.address)
        transport.attached.add(self)
        self._worker = AsyncWorker(self._follow)

    async def attached(self, deadline: Deadline) -> None:
        """Returns when the first connection is open. Raises why there is none."""
        async with self._monitor:
            while not self._was_attached:
                if self._is_over:
                    raise self._reason()
                await self._monitor.wait(deadline.left_s())

    @property
    def unsent_bytes(self) -> int:
        return self._input.unsent_bytes

    async def events(self, deadline: Deadline) -> AsyncIterator[TerminalEvent]:
        """An event is acknowledged when the reader asks for the next one."""
        while True:
            await self._acknowledge()
            event = await self._next(deadline)
            if event is None:
                return
            yield event

    async def to_the_end(self, deadline: Deadline) -> TerminalExit:
        """Reads until the shell ends."""
        async for event in self.events(deadline):
            if isinstance(event, TerminalExit):
                return event
        if self.exit is None:
            raise self._reason()
        return self.exit

    async def write(self, content: bytes, deadline: Deadline) -> None:
        """Returns when the daemon has the bytes."""
        if self._read_only:
            raise Forbidden(f"{self._id} is attached read-only")
        async with self._monitor:
            span = self._input.add(content)
        await self._send_input()
        async with self._monitor:
            while not self._input.is_answered(span):
                if self._is_over:
                    raise self._reason()
                await self._monitor.wait(deadline.left_s())
            doubt = self._input.doubt_of(span)
        if doubt > 0:
            raise InputInDoubt(doubt)

    async def resize(self, cols: int, rows: int) -> None:
        async with self._monitor:
            self._size = (cols, rows)
            socket = self._socket if self._is_attached else None
        if socket:
            await socket.send({"type": "resize", "cols": cols, "rows": rows})

    async def restore(self) -> None:
        """The next output is a `restore`, which includes what was not read by then."""
        async with self._monitor:
            self._queue.restore()
            self._is_restoring = self._socket is not None
            if self._socket:
                self._socket.end()

    async def detach(self) -> None:
        """The reader gets nothing more."""
        async with self._monitor:
            self._queue.clear()
            self._finish(None)
        await self._worker.stop()

    def _finish(self, error: BaseException | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._error = error
        self._transport.attached.discard(self)
        if self._socket:
            self._socket.end()
        self._monitor.notify()

    def _reason(self) -> BaseException:
        """Why a call has no effect any more."""
        if self._error is not None:
            return self._error
        return TerminalEnded(f"{self._id} has ended") if self.exit else Detached(f"{self._id} was left")

    async def _next(self, deadline: Deadline) -> TerminalEvent | None:
        async with self._monitor:
            while True:
                event = self._queue.take()
                if event is not None:
                    if self._queue.is_empty:
                        self._monitor.notify()
                    return event
                if self._error is not None:
                    raise self._error
                if self._is_over:
                    return None
                await self._monitor.wait(deadline.left_s())

    async def _follow(self) -> None:
        """One connection after the other, until there is a reason for no further one."""
        error: BaseException | None = None
        try:
            while not self._is_over:
                await self._connect_again()
        except Exception as failure:
            # The reader raises it, also where it comes from `on_away`.
            error = failure
        async with self._monitor:
            self._finish(error)

    async def _connect_again(self) -> None:
        code = await self._connect()
        async with self._monitor:
            if self._is_over or self._is_restoring:
                return
            if code == TOO_SLOW:
                # Connected at once, a reader that is behind would be sent the same once more. Input does not wait.
                while not (self._is_over or self._queue.is_empty or self._input.is_pending):
                    await self._monitor.wait()
                return
        pause_s = self._backoff.pause_s(self._lost)
        if pause_s is None:
            raise self._backoff.gave_up(ATTACH_AGAIN, self._lost) from self._lost
        again_at = time.monotonic() + pause_s
        async with self._monitor:
            while not self._is_over and (left_s := again_at - time.monotonic()) > 0:
                await self._monitor.wait(left_s)

    async def _connect(self) -> int | None:
        """Runs one connection from start to end, and returns its close code."""
        try:
            async with self._transport.open(
                "terminals.attach", deadline=Deadline(None), retry_s=0, headers=upgrade_headers(), **await self._query()
            ) as response:
                socket = AsyncTerminalSocket(response, self._transport.address)
                async with self._monitor:
                    if self._is_over or self._is_restoring:
                        return None
                    self._socket = socket
                async for frame in socket.frames():
                    await self._take(socket, frame)
                # What sends at the moment is told before the connection is closed.
                socket.end()
                return socket.close_code
        except BoxError as error:
            if not error.retryable:
                raise
            self._lost = error
        finally:
            async with self._monitor:
                if self._is_attached:
                    self._lost = closed(self._transport.address)
                    if not (self._is_restoring or self._is_over):
                        self._queue.push(TerminalAway())
                self._socket = None
                self._is_attached = False
                self._monitor.notify()
        return None

    async def _query(self) -> dict[str, Any]:
        async with self._monitor:
            self._is_restoring = False
            self._queue.drop_output()
            position, size = self._queue.position, self._size
        return {
            "id": self._id,
            "protocol": "binary",
            "mode": "ro" if self._read_only else "rw",
            # A durable client would move the offset at which other clients resume.
            "durable": False,
            **({"restore": True} if position is None else {"offset": position}),
            **({"cols": size[0], "rows": size[1]} if size else {}),
        }

    async def _take(self, socket: AsyncTerminalSocket, frame: TerminalFrame) -> None:
        async with self._monitor:
            if socket.is_ended:
                return
            if isinstance(frame, bytes):
                self._queue.output(frame)
            else:
                self._take_message(frame)
            self._monitor.notify()
        if isinstance(frame, bytes):
            return
        if frame["type"] == "ready":
            # The first acknowledgement makes the daemon wait for the others, however slow the reader is.
            await socket.send({"type": "ack", "offset": frame["offset"]})
            await self._send_input()
            # The size may have changed since the connection was asked for.
            if self._size and not self._read_only:
                await self.resize(*self._size)
        elif frame["type"] == "pong":
            await self._send_input()

    def _take_message(self, frame: dict[str, Any]) -> None:
        queue = self._queue
        if frame["type"] == "ready":
            self._begin(frame)
        elif frame["type"] == "restore_output":
            queue.push(TerminalRestore(frame["offset"], frame["data"]))
        elif frame["type"] == "gap":
            queue.push(TerminalGap(frame["from"], frame["to"]))
        elif frame["type"] == "title":
            queue.push(TerminalTitle(frame["title"]))
        elif frame["type"] == "resize":
            queue.push(TerminalResize(frame["cols"], frame["rows"]))
        elif frame["type"] == "pong":
            self._input.confirm(int(frame["timestamp"]))
        elif frame["type"] == "error":
            self._input.distrust()
            queue.push(TerminalError(_error_of(frame)))
        elif frame["type"] == "exit":
            self.exit = TerminalExit(frame["exit_code"], frame["signal"])
            queue.push(self.exit)
            self._finish(None)

    def _begin(self, frame: dict[str, Any]) -> None:
        self._is_attached = self._was_attached = True
        self._backoff.reset()
        self._queue.push(TerminalAttached(frame["cols"], frame["rows"]))
        self._queue.begin(frame["offset"])
        self._acknowledged = frame["offset"]
        doubt = self._input.resume(frame["input_offset"])
        if doubt > 0:
            self._queue.push(TerminalError(InputInDoubt(doubt)))

    async def _send_input(self) -> None:
        async with self._typing:
            while True:
                async with self._monitor:
                    socket = self._socket if self._is_attached else None
                    piece = self._input.next_piece() if socket else None
                if socket is None or piece is None:
                    return
                await socket.type_input(*piece)

    async def _acknowledge(self) -> None:
        async with self._monitor:
            position, socket = self._queue.position, self._socket if self._is_attached else None
            if socket is None or position is None or position <= self._acknowledged:
                return
            if not self._queue.is_empty and position - self._acknowledged < ACKNOWLEDGE_BYTES:
                return
            self._acknowledged = position
        await socket.send({"type": "ack", "offset": position})


def _error_of(frame: dict[str, Any]) -> BoxError:
    kind = errors.get(frame["code"], BoxError)
    error = kind(frame["data"], hint=frame.get("hint"), retryable=frame.get("retryable") is True)
    error.code = frame["code"]
    return error
