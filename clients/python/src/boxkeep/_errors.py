"""The errors of the client. `_wire.py` has a class for each code of the daemon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

if TYPE_CHECKING:
    from . import types
    from ._wire import ErrorCode

    Code = Union[
        ErrorCode,
        Literal["unreachable", "not_boxkeep", "not_trusted", "bad_key", "gave_up", "local_failed", "content_differs"],
        Literal["input_in_doubt", "detached"],
    ]


class BoxError(Exception):
    """A call has failed. Never holds the key."""

    code: Code = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        is_maybe_done: bool = False,
        status: int | None = None,
        data: Mapping[str, Any] | None = None,
        errors: Sequence[types.FailureErrors] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        """What to do next; None where the message says it."""
        self.retryable = retryable
        """Whether the same call may succeed later."""
        self.is_maybe_done = is_maybe_done
        """Whether the call may have had its effect although it failed, because its answer was lost."""
        self.status = status
        """The HTTP status; None without an answer."""
        self.data: Mapping[str, Any] = data or {}
        """What the daemon says about the failure, such as `errno_name` of a file."""
        self.errors = errors
        """Of `invalid_input`: the fields that are wrong."""

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class Unreachable(BoxError):
    """No answer came, so the daemon or the way to it is down."""

    code = "unreachable"


class NotBoxkeep(BoxError):
    """Something else answers at this address."""

    code = "not_boxkeep"


class NotTrusted(BoxError):
    """The certificate of the daemon has no authority that is trusted here."""

    code = "not_trusted"


class BadKey(BoxError):
    """The key cannot be one, or stands in the address."""

    code = "bad_key"


class GaveUp(BoxError):
    """The daemon was away for longer than the caller waits."""

    code = "gave_up"


class LocalFailed(BoxError):
    """A file of this machine cannot be read or written."""

    code = "local_failed"


class ContentDiffers(BoxError):
    """The bytes of a transfer are not those of the file."""

    code = "content_differs"

    def __init__(self, message: str, **facts: Any) -> None:
        hint = "Transfer it again; nothing else may write it meanwhile."
        super().__init__(message, **{"hint": hint, "retryable": True, **facts})


class InputInDoubt(BoxError):
    """Nothing tells whether a terminal got what was typed."""

    code = "input_in_doubt"

    def __init__(self, doubt: int) -> None:
        message = f"the connection broke while {doubt} bytes of input were sent; the terminal may not have got them"
        hint = "Look at the screen before the input is typed again."
        super().__init__(message, hint=hint, data={"bytes": doubt})


class Detached(BoxError):
    """The caller has left the terminal."""

    code = "detached"
