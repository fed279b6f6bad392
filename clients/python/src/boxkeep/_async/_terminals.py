"""Terminals of a sandbox: shells that clients share, and that stay when no client is attached."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from .._deadline import Deadline
from .._wire import SessionExists
from ._calls import AsyncTerminalMethods, AsyncTerminalsMethods
from ._terminal_connection import AsyncTerminalConnection

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .. import types
    from .._terminal_events import TerminalEvent, TerminalExit
    from ._transport import AsyncTransport


class AsyncTerminals(AsyncTerminalsMethods):
    async def create(self, **more: Unpack[types.TerminalsCreateMore]) -> types.TerminalCreateData:
        """Makes a terminal, or finds the one of its `id`, without attaching to it."""
        # The daemon finds the first one by its name.
        made: types.TerminalCreateData = await self._transport.call(
            "terminals.create", is_repeatable="id" in more, **more
        )
        return made

    async def open(self, *, offset: int | None = None, **more: Unpack[types.TerminalsCreateMore]) -> AsyncTerminal:
        """Makes a terminal and attaches to it: with an `id`, to the terminal of that name when there is one.

        Without an `id`, the daemon closes the terminal after an hour without use. Output begins with the byte `offset`.
        """
        is_new = "id" not in more
        id = more.setdefault("id", f"term_{secrets.token_hex(12)}")
        if is_new:
            more.setdefault("retention", "expiring")
        try:
            is_new = (await self.create(**more)).created or is_new
        except SessionExists:
            # It is there with other settings.
            is_new = False
        options: types.CallOptions = {}
        if "retry_s" in more:
            options["retry_s"] = more["retry_s"]
        if "timeout_s" in more:
            options["timeout_s"] = more["timeout_s"]
        if "on_away" in more:
            options["on_away"] = more["on_away"]
        if offset is None and is_new:
            offset = 0
        return await self.attach(id, offset=offset, cols=more.get("cols"), rows=more.get("rows"), **options)

    async def attach(
        self,
        id: str,
        *,
        offset: int | None = None,
        read_only: bool = False,
        cols: int | None = None,
        rows: int | None = None,
        **options: Unpack[types.CallOptions],
    ) -> AsyncTerminal:
        """A terminal that was made before, by any client.

        Output begins with the byte `offset`; without it, with a `restore` of the current screen. The terminal gets the
        size if this client was the last to type.
        """
        size = None if cols is None or rows is None else (cols, rows)
        connection = AsyncTerminalConnection(self._transport, id, offset, read_only, size, options)
        try:
            await connection.attached(Deadline(options.get("timeout_s")))
        except BaseException:
            await connection.detach()
            raise
        return AsyncTerminal(self._transport, id, connection)


class AsyncTerminal(AsyncTerminalMethods):
    """A client at a terminal, until it detaches or the shell ends. Goes on by itself when the connection breaks."""

    def __init__(self, transport: AsyncTransport, id: str, connection: AsyncTerminalConnection) -> None:
        super().__init__(transport, id)
        self._connection = connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.detach()

    def __aiter__(self) -> AsyncIterator[TerminalEvent]:
        return self.events()

    def events(self, *, timeout_s: float | None = None) -> AsyncIterator[TerminalEvent]:
        """Events come once, to one reader. The daemon waits for a slow reader, and drops what it no longer keeps."""
        return self._connection.events(Deadline(timeout_s))

    async def wait(self, *, timeout_s: float | None = None) -> TerminalExit:
        """Reads to the end of the shell, and drops the output."""
        return await self._connection.to_the_end(Deadline(timeout_s))

    async def write(self, text: str | bytes | bytearray | memoryview, *, timeout_s: float | None = None) -> None:
        """Types. Returns when the daemon has the input, which is kept while the connection is lost."""
        content = text.encode() if isinstance(text, str) else bytes(memoryview(text))
        await self._connection.write(content, Deadline(timeout_s))

    @property
    def unsent_bytes(self) -> int:
        """Typed bytes that were never sent."""
        return self._connection.unsent_bytes

    async def resize(self, cols: int, rows: int) -> None:
        await self._connection.resize(cols, rows)

    async def restore(self) -> None:
        """Makes the next output a `restore` of the current screen, which includes everything that was not read."""
        await self._connection.restore()

    async def detach(self) -> None:
        """Leaves the terminal, which goes on."""
        await self._connection.detach()

    async def close(self, **options: Unpack[types.CallOptions]) -> types.TerminalCloseData:
        """Ends the shell and everything in it."""
        await self.detach()
        return await AsyncTerminalsMethods(self._transport).close(self.id, **options)
