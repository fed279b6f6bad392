"""Cuts a stream of bytes into lines and the bytes that follow some of them, and buffers at most one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


class Frame(NamedTuple):
    """A line of JSON, or bytes that follow one, as they come."""

    fields: Any
    """None for a line that is no JSON."""
    offset: int = 0
    content: bytes | None = None


class Frames:
    """What is not whole is dropped with this object: the connection broke in the middle of a line."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        # The line whose bytes come, where they are in the stream, and how many are missing.
        self._fields: Any = None
        self._offset = 0
        self._missing = 0

    def add(self, piece: bytes) -> Iterator[Frame]:
        """The lines that this piece completes, and the bytes in it."""
        at = 0
        while at < len(piece):
            if self._missing:
                content = piece[at : at + self._missing]
                yield Frame(self._fields, self._offset, content)
                at += len(content)
                self._offset += len(content)
                self._missing -= len(content)
                continue
            # `split` takes several times as long as `find` on long lines.
            end = piece.find(b"\n", at)
            if end == -1:
                self._begun.append(piece[at:])
                return
            fields = _parsed(b"".join([*self._begun, piece[at:end]]))
            self._begun.clear()
            at = end + 1
            if isinstance(fields, dict) and "bytes" in fields:
                self._fields, self._offset, self._missing = fields, fields["offset"], fields["bytes"]
            else:
                yield Frame(fields)


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        # The caller knows who sent it.
        return None
