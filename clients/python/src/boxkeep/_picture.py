"""A picture as the daemon sent it."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx2


@dataclass(frozen=True)
class Picture:
    """Of the browser or the desktop."""

    bytes: bytes = field(repr=False)
    """None of them when the picture is as the caller knows it, by `if_changed_from`."""
    type: str
    """Such as `image/png`."""
    width: int
    """Of the picture, in pixels."""
    height: int
    screen_width: int
    """Of the display, in pixels."""
    screen_height: int
    etag: str | None


def picture_of(response: httpx2.Response) -> Picture:
    headers = response.headers
    return Picture(
        bytes=response.content,
        type=headers.get("content-type", ""),
        width=int(headers.get("x-image-width", 0)),
        height=int(headers.get("x-image-height", 0)),
        screen_width=int(headers.get("x-screen-width", 0)),
        screen_height=int(headers.get("x-screen-height", 0)),
        etag=headers.get("etag"),
    )
