"""A sandbox: the planes of one daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from .._change import Lost
from .._failure import not_boxkeep
from .._record import Record
from ._calls import AsyncBrowser, AsyncDesktop, AsyncOperations, AsyncSandboxMethods
from ._code import AsyncCode
from ._commands import AsyncCommands
from ._files import AsyncFiles
from ._mcp import AsyncMcp
from ._terminals import AsyncTerminals
from ._transport import AsyncTransport
from ._watch import POLL_S

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self, Unpack

    from .. import types

OK = 200
# How long `wait_until_ready` waits.
READY_WITHIN_S = 60.0


class AsyncSandbox(AsyncSandboxMethods, AsyncOperations):
    """Sends nothing when it is made. Raises a BoxError for an address or a key that cannot be one.

    `http` is for proxies, certificates and tests. `retry_s` is the time for which calls are repeated: 30 s, and 2 s
    until a daemon has answered once, because the address may be wrong.
    """

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        retry_s: float | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        super().__init__(AsyncTransport(address, key, retry_s=retry_s, http=http))
        self.commands = AsyncCommands(self._transport)
        self.files = AsyncFiles(self._transport)
        self.terminals = AsyncTerminals(self._transport)
        self.code = AsyncCode(self._transport)
        self.browser = AsyncBrowser(self._transport)
        self.desktop = AsyncDesktop(self._transport)
        self.mcp = AsyncMcp(self._transport)

    @classmethod
    async def connect(
        cls,
        address: str,
        key: str | None = None,
        *,
        retry_s: float | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> Self:
        """Looks whether a daemon answers there and accepts the key."""
        sandbox = cls(address, key, retry_s=retry_s, http=http)
        try:
            info = await sandbox._transport.call("operations.sandbox", answers_at_once=True)
            if not isinstance(info, Record) or "version" not in info:
                raise not_boxkeep(sandbox.address, OK)
        except BaseException:
            await sandbox.close()
            raise
        return sandbox

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def address(self) -> str:
        return self._transport.address

    async def close(self) -> None:
        """Closes the connections. Commands go on."""
        await self._transport.close()

    async def activity(
        self, *, cursor: int | None = None, **options: Unpack[types.CallOptions]
    ) -> AsyncIterator[types.ActivityEntry | Lost]:
        """What happens in the sandbox, as it happens: commands as they start and end, and calls that change something.

        Begins after the entry whose `seq` is `cursor`; without it, with the newest hundred. `Lost` comes where entries
        are no longer known, because they were too many or the daemon was replaced. Raises a BoxError.
        """
        while True:
            after = {} if cursor is None else {"cursor": cursor}
            page: types.ActivityPage = await self._transport.call(
                "operations.activity", timeout=POLL_S, **after, **options
            )
            cursor = page.cursor
            if page.gap:
                yield Lost()
            for entry in page.entries:
                yield entry

    async def wait_until_ready(self, **options: Unpack[types.CallOptions]) -> types.OperationHealthResponse:
        """Waits for a daemon that is about to start."""
        options.setdefault("retry_s", READY_WITHIN_S)
        return await self.call("operations.health", **options)
