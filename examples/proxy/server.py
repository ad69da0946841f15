"""A notebook, as an MCP server on the official Python SDK, behind the proxy.

    pip install -r examples/proxy/requirements.txt
    python examples/proxy/server.py [PORT] [CHANGES]

PORT is 8001, and CHANGES is where the proxy wants to hear of changes: http://127.0.0.1:8002/changed.
"""

import sys
from collections.abc import Callable

import httpx2
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

LISTS = {ToolsListChanged: "tools", PromptsListChanged: "prompts", ResourcesListChanged: "resources"}


class Proxy:
    """The SDK's bus of changes. Whatever the server publishes is told to the proxy, which knows who listens."""

    def __init__(self, changes: str) -> None:
        self.changes = changes
        self.client = httpx2.AsyncClient(trust_env=False, timeout=5)

    async def publish(self, event: ServerEvent) -> None:
        change = {"resource": event.uri} if isinstance(event, ResourceUpdated) else {"list": LISTS[type(event)]}
        try:
            (await self.client.post(self.changes, json=change)).raise_for_status()
        except httpx2.HTTPError as error:
            # What has changed has changed: a client that is not told of it is no reason to fail.
            print(f"the proxy was not told of {change}: {error!r}", file=sys.stderr)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Nobody listens here: the proxy answers `subscriptions/listen`."""
        return lambda: None


def notebook(changes: str) -> MCPServer:
    server = MCPServer("notebook", subscriptions=Proxy(changes))
    notes: dict[str, str] = {}

    @server.tool()
    async def write_note(name: str, text: str, ctx: Context) -> str:
        """Writes a note, a new one or over an old one."""
        is_new = name not in notes
        notes[name] = text
        if is_new:
            server.resource(f"note:///{name}", name=name)(lambda: notes[name])
            await ctx.notify_resources_changed()
        await ctx.notify_resource_updated(f"note:///{name}")
        return f"note:///{name}"

    @server.tool()
    async def learn_to_shout(ctx: Context) -> str:
        """Brings a tool more."""

        @server.tool()
        async def shout(text: str) -> str:
            """Says it louder."""
            return text.upper()

        await ctx.notify_tools_changed()
        return "learned"

    return server


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8001
    changes = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8002/changed"
    uvicorn.run(notebook(changes).streamable_http_app(), host="127.0.0.1", port=port, log_level="warning")
