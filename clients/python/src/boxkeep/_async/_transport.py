"""Speaks HTTP with a daemon: the key, the envelope, typed errors, and repeats where a repeat is safe."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2

from .._address import read_address
from .._backoff import Backoff
from .._deadline import Deadline
from .._errors import BadKey
from .._failure import Attempt, not_boxkeep, refused, unreachable
from .._record import Record
from .._wire import BadArgument, Route, routes
from ._content import AsyncContent

if TYPE_CHECKING:
    from .._backoff import OnAway
    from ._terminal_connection import AsyncTerminalConnection

USUAL_RETRY_S = 30.0
# The same while the address may be wrong.
FIRST_RETRY_S = 2.0
CONNECT_S = 10.0
# A call that the daemon answers at once has its answer in this time.
ANSWER_S = 10.0

# Statuses that are no failures besides those of success: of a WebSocket, and of a condition.
AS_ASKED = (101, 304)

# The daemon is full, or not ready yet. After other refusals, only the caller knows what makes a repeat succeed.
BUSY_STATUSES = (429, 503)

# The daemon sends a line at least every 15 s, so a connection that is silent for this long is dead.
SILENCE_S = 40.0


class AsyncTransport:
    def __init__(
        self, address: str, key: str | None, *, retry_s: float | None = None, http: httpx2.AsyncClient | None = None
    ) -> None:
        self.address = read_address(address)
        # Checked here, because the HTTP library would repeat an invalid key in its error message.
        if key is not None and not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?", key):
            raise BadKey("a key is printable ASCII without blanks at its ends")
        self._retry_s = retry_s
        self._has_answered = False
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.attached: set[AsyncTerminalConnection] = set()
        # The number of connections is not limited: each command that is followed has its own.
        self._http = http or httpx2.AsyncClient(limits=httpx2.Limits(max_connections=None))

    def budget(self, retry_s: float | None) -> Callable[[], float]:
        """How long a call is repeated. Until a daemon has answered once, the address may be wrong."""

        def budget_s() -> float:
            usual_s = USUAL_RETRY_S if self._has_answered else FIRST_RETRY_S
            return next(given for given in (retry_s, self._retry_s, usual_s) if given is not None)

        return budget_s

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"

    async def close(self) -> None:
        for connection in list(self.attached):
            await connection.detach()
        await self._http.aclose()

    async def call(self, name: str, /, **fields: Any) -> Any:
        """The payload of the answer, or the whole where it has more. Options are those of `send`."""
        response = await self.send(name, **fields)
        try:
            answer = json.loads(response.content, object_hook=Record)
            if routes[name].is_whole and isinstance(answer, Record):
                return answer
            return answer["data"]
        except (ValueError, TypeError, KeyError):
            # The answer of another server.
            raise not_boxkeep(self.address, response.status_code) from None

    @asynccontextmanager
    async def open(self, name: str, /, *, deadline: Deadline, **fields: Any) -> AsyncIterator[httpx2.Response]:
        """An answer that is read as it comes. Raises a BoxError, also where the connection breaks."""
        response = await self.send(name, deadline=deadline, is_streamed=True, **fields)
        try:
            with deadline.ends(response):
                yield response
        except httpx2.HTTPError as error:
            deadline.left_s()
            raise unreachable(self.address, error).error from error
        finally:
            await response.aclose()

    async def send(
        self,
        name: str,
        /,
        *,
        retry_s: float | None = None,
        timeout_s: float | None = None,
        deadline: Deadline | None = None,
        on_away: OnAway | None = None,
        is_repeatable: bool | None = None,
        is_streamed: bool = False,
        headers: Mapping[str, str] | None = None,
        upload: AsyncContent | None = None,
        answers_at_once: bool = False,
        **fields: Any,
    ) -> httpx2.Response:
        """A response that is no failure. `is_repeatable`: the call has no effect, or the same effect twice as once.

        `upload` is sent instead of JSON, from its beginning in each attempt. `answers_at_once`: silence means that
        nothing is there.
        """
        if name not in routes:
            hint = "spec/v2.json has the names, such as files.read."
            raise BadArgument(f"no operation has the name {name}", hint=hint)
        route = routes[name]
        place, body = _parts(name, route, fields)
        if is_repeatable is None:
            is_repeatable = route.is_safe or route.method == "GET"
        backoff = Backoff(self.budget(retry_s), on_away)
        deadline = deadline or Deadline(timeout_s)
        is_maybe_done = False
        while True:
            silence_s = SILENCE_S if is_streamed else ANSWER_S if answers_at_once else None
            request = self._request(route.method, place, upload or body, deadline, silence_s)
            request.headers.update(headers or {})
            outcome = await self._attempt(request, deadline, is_streamed)
            if isinstance(outcome, httpx2.Response):
                self._has_answered = True
                return outcome
            error = outcome.error
            self._has_answered = self._has_answered or error.status is not None
            is_maybe_done = error.is_maybe_done = is_maybe_done or error.is_maybe_done
            # After a refusal without Retry-After, a repeat fails too until someone acts, for example starts a browser.
            is_busy = error.status in BUSY_STATUSES and outcome.after_s is not None
            is_passing = error.code == "unreachable" or is_busy
            pause_s = None
            if error.retryable and is_passing and (is_repeatable or not is_maybe_done):
                pause_s = backoff.pause_s(error, outcome.after_s or 0)
            if pause_s is None:
                raise error
            await asyncio.sleep(deadline.left_s(pause_s) or 0)

    def _request(
        self, method: str, place: str, body: Any, deadline: Deadline, silence_s: float | None
    ) -> httpx2.Request:
        headers = {**self._headers}
        content: AsyncContent | bytes | None = None
        if isinstance(body, AsyncContent):
            headers["content-type"], content = body.type, body
        elif body is not None:
            headers["content-type"], content = "application/json", json.dumps(body).encode()
        if silence_s == SILENCE_S:
            # Compression would hold the output back.
            headers["accept-encoding"] = "identity"
        left_s = deadline.left_s(silence_s)
        timeout = httpx2.Timeout(left_s, connect=deadline.left_s(CONNECT_S), pool=None)
        url = f"{self.address}{place}"
        return self._http.build_request(method, url, headers=headers, content=content, timeout=timeout)

    async def _attempt(
        self, request: httpx2.Request, deadline: Deadline, is_streamed: bool
    ) -> httpx2.Response | Attempt:
        try:
            # Redirects are not followed, because the key is only for this daemon.
            response = await self._http.send(request, stream=is_streamed, follow_redirects=False)
            if response.is_success or response.status_code in AS_ASKED:
                return response
            text = await response.aread()
        except httpx2.HTTPError as error:
            deadline.left_s()
            return unreachable(self.address, error)
        return refused(self.address, bool(self._headers), response.status_code, response.headers, text)


def _parts(name: str, route: Route, fields: Mapping[str, Any]) -> tuple[str, Any]:
    """The path with its query, and the body."""
    rest = dict(fields)
    for missing in set(re.findall(r"\{(\w+)\}", route.path)) - set(rest):
        raise BadArgument(f"{name} needs {missing}")
    place = re.sub(r"\{(\w+)\}", lambda found: quote(str(rest.pop(found[1])), safe=""), route.path)
    in_query = list(rest) if route.method == "GET" else [name for name in route.query if name in rest]
    query = httpx2.QueryParams({name: rest.pop(name) for name in in_query})
    body = rest.get("body") if route.has_bare_body else rest
    has_body = route.method not in ("GET", "DELETE")
    return f"{place}?{query}" if in_query else place, body if has_body else None
