"""A file that is read when its bytes are asked for, in constant memory and with its digest compared."""

from __future__ import annotations

import asyncio
import builtins
import hashlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from .._backoff import Backoff
from .._deadline import Deadline
from .._errors import BoxError, ContentDiffers
from .._failure import closed
from .._local import PartFile
from .._wire import RangeNotSatisfiable

if TYPE_CHECKING:
    from hashlib import _Hash

    from .. import types
    from .._local import LocalPath, OnProgress
    from ._transport import AsyncTransport

DOWNLOAD_AGAIN = "Download it again; a file that was being saved goes on where it stopped."


class AsyncDownload:
    """Each reading begins anew. Raises a BoxError, at the end also where the bytes are not those of the file."""

    def __init__(
        self,
        transport: AsyncTransport,
        path: str,
        stat: types.FileStat,
        more: types.FilesDownloadMore,
        on_progress: OnProgress | None,
    ) -> None:
        self._transport = transport
        self._path = path
        self._more = more
        self._on_progress = on_progress
        self.stat = stat
        """As it was when the download was made. When the file has changed since, reading it fails."""
        self.size = stat.size
        self.etag = stat.etag

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._path}>"

    async def __aiter__(self) -> AsyncIterator[builtins.bytes]:
        digest = hashlib.sha256()
        async for piece in self._pieces(0):
            digest.update(piece)
            yield piece
        await self._verify(digest)

    async def bytes(self) -> builtins.bytes:
        return b"".join([piece async for piece in self])

    async def save_to(self, path: LocalPath) -> None:
        """Writes a file on this machine with the mode of the other one, under its name when it is whole.

        What a broken download leaves is beside it, and the next one of the same content goes on there.
        """
        part = await asyncio.to_thread(PartFile, path, self.etag, self.stat.mode & 0o777)
        digest = hashlib.sha256()
        try:
            size = await asyncio.to_thread(part.add_to, digest)
            async for piece in self._pieces(size):
                digest.update(piece)
                await asyncio.to_thread(part.write, piece)
        finally:
            await asyncio.to_thread(part.close)
        try:
            await self._verify(digest)
        except ContentDiffers:
            part.remove()
            raise
        part.put_in_place()

    async def _pieces(self, start: int) -> AsyncIterator[builtins.bytes]:
        more = self._more.copy()
        deadline = Deadline(more.pop("timeout_s", None))
        backoff = Backoff(self._transport.budget(more.get("retry_s")), more.get("on_away"))
        report = self._on_progress or (lambda _: None)
        at = start
        report(at)
        while True:
            lost: BoxError = closed(self._transport.address)
            end: int | None = None
            length: str | None = None
            is_broken = False
            # A range is never compressed, so that its bytes are those of the file.
            headers = {"range": f"bytes={at}-", "if-match": self.etag}
            try:
                async with self._transport.open(
                    "files.download", deadline=deadline, headers=headers, path=self._path, **more
                ) as response:
                    # A proxy may leave the length out. A file of the kernel says that it has none.
                    length = response.headers.get("content-length")
                    end = self.size if length is None else at + int(length)
                    async for piece in response.aiter_raw():
                        backoff.reset()
                        at += len(piece)
                        yield piece
                        report(at)
            except RangeNotSatisfiable as error:
                if error.data.get("size") != at:
                    raise
                return
            except BoxError as error:
                # What does not open has been repeated already.
                if end is None or not error.retryable:
                    raise
                lost, is_broken = error, True
            if at >= end and not (is_broken and length is None and self.size == 0):
                return
            pause_s = backoff.pause_s(lost)
            if pause_s is None:
                raise backoff.gave_up(DOWNLOAD_AGAIN, lost) from lost
            await asyncio.sleep(deadline.left_s(pause_s) or 0)

    async def _verify(self, digest: _Hash) -> None:
        if self.size == 0:
            # A file of the kernel has no size, and other bytes each time.
            return
        found: types.FileStat = await self._transport.call("files.stat", path=self._path, sha256=True, **self._more)
        if found.etag != self.etag:
            raise ContentDiffers(f"{self._path} has changed while it was read")
        if found.sha256 != digest.hexdigest():
            raise ContentDiffers(f"what was read of {self._path} is not what is there")
