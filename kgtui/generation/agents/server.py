"""The tools as a server for the Model Context Protocol, by the official SDK."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ParamSpec

from engine.errors import KgtuiError, UsageError
from kgtui import manual
from kgtui.generation.agents.tools import TOOLS, AgentTools, ToolMeans

if TYPE_CHECKING:
    from mcp.server import MCPServer

NAME = "kgtui"
GUIDE_TOPIC = "agents"

P = ParamSpec("P")


def make_server(means: ToolMeans) -> MCPServer:
    """A server with all tools, not started yet; its instructions are the manual's page for agents.

    Raises:
        UsageError: the SDK is not installed.
    """
    try:
        from mcp.server import MCPServer
    except ImportError as error:
        raise UsageError(
            "the SDK of the Model Context Protocol is not installed: pip install 'kgtui[models]'"
        ) from error
    server = MCPServer(
        name=NAME, version=means.versions.get(NAME, ""), instructions=manual.page(GUIDE_TOPIC), log_level="ERROR"
    )
    tools = AgentTools(means)
    for name in TOOLS:
        tool = getattr(tools, name)
        server.add_tool(_with_sentences(tool), name=name, description=tool.__doc__)
    return server


def _with_sentences(tool: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """The tool with kgtui's errors converted to the SDK's, which an agent gets as text."""

    @functools.wraps(tool)
    async def call(*arguments: P.args, **named: P.kwargs) -> str:
        from mcp.server.mcpserver.exceptions import ToolError

        try:
            return await tool(*arguments, **named)
        except KgtuiError as error:
            raise ToolError(str(error)) from error

    return call
