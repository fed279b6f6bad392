"""What MCP answers, for type checkers. The answers themselves are records."""

from __future__ import annotations

from typing import Any

from ._record import Record


class McpTool(Record):
    name: str
    description: str | None
    inputSchema: dict[str, Any]


class McpContent(Record):
    type: str
    text: str | None
    data: str | None
    mimeType: str | None


class McpAnswer(Record):
    """What a tool answers. A tool that failed says so in `isError`."""

    content: list[McpContent]
    structuredContent: dict[str, Any] | None
    isError: bool | None
