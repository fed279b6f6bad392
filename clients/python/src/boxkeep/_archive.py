"""Directories of this machine as a stream of tar, in constant memory."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from typing import IO, cast

from ._errors import LocalFailed
from ._local import PIECE_BYTES, LocalPath, on_this_machine

END_OF_ARCHIVE = bytes(2 * tarfile.BLOCKSIZE)


def packed(directory: LocalPath) -> Iterator[bytes]:
    """Headers come from `tarfile`, and contents from here, because `TarFile` writes where a request has to read."""
    root = os.path.realpath(directory)
    with on_this_machine(directory), tarfile.open(fileobj=io.BytesIO(), mode="w") as tar:
        for path in _tree(root):
            entry = tar.gettarinfo(path, os.path.relpath(path, root))
            if entry is None:
                # A socket.
                continue
            # A fraction of a second would double the headers.
            entry.mtime = int(entry.mtime)
            found = os.lstat(path)
            if found.st_nlink == 1:
                # `TarFile` would keep every name, in order to find more links to the same file.
                vars(tar)["inodes"].pop((found.st_ino, found.st_dev), None)
            yield entry.tobuf()
            if entry.isreg():
                yield from _content(path, entry.size)
    yield END_OF_ARCHIVE


def _tree(directory: str) -> Iterator[str]:
    yield directory
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if os.path.isdir(path) and not os.path.islink(path):
            yield from _tree(path)
        else:
            yield path


def _content(path: str, size: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        left = size
        while left > 0:
            piece = file.read(min(left, PIECE_BYTES))
            if not piece:
                raise LocalFailed(f"{path} became shorter while it was read")
            left -= len(piece)
            yield piece
    if size % tarfile.BLOCKSIZE:
        yield bytes(-size % tarfile.BLOCKSIZE)


class Pull:
    """The pieces of an archive as a file that `tarfile` reads."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._rest:
            coming = self._next()
            if coming is None:
                return b""
            self._rest = memoryview(coming)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece.tobytes()

    def close(self) -> None:
        """Nothing reads any more."""

    def _next(self) -> bytes | None:
        return next(self._pieces, None)


class AsyncPull(Pull):
    """The same in a thread, for pieces that come in the loop of asyncio."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        super().__init__(iter(()))
        self._coming = pieces
        self._loop = asyncio.get_running_loop()
        self._waiting: Future[bytes | None] | None = None
        self._is_closed = False

    def close(self) -> None:
        self._is_closed = True
        if self._waiting:
            self._waiting.cancel()

    def _next(self) -> bytes | None:
        if self._is_closed:
            raise EOFError("the download has been cancelled")
        self._waiting = asyncio.run_coroutine_threadsafe(self._piece(), self._loop)
        return self._waiting.result()

    async def _piece(self) -> bytes | None:
        async for piece in self._coming:
            return piece
        return None


def unpack(archive: Pull, directory: LocalPath) -> None:
    """Makes the entries of an archive. They belong to this user, and none is outside of the directory."""
    root = os.path.realpath(directory)
    try:
        with on_this_machine(directory):
            os.makedirs(root, exist_ok=True)
            with tarfile.open(fileobj=cast("IO[bytes]", archive), mode="r|") as tar:
                while (entry := tar.next()) is not None:
                    _extract(tar, entry, root)
                    # `TarFile` would keep every entry. The attribute has no type, and has been there since Python 2.
                    vars(tar)["members"].clear()
    except tarfile.TarError as error:
        raise LocalFailed(f"{os.fspath(directory)}: {error}") from error


def _extract(tar: tarfile.TarFile, entry: tarfile.TarInfo, root: str) -> None:
    # The time and the mode of a directory would have to be set after its entries.
    has_attributes = not entry.isdir()
    if hasattr(tarfile, "data_filter"):
        tar.extract(entry, root, set_attrs=has_attributes, filter="data")
        return
    refuse_outside(entry, root)
    entry.uid, entry.gid, entry.uname, entry.gname = os.getuid(), os.getgid(), "", ""
    tar.extract(entry, root, set_attrs=has_attributes)


def refuse_outside(entry: tarfile.TarInfo, root: str) -> None:
    """For a Python whose `tarfile` has no filters."""
    base = os.path.dirname(entry.name) if entry.issym() else ""
    target = os.path.join(base, entry.linkname) if entry.issym() or entry.islnk() else ""
    for path in (entry.name, target):
        if os.path.commonpath([root, os.path.realpath(os.path.join(root, path))]) != root:
            raise tarfile.ReadError(f"{entry.name} would leave the directory")
    if not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
        raise tarfile.ReadError(f"{entry.name} is a device or a pipe")
