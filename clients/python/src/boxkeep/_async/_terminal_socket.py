"""One connection to a terminal: its frames in order, ended when the daemon falls silent."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Union

import httpcore2
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side, State

from .._concurrency import AsyncLock
from .._deadline import shut_down
from .._errors import BoxError
from .._failure import not_boxkeep

if TYPE_CHECKING:
    import httpx2

# The time in which a live connection answers typed input, and takes what is sent.
ANSWER_S = 15.0
# The daemon sends something at least every 30 s, so a longer silence means a dead connection.
SILENCE_S = 45.0
READ_BYTES = 256 * 1024

SWITCHING_PROTOCOLS = 101
# Of the specification of WebSockets.
ACCEPT_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

# Output of the terminal, or a message about it.
TerminalFrame = Union[bytes, dict[str, Any]]

# The connection is broken, or does not take anything.
Broken = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError, OSError)


def upgrade_headers() -> dict[str, str]:
    return {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": base64.b64encode(secrets.token_bytes(16)).decode(),
        "sec-websocket-protocol": "svc.v2",
        "sec-websocket-version": "13",
    }


class AsyncTerminalSocket:
    def __init__(self, response: httpx2.Response, address: str) -> None:
        self._address = address
        if response.status_code != SWITCHING_PROTOCOLS or not _is_accepted(response):
            raise self._other_server(response.status_code)
        self._stream: Any = response.extensions["network_stream"]
        self._protocol = Protocol(Side.CLIENT, state=State.OPEN, max_size=None)
        # Of the protocol, and of the order of what is sent.
        self._sending = AsyncLock()
        self._asked_at: float | None = None
        self.is_ended = False
        self.close_code: int | None = None
        """Of the daemon; None when the connection broke, or was ended here."""

    async def frames(self) -> AsyncIterator[TerminalFrame]:
        """Ends with the connection."""
        parts: list[bytes] = []
        opcode = Opcode.TEXT
        async for frame in self._received():
            if frame.opcode is Opcode.CLOSE:
                self.close_code = int.from_bytes(frame.data[:2], "big")
                return
            if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                continue
            opcode = opcode if frame.opcode is Opcode.CONT else frame.opcode
            parts.append(bytes(frame.data))
            if not frame.fin:
                continue
            whole = b"".join(parts)
            parts = []
            if opcode is Opcode.BINARY:
                yield whole
                continue
            message = self._parsed(whole)
            if message["type"] == "ping":
                await self.send({"type": "pong"})
                continue
            if message["type"] == "pong":
                self._asked_at = None
            yield message

    async def send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            if self._is_open:
                self._protocol.send_text(json.dumps(message).encode())
                await self._flush()

    async def type_input(self, piece: bytes, position: int) -> None:
        """The daemon answers with the position once it has everything up to there."""
        self._asked_at = self._asked_at or time.monotonic()
        async with self._sending:
            if self._is_open:
                self._protocol.send_binary(piece)
                self._protocol.send_text(json.dumps({"type": "ping", "timestamp": position}).encode())
                await self._flush()

    def end(self) -> None:
        """The reader gets nothing more, and what waits for the connection goes on."""
        self.is_ended = True
        shut_down(self._stream.get_extra_info("socket"))

    @property
    def _is_open(self) -> bool:
        return not self.is_ended and self._protocol.state is State.OPEN

    async def _received(self) -> AsyncIterator[Frame]:
        heard_at = time.monotonic()
        while self._is_open:
            try:
                piece = await self._stream.read(READ_BYTES, timeout=ANSWER_S)
            except httpcore2.ReadTimeout:
                now = time.monotonic()
                if now - heard_at > SILENCE_S or (self._asked_at and now - self._asked_at > ANSWER_S):
                    return
                continue
            except Broken:
                return
            if not piece:
                return
            heard_at = time.monotonic()
            async with self._sending:
                self._protocol.receive_data(piece)
                frames = self._protocol.events_received()
                # Pings of WebSockets are answered, and so is a close.
                await self._flush()
            for frame in frames:
                if isinstance(frame, Frame):
                    yield frame

    async def _flush(self) -> None:
        # Nothing in here is empty except for the end of a stream.
        content = b"".join(self._protocol.data_to_send())
        if not content or self.is_ended:
            return
        try:
            # A thread that reads sets the same time limit on the socket.
            await self._stream.write(content, timeout=ANSWER_S)
        except Broken:
            self.end()

    def _parsed(self, text: bytes) -> dict[str, Any]:
        try:
            message = json.loads(text)
        except ValueError:
            message = None
        if not isinstance(message, dict) or "type" not in message:
            # What answers here does not speak the protocol, as every further attempt will find too.
            raise self._other_server(SWITCHING_PROTOCOLS)
        return message

    def _other_server(self, status: int) -> BoxError:
        return not_boxkeep(self._address, status)


def _is_accepted(response: httpx2.Response) -> bool:
    key = response.request.headers["sec-websocket-key"].encode()
    accept = base64.b64encode(hashlib.sha1(key + ACCEPT_SUFFIX).digest()).decode()
    return response.headers.get("sec-websocket-accept") == accept
