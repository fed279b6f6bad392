"""Files of a sandbox. Paths are absolute, or relative to the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ._calls import AsyncFilesMethods

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import types


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
