"""What a client of a terminal learns, in order, and the events between the connection and the reader."""

from __future__ import annotations

import codecs
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal, Union

from ._errors import BoxError


@dataclass(frozen=True)
class TerminalOutput:
    offset: int
    """Of the first byte."""
    bytes: bytes
    text: str
    """The bytes as UTF-8. A character that two events share is whole in the second one."""
    type: Literal["output"] = "output"


@dataclass(frozen=True)
class TerminalRestore:
    """Draws the current screen in a terminal of its size that was reset; the output from `offset` on follows."""

    offset: int
    text: str
    type: Literal["restore"] = "restore"


@dataclass(frozen=True)
class TerminalGap:
    """The daemon does not keep the bytes from `from_` to before `to` any more. `restore` makes up for them."""

    from_: int
    to: int
    type: Literal["gap"] = "gap"


@dataclass(frozen=True)
class TerminalAttached:
    """The connection is open, at first and after `TerminalAway`."""

    cols: int
    rows: int
    type: Literal["attached"] = "attached"


@dataclass(frozen=True)
class TerminalAway:
    """The connection is lost, and is being opened again. Input is kept meanwhile."""

    type: Literal["away"] = "away"


@dataclass(frozen=True)
class TerminalTitle:
    title: str
    type: Literal["title"] = "title"


@dataclass(frozen=True)
class TerminalResize:
    """Another client has changed the size."""

    cols: int
    rows: int
    type: Literal["resize"] = "resize"


@dataclass(frozen=True)
class TerminalError:
    """Something was dropped, such as input that no program reads. The terminal goes on."""

    error: BoxError
    type: Literal["error"] = "error"


@dataclass(frozen=True)
class TerminalExit:
    """The shell has ended, and all its output has come. The field that does not apply is None."""

    exit_code: int | None
    signal: str | None
    type: Literal["exit"] = "exit"


TerminalEvent = Union[
    TerminalOutput,
    TerminalRestore,
    TerminalGap,
    TerminalAttached,
    TerminalAway,
    TerminalTitle,
    TerminalResize,
    TerminalError,
    TerminalExit,
]


class TerminalQueue:
    """Events that were not read, and how far the reader has come."""

    def __init__(self, offset: int | None) -> None:
        self.position = offset
        """Where the output goes on after what the reader has taken; None while the screen has to be restored."""
        self._events: deque[TerminalEvent] = deque()
        # The end of the output that has come.
        self._received = 0
        self._begin_text()

    @property
    def is_empty(self) -> bool:
        return not self._events

    def begin(self, offset: int) -> None:
        """A connection begins, whose first byte has this offset."""
        self._received = offset
        if self.position is None:
            return
        if offset > self.position:
            self.push(TerminalGap(self.position, offset))
        else:
            # The caller has asked for an offset past the end.
            self.position = offset

    def output(self, content: bytes) -> None:
        # Text is made when the event is taken, because a character may begin in the event before.
        self.push(TerminalOutput(self._received, content, ""))
        self._received += len(content)

    def push(self, event: TerminalEvent) -> None:
        if isinstance(event, TerminalGap):
            self._received = event.to
        self._events.append(event)

    def take(self) -> TerminalEvent | None:
        if not self._events:
            return None
        event = self._events.popleft()
        if isinstance(event, TerminalOutput):
            self.position = event.offset + len(event.bytes)
            return replace(event, text=self._decoder.decode(event.bytes))
        if isinstance(event, (TerminalGap, TerminalRestore)):
            self.position = event.to if isinstance(event, TerminalGap) else event.offset
            self._begin_text()
        return event

    def restore(self) -> None:
        """The screen is drawn again, as it is after all that came."""
        self.position = None
        self.drop_output()

    def drop_output(self) -> None:
        """Before a connection that sends again what was not taken. An error or a title may not come again."""
        self._events = deque(event for event in self._events if isinstance(event, (TerminalError, TerminalTitle)))

    def clear(self) -> None:
        self._events.clear()

    def _begin_text(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
