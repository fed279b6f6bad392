"""A state that several tasks or threads share, and work beside the caller, in both forms."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

AsyncLock = asyncio.Lock
Lock = threading.Lock


class AsyncMonitor:
    """Wakes everything that waits for a change of a state. Between two waits, a task has the state for itself."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        return None

    async def wait(self, timeout_s: float | None = None) -> None:
        """For the next change, or so long."""
        changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(changed)
        # Unlike `wait_for`, this tells the end of the time from a cancelled caller in each version of Python.
        await asyncio.wait([changed], timeout=timeout_s)
        if not changed.done():
            self._waiting.remove(changed)

    def notify(self) -> None:
        for changed in self._waiting:
            if not changed.done():
                changed.set_result(None)
        self._waiting.clear()


class Monitor:
    """The same for threads, one of which at a time has the state inside `with`."""

    def __init__(self) -> None:
        self._condition = threading.Condition()

    def __enter__(self) -> None:
        self._condition.acquire()

    def __exit__(self, *_: object) -> None:
        self._condition.release()

    def wait(self, timeout_s: float | None = None) -> None:
        self._condition.wait(timeout_s)

    def notify(self) -> None:
        self._condition.notify_all()


class AsyncWorker:
    """Work that goes on beside the caller."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._task = asyncio.ensure_future(work())

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


class Worker:
    """The same in a thread, which does not keep the program from ending."""

    def __init__(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def stop(self) -> None:
        """Nothing stops a thread from outside. The work ends when its connection does."""
