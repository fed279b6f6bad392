"""Cuts a stream of bytes into lines, and buffers at most one line."""

from __future__ import annotations

from collections.abc import Iterator


class Lines:
    """Text after the last newline is dropped with this object: the connection broke in the middle of a line."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def add(self, piece: bytes) -> Iterator[bytes]:
        """The lines that this piece completes."""
        start = 0
        # `split` takes several times as long as `find` on long lines.
        while (end := piece.find(b"\n", start)) != -1:
            yield b"".join([*self._begun, piece[start:end]])
            self._begun.clear()
            start = end + 1
        self._begun.append(piece[start:])
