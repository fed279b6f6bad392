"""Changes of files, as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from .._change import Lost
from .._deadline import Deadline
from .._errors import BoxError
from .._wire import WatcherNotFound

if TYPE_CHECKING:
    from typing_extensions import Self

    from .. import types
    from ._transport import AsyncTransport

# How long the daemon holds one request open.
POLL_S = 25


class AsyncWatch:
    """A path that is being watched. `stop`, or leaving a `with` over it, ends that."""

    def __init__(self, transport: AsyncTransport, path: str, more: types.WatchCreateMore) -> None:
        self._transport = transport
        self._path = path
        self._more = more
        self._options: types.CallOptions = {}
        if "retry_s" in more:
            self._options["retry_s"] = more["retry_s"]
        if "on_away" in more:
            self._options["on_away"] = more["on_away"]
        self._id = ""
        self._cursor = 0
        self._is_stopped = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._path}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def __aiter__(self) -> AsyncIterator[types.WatchEvent | Lost]:
        """Ends when the path is gone, and after `stop`. Raises a BoxError."""
        deadline = Deadline(self._more.get("timeout_s"))
        while not self._is_stopped:
            try:
                page: types.WatchPage = await self._transport.call(
                    "watch.poll",
                    deadline=deadline,
                    id=self._id,
                    cursor=self._cursor,
                    timeout=POLL_S,
                    **self._options,
                )
            except WatcherNotFound:
                if self._is_stopped:
                    return
                # A watcher ends with its daemon. The path is watched again before the caller hears of the loss.
                await self.start()
                yield Lost()
                continue
            self._cursor = page.cursor
            if page.overflow:
                yield Lost()
            for event in page.events:
                yield event
            if page.status == "gone" and not page.events:
                return

    async def start(self) -> None:
        made: types.WatchCreateData = await self._transport.call("watch.create", path=self._path, **self._more)
        self._id, self._cursor = made.watcher_id, made.initial_cursor

    async def stop(self) -> None:
        if self._is_stopped:
            return
        self._is_stopped = True
        try:
            await self._transport.call("watch.stop", id=self._id, retry_s=0)
        except BoxError:
            # A daemon that is away has stopped it.
            return
