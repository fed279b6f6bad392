"""The end of a wait of the caller, in a call and in a streamed answer."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2


class Deadline:
    """The end of a wait of the caller."""

    def __init__(self, timeout_s: float | None) -> None:
        self._timeout_s = timeout_s
        self._at = None if timeout_s is None else time.monotonic() + timeout_s

    def left_s(self, longest_s: float | None = None) -> float | None:
        """The seconds that are left, at most `longest_s`; None without any limit. Raises TimeoutError after the end."""
        if self._at is None:
            return longest_s
        left_s = self._at - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"the wait has ended after {self._timeout_s} s; what it waited for goes on")
        return left_s if longest_s is None else min(left_s, longest_s)

    @contextmanager
    def ends(self, response: httpx2.Response) -> Iterator[None]:
        """Ends the connection of a streamed answer in time, however often the daemon sends something."""
        left_s = self.left_s()
        # A transport of the caller may have no socket; then the wait ends with the next line of the daemon.
        stream = response.extensions.get("network_stream")
        if left_s is None or stream is None:
            yield
            return
        timer = threading.Timer(left_s, shut_down, (stream.get_extra_info("socket"),))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def shut_down(connection: Any) -> None:
    """Ends a connection for the thread or the task that waits for it."""
    # asyncio has a class of its own. The method of a TLS socket would disturb the thread that reads.
    kind = socket.socket if isinstance(connection, socket.socket) else type(connection)
    try:
        kind.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        # The connection is closed already.
        return
