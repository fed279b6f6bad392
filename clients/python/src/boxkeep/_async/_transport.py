"""Speaks HTTP with a daemon: the key, the envelope, typed errors, and repeats where a repeat is safe."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx2

from .._address import read_address
from .._backoff import Backoff
from .._deadline import Deadline
from .._errors import BadKey
from .._failure import Attempt, not_boxkeep, refused, unreachable
from .._record import Record
from .._wire import Route, routes

USUAL_RETRY_S = 30.0
CONNECT_S = 10.0

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
        self.retry_s = USUAL_RETRY_S if retry_s is None else retry_s
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}
        # The number of connections is not limited: each command that is followed has its own.
        self._http = http or httpx2.AsyncClient(limits=httpx2.Limits(max_connections=None))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"

    async def close(self) -> None:
        await self._http.aclose()

    async def call(
        self,
        name: str,
        /,
        *,
        retry_s: float | None = None,
        timeout_s: float | None = None,
        is_repeatable: bool | None = None,
        **fields: Any,
    ) -> Any:
        """The payload of the answer, or the whole where it has more."""
        route = routes[name]
        place, body = _parts(route, fields)
        if is_repeatable is None:
            is_repeatable = route.is_safe or route.method == "GET"
        backoff = Backoff(self.retry_s if retry_s is None else retry_s)
        deadline = Deadline(timeout_s)
        while True:
            outcome = await self._attempt(route, place, body, deadline)
            if not isinstance(outcome, Attempt):
                return outcome
            error = outcome.error
            pause_s = None
            if error.retryable and (is_repeatable or not outcome.is_maybe_done):
                pause_s = backoff.pause_s(outcome.after_s)
            if pause_s is None:
                raise error
            await asyncio.sleep(deadline.left_s(pause_s) or 0)

    @asynccontextmanager
    async def stream(self, name: str, deadline: Deadline, **fields: Any) -> AsyncIterator[AsyncIterator[bytes]]:
        """The pieces of a streamed answer. Raises a BoxError when the request or the connection fails."""
        route = routes[name]
        place, _ = _parts(route, fields)
        # Compression would hold the output back.
        headers = {**self._headers, "accept-encoding": "identity"}
        timeout = httpx2.Timeout(deadline.left_s(SILENCE_S), connect=deadline.left_s(CONNECT_S), pool=None)
        try:
            async with self._http.stream(
                route.method, f"{self.address}{place}", headers=headers, timeout=timeout
            ) as response:
                if not response.is_success:
                    text = await response.aread()
                    raise refused(self.address, self._has_key, response.status_code, response.headers, text).error
                with deadline.ends(response):
                    yield response.aiter_raw()
        except httpx2.HTTPError as error:
            deadline.left_s()
            raise unreachable(self.address, error).error from error

    @property
    def _has_key(self) -> bool:
        return bool(self._headers)

    async def _attempt(self, route: Route, place: str, body: Any, deadline: Deadline) -> Any:
        headers, content = self._headers, None
        if body is not None:
            headers, content = {**headers, "content-type": "application/json"}, json.dumps(body).encode()
        timeout = httpx2.Timeout(deadline.left_s(), connect=deadline.left_s(CONNECT_S), pool=None)
        url = f"{self.address}{place}"
        request = self._http.build_request(route.method, url, headers=headers, content=content, timeout=timeout)
        try:
            # Redirects are not followed, because the key is only for this daemon.
            response = await self._http.send(request, follow_redirects=False)
        except httpx2.HTTPError as error:
            deadline.left_s()
            return unreachable(self.address, error)
        status, text = response.status_code, response.content
        if not response.is_success:
            return refused(self.address, self._has_key, status, response.headers, text)
        try:
            answer = json.loads(text, object_hook=Record)
            return answer if route.is_whole else answer["data"]
        except (ValueError, TypeError, KeyError):
            # The answer of another server.
            return Attempt(not_boxkeep(self.address, status), True)


def _parts(route: Route, fields: Mapping[str, Any]) -> tuple[str, Any]:
    """The path with its query, and the body."""
    rest = dict(fields)
    place = re.sub(r"\{(\w+)\}", lambda name: quote(str(rest.pop(name[1])), safe=""), route.path)
    in_query = list(rest) if route.method == "GET" else [name for name in route.query if name in rest]
    query = httpx2.QueryParams({name: rest.pop(name) for name in in_query})
    body = rest.get("body") if route.has_bare_body else rest
    has_body = route.method not in ("GET", "DELETE")
    return f"{place}?{query}" if in_query else place, body if has_body else None
