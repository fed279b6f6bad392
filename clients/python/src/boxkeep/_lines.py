"""Cuts a stream of bytes into lines, and buffers at most one line."""

from __future__ import annotations


class Lines:
    """Text after the last newline is dropped with this object: the connection broke in the middle of a line."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def add(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes."""
        first, *others = piece.split(b"\n")
        self._begun.append(first)
        if not others:
            return []
        lines = [b"".join(self._begun), *others[:-1]]
        self._begun = [others[-1]]
        return lines
