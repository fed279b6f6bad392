"""What the programs need in two forms: a call that runs beside the program, and lines for the test."""

import asyncio
import json
import threading


def show(name, value):
    print(json.dumps([name, value]), flush=True)


class AsyncWaiting:
    """A call that runs beside the program."""

    def __init__(self, function, *args):
        self._task = asyncio.ensure_future(function(*args))

    async def cancel(self):
        await asyncio.sleep(0.05)
        self._task.cancel()
        await asyncio.wait([self._task])
        assert self._task.cancelled()

    async def result(self):
        return await self._task


class Waiting:
    """The same in a thread."""

    def __init__(self, function, *args):
        self._thread = threading.Thread(target=self._run, args=(function, *args))
        self._thread.start()

    def _run(self, function, *args):
        self._result = function(*args)

    def result(self):
        self._thread.join()
        return self._result
