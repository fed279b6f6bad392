"""Reads the address of a daemon, as a person writes it, into the base of every URL."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import httpx2

from ._errors import BadKey
from ._wire import BadArgument

USUAL_PORT = 18091


def read_address(text: str) -> str:
    """Takes `http://host:port`, `https://host/prefix`, `host:port` and `host`, which is `http://host:18091`.

    The result has no slash at its end. An error does not repeat the text, which may hold a key.
    """
    is_bare = re.match(r"[a-z][a-z\d+.-]*://", text, re.IGNORECASE) is None
    try:
        url = urlsplit(f"http://{text}" if is_bare else text)
        port = url.port
    except ValueError:
        # The error of the library repeats the text.
        raise _not_a_url() from None
    if url.username is not None or url.password is not None or "api_key" in parse_qs(url.query):
        raise BadKey("the address of a daemon carries no key", hint="Pass the key beside the address.")
    if url.query or url.fragment:
        raise BadArgument("the address of a daemon has no ? and no #")
    if url.scheme not in ("http", "https"):
        raise BadArgument(f"the address of a daemon begins with http:// or https://, not {url.scheme}://")
    if not url.hostname or re.search(r"[^\w.:\[\]-]", url.netloc):
        raise _not_a_url()
    host = url.netloc.lower()
    if is_bare and port is None:
        host = f"{host}:{USUAL_PORT}"
    address = f"{url.scheme}://{host}{url.path.rstrip('/')}"
    try:
        return str(httpx2.URL(address)).rstrip("/")
    except httpx2.InvalidURL:
        # The HTTP library accepts less than the one of Python.
        raise _not_a_url() from None


def _not_a_url() -> BadArgument:
    return BadArgument("the address of a daemon is not a URL", hint="Write http://host:port, or host:port.")
