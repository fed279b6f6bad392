"""What an upload sends, from the beginning in each attempt."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from .._errors import GaveUp
from .._local import is_async_iterable, is_path, is_read_once, pieces_of, position_of

if TYPE_CHECKING:
    from .._deadline import Deadline
    from .._local import AsyncSource, LocalPath, OnProgress

FILE_TYPE = "application/octet-stream"


class AsyncContent:
    def __init__(
        self,
        source: AsyncSource,
        pieces_of_path: Callable[[LocalPath], Iterator[bytes]],
        type: str,
        deadline: Deadline,
        on_progress: OnProgress | None,
    ) -> None:
        self.type = type
        self._source: Any = source
        self._pieces_of_path = pieces_of_path
        self._deadline = deadline
        self._on_progress = on_progress
        self._start = position_of(source)
        self._is_used = False
        self.digest = hashlib.sha256()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._is_used and is_read_once(self._source):
            hint = "Nothing of it is there. Send it again from its beginning."
            raise GaveUp("the upload broke off, and its source can be read once", hint=hint)
        self._is_used = True
        self.digest = digest = hashlib.sha256()
        async for piece in counted(self._pieces(), self._on_progress):
            self._deadline.left_s()
            if self.type == FILE_TYPE:
                # The daemon answers the digest of a file, and none of an archive.
                digest.update(piece)
            yield piece

    async def _pieces(self) -> AsyncIterator[bytes]:
        if is_async_iterable(self._source):
            async for piece in cast("AsyncIterable[bytes]", self._source):
                yield piece
            return
        if self._start is not None:
            self._source.seek(self._start)
        pieces = self._pieces_of_path(self._source) if is_path(self._source) else pieces_of(self._source)
        while (some := await asyncio.to_thread(next, pieces, None)) is not None:
            yield some


async def counted(pieces: AsyncIterator[bytes], on_progress: OnProgress | None) -> AsyncIterator[bytes]:
    """Reports the bytes that the reader has taken so far."""
    report = on_progress or (lambda _: None)
    count = 0
    report(count)
    async for piece in pieces:
        count += len(piece)
        yield piece
        report(count)
