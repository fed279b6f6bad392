"""Keeps typed input until the daemon has it, and sends nothing twice.

Where the daemon counts the bytes of a session, the count tells which bytes a broken connection lost, and these are sent
again. Otherwise they are in doubt.
"""

from __future__ import annotations

from typing import NamedTuple

# Bytes that may be sent without an answer.
WINDOW_BYTES = 128 * 1024
# Bytes that stay when they were answered, because a daemon may die before a program has read what it received.
KEPT_BYTES = 1024 * 1024
PIECE_BYTES = 16 * 1024


class Span(NamedTuple):
    """Positions count all bytes typed since the start."""

    start: int
    end: int


class TypedInput:
    def __init__(self) -> None:
        # Bytes that may have to be sent again, then bytes not sent yet.
        self._kept = bytearray()
        # The position of the first of these.
        self._first = 0
        self._sent = 0
        self._answered = 0
        # The position at the start of the connection, and the bytes that the session had then from all clients.
        self._base: tuple[int, int] | None = None
        self._doubted = Span(0, 0)

    @property
    def _typed(self) -> int:
        return self._first + len(self._kept)

    @property
    def unsent_bytes(self) -> int:
        """Bytes that were never sent."""
        return self._typed - self._sent

    @property
    def is_pending(self) -> bool:
        """Something was typed that the daemon may not have."""
        return self._answered < self._typed

    def add(self, content: bytes) -> Span:
        start = self._typed
        self._kept += content
        return Span(start, self._typed)

    def is_answered(self, span: Span) -> bool:
        return self._answered >= span.end

    def doubt_of(self, span: Span) -> int:
        """How many bytes, these among them, may be lost."""
        start, end = self._doubted
        return end - start if span.start < end and start < span.end else 0

    def confirm(self, position: int) -> None:
        """The daemon has everything up to this position."""
        if position > self._answered:
            self._answered = min(position, self._sent)

    def distrust(self) -> None:
        """The session may have dropped input that its program does not read, so its count allows no repeat."""
        self._base = None

    def resume(self, taken: int | None) -> int:
        """A connection begins, at which the session had so many bytes. Returns how many bytes may be lost."""
        arrived = None if taken is None or self._base is None else self._base[0] + taken - self._base[1]
        # A count above what this client has sent means that another one has typed too, so the loss has no known place.
        if arrived is not None and self._first <= arrived <= self._sent:
            self._sent = arrived
            doubt = 0
        else:
            known = self._answered if arrived is None else max(0, min(self._answered, arrived))
            self._doubted = Span(known, self._sent)
            doubt = self._sent - known
        self._answered = self._sent
        self._base = None if taken is None else (self._sent, taken)
        return doubt

    def next_piece(self) -> tuple[bytes, int] | None:
        """What is sent next, and the position of its end. None until `confirm` makes room, or more is typed."""
        if self.unsent_bytes == 0 or self._sent - self._answered >= WINDOW_BYTES:
            return None
        at = self._sent - self._first
        piece = bytes(self._kept[at : at + PIECE_BYTES])
        self._sent += len(piece)
        surplus = self._answered - KEPT_BYTES - self._first
        if surplus > 0:
            del self._kept[:surplus]
            self._first += surplus
        return piece, self._sent
