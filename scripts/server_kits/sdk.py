"""Calls the server with the official Python SDK, over stdio and over HTTP: sdk.py PROGRAM URL TOKEN"""

import asyncio
import os
import sys

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

program, url, token = sys.argv[1:]


async def tried(name, transport, mode, fact):
    async with Client(transport, mode=mode) as client:
        tools = await client.list_tools()
        assert len(tools.tools) == 6, tools
        await client.call_tool("add_memory", {"text": fact})
        found = await client.call_tool("search_memories", {"query": fact})
        assert fact in found.content[0].text, found
        wrong = await client.call_tool("add_memory", {"text": 3})
        assert wrong.is_error, wrong
        resources = await client.list_resources()
        assert resources.resources, resources
        prompts = await client.list_prompts()
        assert prompts.prompts[0].name == "recall", prompts
        print(f"{name}: protocol {client.protocol_version}")


async def main():
    for mode in ["legacy", "auto"]:
        stdio = stdio_client(StdioServerParameters(command=program, args=["mcp"], env=dict(os.environ)))
        await tried(f"stdio, {mode}", stdio, mode, f"The {mode} key hangs behind the stove")
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
        transport = streamable_http_client(url, http_client=http)
        await tried(f"http, {mode}", transport, mode, f"The {mode} ladder is with the neighbours")


asyncio.run(main())
