"""The tools of a sandbox, as a client of the Model Context Protocol has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._mcp_types import McpAnswer, McpTool
from .._wire import BadArgument, errors
from ._plane import AsyncPlane

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import types


class AsyncMcp(AsyncPlane):
    async def tools(self, **options: Unpack[types.CallOptions]) -> list[McpTool]:
        result = await self._send("tools/list", {}, True, options)
        tools: list[McpTool] = result.tools
        return tools

    async def call(
        self, name: str, fields: Mapping[str, Any] | None = None, **options: Unpack[types.CallOptions]
    ) -> McpAnswer:
        answer: McpAnswer = await self._send("tools/call", {"name": name, "arguments": fields or {}}, False, options)
        return answer

    async def _send(
        self, method: str, params: Mapping[str, Any], is_repeatable: bool, options: types.CallOptions
    ) -> Any:
        reply = await self._transport.call(
            "mcp.message", jsonrpc="2.0", id=1, method=method, params=params, is_repeatable=is_repeatable, **options
        )
        if "error" not in reply:
            return reply.result
        data = reply.error.get("data") or {}
        code = data.get("code", "bad_argument")
        error = errors.get(code, BadArgument)(reply.error.message, data=data)
        error.code = code
        raise error
