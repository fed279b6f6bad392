"""A boxkeep sandbox as a backend of LangChain deepagents.

Files are read, written and searched by routes of the daemon, so the image needs no Python. The methods follow the
protocol of deepagents 0.7.32: `glob` finds regular files and returns absolute paths, and `write` overwrites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._errors import BoxError
from .._sync._sandbox import Sandbox
from .._wire import FileNotFound, FileNotText, PreconditionFailed
from ._account import Right, above, may
from ._framework import framework, implements_all

with framework("deepagents", "deepagents"):
    from deepagents.backends.protocol import (
        ASYNC_GLOB_TIMEOUT,
        FILE_NOT_FOUND,
        INVALID_PATH,
        IS_DIRECTORY,
        PERMISSION_DENIED,
        BackendProtocol,
        DeleteResult,
        EditResult,
        ExecuteResponse,
        FileData,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepMatch,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
    from deepagents.backends.sandbox import (
        MAX_BINARY_BYTES,
        MAX_OUTPUT_BYTES,
        TRUNCATION_MSG,
        BaseSandbox,
    )
    from deepagents.backends.utils import EMPTY_OLD_STRING_ERROR, normalize_read_bounds

if TYPE_CHECKING:
    from .. import types

EMPTY_FILE = "System reminder: File exists but has empty contents"

# The most that the daemon answers at once.
MAX_MATCHES = 10_000

# The daemon names a file that is not UTF-8 as a URL.
ABSOLUTE = ("/", "file:///")

# As `timeout` of coreutils.
TIMED_OUT = 124

ERRORS = {
    "ENOENT": FILE_NOT_FOUND,
    "EACCES": PERMISSION_DENIED,
    "EPERM": PERMISSION_DENIED,
    "EISDIR": IS_DIRECTORY,
    "ENOTDIR": INVALID_PATH,
    "EINVAL": INVALID_PATH,
    "ENAMETOOLONG": INVALID_PATH,
    "ELOOP": INVALID_PATH,
}


class BoxkeepSandbox(BaseSandbox):
    """Runs the tools of an agent in the sandbox of a daemon.

    `timeout_s` ends a command for which the agent names no timeout. The daemon goes on with a command while it is
    replaced itself, and a call that a dying daemon has not answered is repeated.
    """

    def __init__(self, box: Sandbox, *, timeout_s: int = 1800) -> None:
        self._box = box
        self._timeout_s = timeout_s

    @property
    def id(self) -> str:
        return self._box.address

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        limit_s = self._timeout_s if timeout is None else timeout
        options: types.CommandsRunMore = {"merge": True, "stdin": "null", "max_output_length": 0}
        if limit_s:
            # For deepagents, 0 seconds are no limit.
            options["hard_timeout"] = limit_s
        try:
            run = self._box.commands.run(command, **options)
        except BoxError as error:
            if error.retryable:
                raise
            return ExecuteResponse(output=str(error), exit_code=1)
        if run.status == "timed_out":
            note = f"\nError: Command timed out after {limit_s} seconds."
            return ExecuteResponse(run.stdout + note, TIMED_OUT, run.truncated)
        if run.error is not None:
            return ExecuteResponse(output=run.error.message, exit_code=127)
        return ExecuteResponse(run.stdout, run.exit_code, run.truncated)

    def ls(self, path: str) -> LsResult:
        try:
            self._check("r", path)
            entries: list[FileInfo] = []
            options: types.FilesListMore = {}
            while True:
                page = self._box.files.list(path, **options)
                for file in page.files:
                    info: FileInfo = {"path": file.path, "is_dir": file.is_directory and not file.is_symlink}
                    if file.size is not None:
                        info["size"] = file.size
                    if file.modified_time is not None:
                        info["modified_at"] = file.modified_time
                    entries.append(info)
                if page.next_cursor is None:
                    return LsResult(entries=entries)
                options["cursor"] = page.next_cursor
        except BoxError as error:
            return LsResult(error=f"Path '{path}': {_reason(error)}")

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        first, count = normalize_read_bounds(offset, limit)
        try:
            self._check("r", file_path)
            return self._read_text(file_path, first, count)
        except FileNotText:
            return self._read_binary(file_path)
        except BoxError as error:
            return ReadResult(error=f"File '{file_path}': {_reason(error)}")

    def write(self, file_path: str, content: str) -> WriteResult:
        try:
            self._check("w", file_path)
            self._box.files.write(file_path, content)
            return WriteResult(path=file_path)
        except BoxError as error:
            return WriteResult(error=f"Failed to write file '{file_path}': {_reason(error)}")

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        if not old_string:
            return EditResult(error=EMPTY_OLD_STRING_ERROR)
        try:
            self._check("w", file_path)
            file = self._box.files.read(file_path)
            if file.encoding != "utf-8":
                return EditResult(error=f"Error: File '{file_path}' is not a text file")
            old, new = _with_line_ends_of(file.content, old_string, new_string)
            count = file.content.count(old)
            if count == 0:
                return EditResult(error=f"Error: String not found in file: '{old_string}'")
            if count > 1 and not replace_all:
                advice = "Use replace_all=True to replace all occurrences."
                return EditResult(error=f"Error: String '{old_string}' appears multiple times. {advice}")
            self._replace(file_path, file.etag, file.content.replace(old, new))
            return EditResult(path=file_path, occurrences=count)
        except FileNotText:
            return EditResult(error=f"Error: File '{file_path}' is not a text file")
        except FileNotFound:
            return EditResult(error=f"Error: File '{file_path}' not found")
        except BoxError as error:
            return EditResult(error=f"Error editing file '{file_path}': {_reason(error)}")

    def delete(self, file_path: str) -> DeleteResult:
        try:
            # The entry stands in the directory above, and that is what changes.
            self._check("w", above(file_path))
            self._box._transport.call("files.delete", path=file_path, recursive=True, is_repeatable=True)
            return DeleteResult(path=file_path)
        except FileNotFound as error:
            if error.is_maybe_done:
                # The answer to the first request was lost.
                return DeleteResult(path=file_path)
            return DeleteResult(error=f"Error: '{file_path}' not found")
        except BoxError as error:
            return DeleteResult(error=f"Error deleting file '{file_path}': {_reason(error)}")

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        root = path or "."
        matches: list[GrepMatch] = []
        options: types.FilesGrepMore = {
            "fixed_strings": True,
            "multiline": "\n" in pattern,
            "show_hidden": True,
            "ignore": "none",
            "max_file_size": "512M",
            # A search that begins in such a directory searches it.
            "exclude": [name for name in self.grep_exclude_dirs if name != root.rstrip("/").rpartition("/")[2]],
        }
        if glob:
            options["include"] = glob
        try:
            self._check("r", root)
            while True:
                wanted = MAX_MATCHES if max_count is None else min(MAX_MATCHES, max_count - len(matches))
                if wanted <= 0:
                    return GrepResult(matches=matches, truncated=True)
                options["max_results"], options["offset"] = wanted, len(matches)
                found = self._box.files.grep(root, pattern, **options)
                for match in found.matches:
                    matches.append({"path": match.file, "line": match.line_number, "text": match.line_content})
                if not found.truncated:
                    return GrepResult(matches=matches)
        except BoxError as error:
            return GrepResult(error=f"Path '{root}': {_reason(error)}")

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return self._glob(pattern, path, "file")

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [FileUploadResponse(path=path, error=self._upload(path, content)) for path, content in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    # The base class runs scripts in these methods. Those of the protocol call the methods above in a thread.
    als = BackendProtocol.als
    aread = BackendProtocol.aread
    awrite = BackendProtocol.awrite
    aedit = BackendProtocol.aedit
    adelete = BackendProtocol.adelete
    agrep = BackendProtocol.agrep
    aglob = BackendProtocol.aglob

    def _read_text(self, path: str, first: int, count: int) -> ReadResult:
        room = MAX_OUTPUT_BYTES - len(TRUNCATION_MSG)
        page = self._box.files.read(path, start_line=first, end_line=first + count, max_bytes=room)
        if page.size == 0:
            return _text(EMPTY_FILE)
        if count == 0:
            return ReadResult(file_data=FileData(content="", encoding="utf-8"), no_lines_requested=True)
        total = page.line_count or 0
        if first >= total:
            return ReadResult(error=f"File '{path}': Line offset {first} exceeds file length ({total} lines)")
        content = page.content.replace("\r\n", "\n")
        # A line that is longer than the answer counts as read, so that the next page begins behind it.
        end = first + content.count("\n") + (0 if content.endswith("\n") else 1)
        shown = content.removesuffix("\n") + (TRUNCATION_MSG if page.truncated else "")
        return ReadResult(
            file_data=FileData(content=shown, encoding="utf-8"),
            total_lines=total,
            start_line=first + 1,
            end_line=end,
            next_offset=end if end < total else None,
        )

    def _read_binary(self, path: str) -> ReadResult:
        try:
            size = self._box.files.stat(path).size
            if size > MAX_BINARY_BYTES:
                limit = f"Binary file exceeds maximum preview size of {MAX_BINARY_BYTES} bytes"
                return ReadResult(error=f"File '{path}': {limit}")
            content = self._box.files.read(path, encoding="base64").content
            return ReadResult(file_data=FileData(content=content, encoding="base64"))
        except BoxError as error:
            return ReadResult(error=f"File '{path}': {_reason(error)}")

    def _replace(self, path: str, etag: str, content: str) -> None:
        """Writes the content, unless the file has changed. An answer that got lost is looked for in the file."""
        write = self._box._transport.call
        try:
            write("files.write", path=path, content=content, if_match=etag, is_repeatable=True)
        except PreconditionFailed as error:
            if not error.is_maybe_done or self._box.files.read(path).content != content:
                raise

    def _glob(self, pattern: str, path: str | None, type: Literal["file", "any"]) -> GlobResult:
        root = path or "/"
        root = root if root.startswith("/") else f"/{root}"
        try:
            self._check("r", root)
            found = self._box.files.search(root, pattern, type=type, details=True, timeout_s=ASYNC_GLOB_TIMEOUT)
        except BoxError as error:
            return GlobResult(error=f"Path '{root}': {_reason(error)}")
        except TimeoutError:
            limit = f"glob timed out after {ASYNC_GLOB_TIMEOUT}s. Try a more specific pattern or a narrower path."
            return GlobResult(error=f"Error: {limit}")
        matches: list[FileInfo] = [
            {"path": entry.path, "is_dir": entry.type == "directory"} for entry in found.entries or []
        ]
        if found.skipped_count:
            return GlobResult(matches=matches, truncated=True, truncation_reason="unreadable")
        reason: Literal["budget"] | None = "budget" if found.truncated else None
        return GlobResult(matches=matches, truncated=found.truncated, truncation_reason=reason)

    def _upload(self, path: str, content: bytes) -> str | None:
        if not path.startswith(ABSOLUTE):
            return INVALID_PATH
        try:
            self._check("w", path)
            self._box.files.upload(content, path)
            return None
        except BoxError as error:
            return _reason(error)

    def _download(self, path: str) -> FileDownloadResponse:
        if not path.startswith(ABSOLUTE):
            return FileDownloadResponse(path=path, error=INVALID_PATH)
        try:
            self._check("r", path)
            return FileDownloadResponse(path=path, content=self._box.files.download(path).bytes())
        except BoxError as error:
            return FileDownloadResponse(path=path, error=_reason(error))

    def _check(self, want: Right, path: str) -> None:
        if self._box.commands.run(**may(want, path)).exit_code != 0:
            raise BoxError(f"the account may not access {path}", data={"errno_name": "EACCES"})


implements_all(BoxkeepSandbox, "deepagents", "deepagents")


def _text(content: str) -> ReadResult:
    return ReadResult(file_data=FileData(content=content, encoding="utf-8"))


def _reason(error: BoxError) -> str:
    """A word that deepagents knows, or the sentence of the daemon. A daemon that is away is an exception."""
    if error.retryable:
        raise error
    return ERRORS.get(error.data.get("errno_name") or "", str(error))


def _with_line_ends_of(text: str, old: str, new: str) -> tuple[str, str]:
    """Models see LF only. The first form that occurs in the file decides, as in the base class."""
    lf = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    crlf = (lf[0].replace("\n", "\r\n"), lf[1].replace("\n", "\r\n"))
    return next((form for form in ((old, new), crlf, lf) if form[0] in text), (old, new))
