"""A part of a sandbox, whose methods call the daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._transport import AsyncTransport


class AsyncPlane:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport


class AsyncHandle(AsyncPlane):
    """Something in a sandbox that a method returns."""

    def __init__(self, transport: AsyncTransport, id: str) -> None:
        super().__init__(transport)
        self.id = id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"
