"""Files of a sandbox. Paths are absolute, or relative to the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from .._archive import AsyncPull, packed, unpack
from .._deadline import Deadline
from .._errors import ContentDiffers
from .._local import is_path, mode_of_file, pieces_of_file
from ._calls import AsyncFilesMethods
from ._content import FILE_TYPE, AsyncContent, counted
from ._download import AsyncDownload
from ._watch import AsyncWatch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import types
    from .._local import AsyncSource, LocalPath, OnProgress, Writable


class AsyncFiles(AsyncFilesMethods):
    async def write(self, path: str, content: str, **more: Unpack[types.FilesWriteMore]) -> types.WrittenFile:
        """Replaces the file as a whole: a reader sees the old content or the new one."""
        # The same content twice is the content once, unless it is appended or the file has to be as before.
        is_repeatable = not (more.get("append") or "if_match" in more or "if_none_match" in more)
        answer: types.WrittenFile = await self._transport.call(
            "files.write", path=path, content=content, is_repeatable=is_repeatable, **more
        )
        return answer

    async def edit(
        self,
        path: str,
        edits: types.FileEditRequestEdits | Sequence[types.FileEditRequestEdits],
        **more: Unpack[types.FilesEditMore],
    ) -> types.EditedFile:
        """Makes all edits in one step, or none. An `old_str` has to occur once, unless it has a `replace_mode`."""
        several = [edits] if isinstance(edits, Mapping) else list(edits)
        answer: types.EditedFile = await self._transport.call("files.edit", path=path, edits=several, **more)
        return answer

    async def upload(
        self,
        source: AsyncSource,
        path: str,
        *,
        on_progress: OnProgress | None = None,
        **more: Unpack[types.FilesUploadMore],
    ) -> types.UploadedFile:
        """Sends a file of this machine with its mode, or a content, and puts it in its place in one step.

        It is sent again when the connection breaks, unless the source can be read once only. `on_progress` gets the
        bytes that were sent so far, from 0 again in each attempt.
        """
        if is_path(source):
            more.setdefault("mode", await asyncio.to_thread(mode_of_file, source))
        deadline = Deadline(more.pop("timeout_s", None))
        content = AsyncContent(source, pieces_of_file, FILE_TYPE, deadline, on_progress)
        answer: types.UploadedFile = await self._transport.call(
            "files.upload", path=path, upload=content, deadline=deadline, is_repeatable=True, **more
        )
        if answer.sha256 != content.digest.hexdigest():
            raise ContentDiffers(f"what arrived as {answer.path} is not what was sent")
        return answer

    async def download(
        self, path: str, *, on_progress: OnProgress | None = None, **more: Unpack[types.FilesDownloadMore]
    ) -> AsyncDownload:
        """The bytes of a file, which come when they are read or saved."""
        stat: types.FileStat = await self._transport.call("files.stat", path=path, **more)
        return AsyncDownload(self._transport, path, stat, more, on_progress)

    async def upload_directory(
        self,
        source: AsyncSource,
        path: str,
        *,
        on_progress: OnProgress | None = None,
        **more: Unpack[types.FilesUnpackMore],
    ) -> types.UnpackedTree:
        """Sends a directory of this machine, or a tar archive, whose entries join those that are there."""
        deadline = Deadline(more.pop("timeout_s", None))
        content = AsyncContent(source, packed, "application/x-tar", deadline, on_progress)
        answer: types.UnpackedTree = await self._transport.call(
            "files.unpack", path=path, upload=content, deadline=deadline, is_repeatable=True, **more
        )
        return answer

    async def download_directory(
        self,
        path: str,
        target: LocalPath | Writable,
        *,
        on_progress: OnProgress | None = None,
        **more: Unpack[types.FilesPackMore],
    ) -> None:
        """Into a directory of this machine, whose entries it joins, or as a tar archive into a binary file."""
        deadline = Deadline(more.pop("timeout_s", None))
        async with self._transport.open("files.pack", deadline=deadline, path=path, **more) as response:
            pieces = counted(response.aiter_raw(), on_progress)
            if is_path(target):
                pull = AsyncPull(pieces)
                try:
                    await asyncio.to_thread(unpack, pull, target)
                finally:
                    pull.close()
            else:
                file = cast("Writable", target)
                async for piece in pieces:
                    await asyncio.to_thread(file.write, piece)

    async def watch(self, path: str, **more: Unpack[types.WatchCreateMore]) -> AsyncWatch:
        """Changes of a file, or below a directory, from now on."""
        watch = AsyncWatch(self._transport, path, more)
        await watch.start()
        return watch
