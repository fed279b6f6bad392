"""Code of a sandbox: single runs, and sessions that keep their state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._wire import SessionExists
from ._calls import AsyncCodeMethods, AsyncCodeSessionMethods

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import types
    from ._transport import AsyncTransport


class AsyncCode(AsyncCodeMethods):
    async def session(self, **more: Unpack[types.CodeCreateSessionInput]) -> AsyncCodeSession:
        """Makes a session. With an `id`, the session of that name when there is one."""
        try:
            made: types.CodeCreateSessionData = await self._transport.call("code.create_session", **more)
        except SessionExists:
            if "id" not in more:
                raise
            return await self.connect(more["id"])
        return AsyncCodeSession(self._transport, made.session_id, made.language)

    async def connect(self, id: str, **options: Unpack[types.CallOptions]) -> AsyncCodeSession:
        """A session that was made before, by any client."""
        found: types.CodeSessionDetail = await self._transport.call("code.get_session", id=id, **options)
        return AsyncCodeSession(self._transport, id, found.language)


class AsyncCodeSession(AsyncCodeSessionMethods):
    """An interpreter that keeps its variables from one cell to the next."""

    def __init__(self, transport: AsyncTransport, id: str, language: Literal["python", "javascript"]) -> None:
        super().__init__(transport, id)
        self.language = language
