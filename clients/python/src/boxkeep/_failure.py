"""Turns what goes wrong with a request into one typed error."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import httpx2

from ._errors import BoxError, NotBoxkeep, NotTrusted, Unreachable
from ._record import Record
from ._wire import errors

# Statuses of a proxy whose daemon is away.
AWAY_STATUSES = (502, 503, 504)

TRUST = "Have this program trust the authority of the certificate."

# The connection never opened, so the request cannot have arrived.
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


class Attempt(NamedTuple):
    """A request that has failed."""

    error: BoxError
    after_s: float | None = None
    """The daemon asks for this pause; None where it does not."""


def unreachable(address: str, error: Exception) -> Attempt:
    """The connection did not open, or broke."""
    message = f"cannot reach {address}: {_describe(error)}"
    is_untrusted = any(isinstance(reason, ssl.SSLCertVerificationError) for reason in _reasons(error))
    failure = NotTrusted(message, hint=TRUST) if is_untrusted else _away(message, not isinstance(error, NEVER_SENT))
    failure.__cause__ = error
    return Attempt(failure)


def closed(address: str) -> Unreachable:
    """A stream has ended without its last line."""
    return _away(f"{address} has closed the connection")


def refused(address: str, has_key: bool, status: int, headers: Mapping[str, str], text: bytes) -> Attempt:
    """The answer is not a success."""
    answer = _failure_in(text)
    if answer is None:
        if status in AWAY_STATUSES:
            return Attempt(_away(f"{address} answers {status}: the daemon does not answer its proxy"))
        return Attempt(not_boxkeep(address, status))
    data = answer["data"]
    missing = "does not accept the key" if has_key else "needs a key"
    error = errors.get(data["code"], BoxError)(
        f"{address} {missing}" if status == 401 else answer["message"],
        hint=answer.get("hint"),
        retryable=data.get("retryable") is True,
        status=status,
        data=data,
        errors=answer.get("errors") or (),
    )
    # A daemon that is newer than the client may have other codes.
    error.code = data["code"]
    # The daemon refuses before it acts, and names seconds. A proxy may name a date.
    after = headers.get("retry-after")
    seconds = float(after) if after and re.fullmatch(r"\d+(\.\d+)?", after) else 0
    return Attempt(error, None if after is None else seconds)


def not_boxkeep(address: str, status: int) -> NotBoxkeep:
    message = f"what answers at {address} is not boxkeep (status {status})"
    hint = "Check the host, the port and the prefix."
    return NotBoxkeep(message, hint=hint, status=status, is_maybe_done=True)


def _failure_in(text: bytes) -> Any:
    """The envelope of a failure, or None for the answer of another server."""
    try:
        answer = json.loads(text, object_hook=Record)
    except ValueError:
        # The page of another server or of a proxy.
        return None
    is_failure = (
        isinstance(answer, dict)
        and isinstance(answer.get("message"), str)
        and isinstance(answer.get("data"), dict)
        and isinstance(answer["data"].get("code"), str)
    )
    return answer if is_failure else None


def _away(message: str, is_maybe_done: bool = True) -> Unreachable:
    hint = "Look whether the daemon runs there, and whether its port can be reached."
    return Unreachable(message, hint=hint, retryable=True, is_maybe_done=is_maybe_done)


def _describe(error: Exception) -> str:
    for reason in _reasons(error):
        if isinstance(reason, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({reason.verify_message})"
        if isinstance(reason, ssl.SSLError):
            return "the port does not speak TLS; use http://"
        if isinstance(reason, socket.gaierror):
            return "the host is not known"
        if isinstance(reason, ConnectionRefusedError):
            return "connection refused"
        if isinstance(reason, OSError) and reason.errno and reason.strerror:
            return reason.strerror.lower()
    if isinstance(error, httpx2.TimeoutException):
        return "no answer in time"
    return "the connection broke" if isinstance(error, httpx2.TransportError) else str(error)


def _reasons(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and those that it comes from. An attempt at several addresses has a group of errors."""
    while error is not None:
        yield error
        for one in getattr(error, "exceptions", ()):
            yield from _reasons(one)
        error = error.__cause__ or error.__context__
