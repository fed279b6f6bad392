"""Files of this machine: what an upload reads, and where a download is saved."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, Union

from ._errors import LocalFailed

if TYPE_CHECKING:
    from hashlib import _Hash

    from typing_extensions import TypeGuard

PIECE_BYTES = 256 * 1024


class Readable(Protocol):
    """A binary file."""

    def read(self, size: int, /) -> bytes: ...


class Writable(Protocol):
    """A binary file."""

    def write(self, piece: bytes, /) -> object: ...


LocalPath = Union[str, "os.PathLike[str]"]

# A path, or the content itself. What can be read once only is sent once.
Source = Union[LocalPath, bytes, bytearray, memoryview, Readable, Iterable[bytes]]
AsyncSource = Union[Source, AsyncIterable[bytes]]

OnProgress = Callable[[int], object]


@contextmanager
def on_this_machine(what: LocalPath) -> Iterator[None]:
    """Errors of the work are those of this machine, not of the sandbox."""
    try:
        yield
    except TimeoutError:
        # The caller's time is up.
        raise
    except OSError as error:
        raise LocalFailed(f"{os.fspath(what)}: {error.strerror or error}") from error


def is_path(source: object) -> TypeGuard[LocalPath]:
    return isinstance(source, (str, os.PathLike))


def is_async_iterable(source: object) -> bool:
    return hasattr(source, "__aiter__")


def position_of(source: Any) -> int | None:
    """Where a file is now, to which each attempt goes back; None of other sources."""
    return source.tell() if hasattr(source, "seekable") and source.seekable() else None


def is_read_once(source: object) -> bool:
    if hasattr(source, "read"):
        return position_of(source) is None
    return hasattr(source, "__next__") or hasattr(source, "__anext__")


def pieces_of(source: Any) -> Iterator[bytes]:
    """Of a content that is no path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        whole = memoryview(source).cast("B")
        for at in range(0, len(whole), PIECE_BYTES):
            yield whole[at : at + PIECE_BYTES].tobytes()
    elif hasattr(source, "read"):
        yield from pieces_of_open_file(source, "the source of the upload")
    else:
        yield from filter(None, source)


def pieces_of_file(path: LocalPath) -> Iterator[bytes]:
    with on_this_machine(path):
        file = open(path, "rb")
    with file:
        yield from pieces_of_open_file(file, path)


def pieces_of_open_file(file: Readable, path: LocalPath) -> Iterator[bytes]:
    """From the position of the file to its end."""
    while True:
        with on_this_machine(path):
            piece = file.read(PIECE_BYTES)
        if not piece:
            return
        yield piece


def mode_of_file(path: LocalPath) -> str:
    """Its permission bits as octal text."""
    with on_this_machine(path):
        return f"{os.stat(path).st_mode & 0o777:03o}"


class PartFile:
    """A file that gets its name when it is whole. Until then it is beside it, for the next download of this content."""

    def __init__(self, target: LocalPath, etag: str, mode: int) -> None:
        # A link leads to its target, and what is no file stays.
        self._target = os.path.realpath(target)
        if os.path.exists(self._target) and not os.path.isfile(self._target):
            raise LocalFailed(f"{os.fspath(target)}: is not a regular file")
        self._path = f"{self._target}.{re.sub('[^A-Za-z0-9_]+', '-', etag)[1:]}part"
        with on_this_machine(self._path):
            self._file = open(self._path, "a+b", opener=lambda path, flags: os.open(path, flags, mode))

    def add_to(self, digest: _Hash) -> int:
        """Digests what is there, and returns its length."""
        self._file.seek(0)
        for piece in pieces_of_open_file(self._file, self._path):
            digest.update(piece)
        return self._file.tell()

    def write(self, piece: bytes) -> None:
        with on_this_machine(self._path):
            self._file.write(piece)

    def close(self) -> None:
        with on_this_machine(self._path):
            self._file.close()

    def remove(self) -> None:
        with on_this_machine(self._path):
            os.unlink(self._path)

    def put_in_place(self) -> None:
        with on_this_machine(self._target):
            os.replace(self._path, self._target)
