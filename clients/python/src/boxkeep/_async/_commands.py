"""Commands of a sandbox: run to the end, or started and followed live."""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from .._backoff import Backoff
from .._deadline import Deadline
from .._errors import BoxError
from .._failure import closed, not_boxkeep
from .._lines import Frames
from .._output import Ending, Offsets, OutputEvent, OutputReader
from ._calls import AsyncCommandsMethods
from ._plane import AsyncHandle

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import types
    from ._transport import AsyncTransport

# The largest offset of the daemon: behind the end of every output.
END = 2**53 - 1

CONNECT_AGAIN = "Connect to the command again when the daemon is back; its output is kept."


class AsyncCommands(AsyncCommandsMethods):
    async def run(self, command: str, **more: Unpack[types.CommandsRunMore]) -> types.CommandResult:
        """Runs a command to its end, or up to its `timeout`. A repeat of the request starts nothing twice."""
        return await self._send(command, "sync", more)

    async def start(self, command: str, **more: Unpack[types.CommandsRunMore]) -> AsyncCommandHandle:
        """Starts a command, and returns while it runs."""
        started = await self._send(command, "async", more)
        return AsyncCommandHandle(self._transport, started, Offsets(started.offset, started.stderr_offset))

    async def connect(
        self, command_id: str, *, stdout: int = 0, stderr: int = 0, **options: Unpack[types.CallOptions]
    ) -> AsyncCommandHandle:
        """A command that was started before, by any client. Its output comes from these offsets on."""
        read: types.CommandOutput = await self._transport.call(
            "commands.read", command_id=command_id, offset=END, stderr_offset=END, **options
        )
        ends = Offsets(read.offset, read.stderr_offset)
        return AsyncCommandHandle(self._transport, read.command, ends, Offsets(stdout, stderr))

    async def _send(self, command: str, mode: str, more: types.CommandsRunMore) -> types.CommandResult:
        # The client names the command, so that a repeated request finds the first one.
        named: dict[str, Any] = {"command_id": _new_id(), **more}
        answer: types.CommandResult = await self._transport.call(
            "commands.run", command=command, mode=mode, is_repeatable=True, **named
        )
        return answer


class AsyncCommandHandle(AsyncHandle):
    """A command of a sandbox. Its output can be read again and again, each time from the beginning."""

    def __init__(
        self,
        transport: AsyncTransport,
        record: types.Command | types.CommandResult,
        ends: Offsets,
        start: Offsets | None = None,
    ) -> None:
        super().__init__(transport, record.command_id)
        self.record = record
        """As it was when the handle was made; its `error` says why the command could not start."""
        self.ends = ends
        """Where both streams ended when the handle was made."""
        self._start = start or Offsets()
        self._written = 0

    def __aiter__(self) -> AsyncIterator[OutputEvent]:
        return self.events()

    async def events(
        self, *, from_: Offsets | None = None, **options: Unpack[types.CallOptions]
    ) -> AsyncIterator[OutputEvent]:
        """What both streams hold and get, and the end. Goes on by itself when the connection or the daemon was lost."""
        reader, deadline = OutputReader(from_ or self._start), Deadline(options.get("timeout_s"))
        backoff = Backoff(self._transport.budget(options.get("retry_s")), options.get("on_away"))
        while True:
            lost: BoxError = closed(self._transport.address)
            ending: Ending | None = None
            try:
                async with self._transport.open(
                    "commands.read",
                    deadline=deadline,
                    retry_s=0,
                    command_id=self.id,
                    stream=True,
                    encoding="bytes",
                    offset=reader.offsets["stdout"],
                    stderr_offset=reader.offsets["stderr"],
                ) as response:
                    frames = Frames()
                    async for piece in response.aiter_raw():
                        for frame in frames.add(piece):
                            if not isinstance(frame.fields, dict) or "type" not in frame.fields:
                                raise not_boxkeep(self._transport.address, response.status_code)
                            if frame.fields["type"] in ("start", "closing"):
                                backoff.answered()
                            else:
                                backoff.reset()
                            for event in reader.events(frame):
                                if isinstance(event, Ending):
                                    ending = event
                                else:
                                    yield event
            except BoxError as error:
                if not error.retryable:
                    raise
                lost = error
            if ending is not None:
                # The connection is free for the next call by now.
                yield ending
                return
            # The stream has ended without a last line, or with `closing`: the daemon is gone, or about to go.
            deadline.left_s()
            pause_s = backoff.pause_s(lost)
            if pause_s is None:
                raise backoff.gave_up(CONNECT_AGAIN, lost) from lost
            await asyncio.sleep(deadline.left_s(pause_s) or 0)

    async def wait(self, **options: Unpack[types.CallOptions]) -> Ending:
        """The end of the command. Its output is not kept here."""
        # The daemon sends nothing of what comes before this offset.
        async for event in self.events(from_=Offsets(END, END), **options):
            if isinstance(event, Ending):
                return event
        raise AssertionError("output ends with an exit")

    async def write(self, text: str | bytes | bytearray | memoryview, **options: Unpack[types.CallOptions]) -> None:
        """Writes to the standard input. A command that does not read makes this wait."""
        rest = memoryview(text.encode() if isinstance(text, str) else text).cast("B")
        while rest:
            rest = rest[await self._send({"input_base64": b64encode(rest).decode()}, options) :]

    async def close_stdin(self, **options: Unpack[types.CallOptions]) -> None:
        await self._send({"eof": True}, options)

    async def kill(self, **more: Unpack[types.CommandsKillMore]) -> types.CommandKillData:
        """Without a signal, the command and its children get SIGTERM, and SIGKILL after a grace period."""
        return await AsyncCommandsMethods(self._transport).kill(self.id, **more)

    async def _send(self, what: dict[str, Any], options: types.CallOptions) -> int:
        """Returns how many bytes the command has taken. The offset lets the daemon take a repeated request once."""
        answer: types.CommandWriteStdinData = await self._transport.call(
            "commands.write_stdin",
            command_id=self.id,
            offset=self._written,
            is_repeatable=True,
            **what,
            **options,
        )
        self._written += answer.accepted_bytes
        return answer.accepted_bytes


def _new_id() -> str:
    return f"cmd_{secrets.token_hex(12)}"
