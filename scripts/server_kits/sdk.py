"""Calls the server with the official Python SDK, over stdio and over HTTP, in each version of the protocol: sdk.py PROGRAM URL TOKEN"""

import asyncio
import os
import sys

import mcp.client.session
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS

program, url, token = sys.argv[1:]


async def tried(name, transport, version, fact):
    is_older = version in HANDSHAKE_PROTOCOL_VERSIONS
    if is_older:
        # A client asks for the newest version that it shakes hands in: there is no parameter for an older one.
        mcp.client.session.LATEST_HANDSHAKE_VERSION = version
    async with Client(transport, mode="legacy" if is_older else "auto") as client:
        assert client.protocol_version == version, client.protocol_version
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
        print(f"{name}: protocol {version}")


async def main():
    assert {"2024-11-05", "2026-07-28"} < set(KNOWN_PROTOCOL_VERSIONS), KNOWN_PROTOCOL_VERSIONS
    for version in KNOWN_PROTOCOL_VERSIONS:
        stdio = stdio_client(StdioServerParameters(command=program, args=["mcp"], env=dict(os.environ)))
        await tried("stdio", stdio, version, f"The key of {version} hangs behind the stove")
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
        transport = streamable_http_client(url, http_client=http)
        await tried("http", transport, version, f"The ladder of {version} is with the neighbours")


asyncio.run(main())
