"""The output of a command as events, without loss or repetition."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Union

from ._lines import Frame

StreamName = Literal["stdout", "stderr"]


class Offsets(NamedTuple):
    """Positions in the two streams, in bytes from their beginning."""

    stdout: int = 0
    stderr: int = 0


@dataclass(frozen=True)
class Output:
    """A piece of a stream."""

    type: StreamName
    offset: int
    """Of the first byte."""
    bytes: bytes
    text: str
    """The bytes as UTF-8. A character that two events share is whole in the second one."""


@dataclass(frozen=True)
class Gap:
    """The daemon does not keep the bytes from `from_` to before `to` any more."""

    stream: StreamName
    from_: int
    to: int
    type: Literal["gap"] = "gap"


@dataclass(frozen=True)
class Ending:
    """The command has ended, and all its output has come."""

    status: Literal["running", "completed", "timed_out", "killed", "failed", "lost"]
    exit_code: int | None
    """128 + n after a death by signal n; None when it cannot be known, and when the command never started."""
    signal: str | None
    type: Literal["exit"] = "exit"


OutputEvent = Union[Output, Gap, Ending]


class OutputReader:
    """Reads the lines of any number of connections, and returns only what is new in them."""

    def __init__(self, start: Offsets) -> None:
        self.offsets: dict[StreamName, int] = {"stdout": start.stdout, "stderr": start.stderr}
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {"stdout": decoder("replace"), "stderr": decoder("replace")}

    def events(self, frame: Frame) -> Iterator[OutputEvent]:
        """The events of one frame; `start`, `heartbeat` and `closing` have none."""
        fields = frame.fields
        kind = fields["type"]
        if frame.content is not None:
            yield from self._output(kind, frame.offset, frame.content)
        elif kind == "gap" and fields["to"] > self.offsets[fields["stream"]]:
            yield self._gap(fields["stream"], fields["to"])
        elif kind == "exit":
            yield Ending(fields["status"], fields["exit_code"], fields["signal"])

    def _output(self, stream: StreamName, offset: int, whole: bytes) -> Iterator[OutputEvent]:
        if offset > self.offsets[stream]:
            yield self._gap(stream, offset)
        start = self.offsets[stream]
        fresh = whole[start - offset :] if start > offset else whole
        if not fresh:
            return
        self.offsets[stream] = offset + len(whole)
        yield Output(stream, start, fresh, self._decoders[stream].decode(fresh))

    def _gap(self, stream: StreamName, to: int) -> Gap:
        start = self.offsets[stream]
        self.offsets[stream] = to
        return Gap(stream, start, to)
