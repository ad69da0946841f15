"""A Python server behind the example `proxy`, as its clients see it. Ends with 0 if all holds.

    python check.py PATH_OF_THE_PROXY
"""

import asyncio
import contextlib
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
from mcp.client import Client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, ToolsListChanged

SERVER = Path(__file__).parents[2] / "examples" / "proxy" / "server.py"
PATIENCE = 30

LISTEN = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "subscriptions/listen",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
        "notifications": {"toolsListChanged": True},
    },
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "subscriptions/listen",
}


def holds(what: str, condition: bool, seen: object = "") -> None:
    if not condition:
        raise AssertionError(f"{what}: {seen!r}")
    print(f"ok  {what}")


@contextlib.contextmanager
def free_port() -> Iterator[int]:
    """A port that is given to nobody who asks for any: only to who asks for this one."""
    with socket.socket() as it:
        it.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        it.bind(("127.0.0.1", 0))
        yield it.getsockname()[1]


@contextlib.asynccontextmanager
async def running(*command: str | Path) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def address(proxy: Process, name: str) -> str:
    line = (await proxy.stdout.readline()).decode()
    prefix = f"{name}: "
    holds(f"the proxy says where it serves its {name}", line.startswith(prefix), line)
    return line.removeprefix(prefix).strip()


async def reachable(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def listens_and_hears(url: str, proxy: Process) -> None:
    async with Client(url, mode="auto") as client:
        holds("the client discovers this revision", client.protocol_version == "2026-07-28", client.protocol_version)
        capabilities = client.server_capabilities
        holds("the flags are those of the proxy", capabilities.tools.list_changed and capabilities.resources.subscribe)
        names = [tool.name for tool in (await client.list_tools()).tools]
        holds("the tools are those of the server behind", names == ["write_note", "learn_to_shout"], names)

        filters = {"tools_list_changed": True, "resources_list_changed": True, "resource_subscriptions": ["note:///a"]}
        async with client.listen(**filters) as subscription:
            honored = subscription.honored
            holds("all of it is honoured", honored.tools_list_changed and honored.resources_list_changed, honored)
            holds("the URI as well", list(honored.resource_subscriptions) == ["note:///a"], honored)

            # Another note changes as well: nobody asked for that one.
            await client.call_tool("write_note", {"name": "b", "text": "b"})
            holds("a note comes", await anext(subscription) == ResourcesListChanged())
            text = "é\n" * 500_000
            await client.call_tool("write_note", {"name": "a", "text": text})
            holds("another one comes", {await anext(subscription), await anext(subscription)}
                  == {ResourcesListChanged(), ResourceUpdated(uri="note:///a")})
            read = await client.read_resource("note:///a")
            holds("what was told can be read, all of a megabyte", read.contents[0].text == text)
            await client.call_tool("learn_to_shout", {})
            holds("a tool comes", await anext(subscription) == ToolsListChanged())
            names = [tool.name for tool in (await client.list_tools()).tools]
            holds("it is there", "shout" in names, names)

        # Cancelled, and again.
        async with client.listen(tools_list_changed=True) as subscription:
            proxy.send_signal(signal.SIGTERM)
            rest = [event async for event in subscription]
            holds("on the signal the stream ends, in good order", rest == [], rest)
    holds("and so does the proxy", await proxy.wait() == 0, proxy.returncode)


async def older(url: str) -> None:
    async with Client(url, mode="legacy") as client:
        holds("a client of an older revision is served", client.protocol_version < "2026", client.protocol_version)
        names = [tool.name for tool in (await client.list_tools()).tools]
        holds("by the server behind", names == ["write_note", "learn_to_shout"], names)


async def refusals(url: str, changes: str) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        for body, media, status in [
            ('{"list":"tools"}', "application/json", 204),
            ('{"resource":"note:///a"}', "application/json", 204),
            ('{"list":"tools"}', "text/plain", 415),
            ('{"list":"x"}', "application/json", 400),
            ("x", "application/json", 400),
        ]:
            answer = await http.post(changes, content=body, headers={"Content-Type": media})
            holds(f"{body} as {media} is answered by {status}", answer.status_code == status, answer)
        answer = await http.post(url.replace("/mcp", "/changed"), json={"list": "tools"})
        holds("clients cannot say that something has changed", answer.status_code == 404, answer)


async def main(path: str) -> None:
    with free_port() as port:
        async with running(path, f"http://127.0.0.1:{port}", "0", "0") as proxy:
            changes, url = await address(proxy, "changes"), await address(proxy, "clients")
            await refusals(url, changes)
            async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
                answer = await http.post(url, json=LISTEN, headers=HEADERS)
            holds("without the server behind no stream opens", answer.status_code == 502, answer)
            holds("and the answer is one to the request", answer.json()["id"] == 7, answer.text)
            async with running(sys.executable, SERVER, str(port), changes):
                await reachable(port)
                await older(url)
                await listens_and_hears(url, proxy)


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(sys.argv[1]), PATIENCE * 4))
    print("all of it holds")
