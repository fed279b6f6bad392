"""The event loop of a session, created at the first await; it also runs between cells."""

import sys

# Modules in whose frames a loop waits for an event.
WAITS_IN = frozenset(("selectors", "asyncio.base_events", "asyncio.events", "asyncio.runners", "uvloop.loop"))


class Tasks:
    def __init__(self):
        self._loop = None
        self._task = None
        self._is_interrupted = False

    def lend(self):
        """Returns the loop to code that asks for it: `asyncio.run` leaves none behind."""
        if self._loop is None and "asyncio" not in sys.modules:
            return
        import asyncio

        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)

    def run(self, coroutine):
        import asyncio

        self.lend()
        self._is_interrupted = False
        self._task = self._loop.create_task(coroutine)
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError as error:
            if self._is_interrupted:
                # Shown where the code waited, which only the other exception knows.
                raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
            raise
        finally:
            self._task = None

    def cancel_where_idle(self, frame):
        """True if the cell waits in the loop, where an interrupt cancels it. Otherwise it gets an exception."""
        if self._task is None or frame is None or frame.f_globals.get("__name__") not in WAITS_IN:
            return False
        self._is_interrupted = True
        self._loop.call_soon_threadsafe(self._task.cancel)
        return True

    def wait(self, descriptor):
        """Runs the loop until input is readable; false without a loop or without work."""
        if self._loop is None or self._loop.is_closed() or self._loop.is_running():
            return False
        arrived = self._loop.create_future()
        self._loop.add_reader(descriptor, lambda: arrived.done() or arrived.set_result(None))
        try:
            self._loop.run_until_complete(arrived)
        finally:
            self._loop.remove_reader(descriptor)
        return True
