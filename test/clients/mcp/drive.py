"""Drives POST /mcp with the official Python client: `python drive.py <url>`, one JSON line."""

import asyncio
import json
import sys

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client


async def main(url: str) -> None:
    async with streamablehttp_client(url) as (read, write, _):
        async with ClientSession(read, write) as session:
            initialized = await session.initialize()
            tools = (await session.list_tools()).tools
            progress = []

            async def follow(_amount, _total, message):
                progress.append(message)

            ran = await session.call_tool(
                "sandbox_execute_bash", {"cmd": "echo one; sleep 0.3; echo two"}, progress_callback=follow
            )
            failed = await session.call_tool("sandbox_execute_bash", {})
            try:
                await session.call_tool("no_such_tool", {})
                unknown = "no error"
            except McpError as error:
                unknown = error.error.message
            print(
                json.dumps(
                    {
                        "version": initialized.protocolVersion,
                        "tools": [tool.name for tool in tools],
                        "output": ran.structuredContent["output"],
                        "progress": "".join(progress),
                        "failed": failed.isError,
                        "unknown": unknown,
                    }
                )
            )


asyncio.run(main(sys.argv[1]))
