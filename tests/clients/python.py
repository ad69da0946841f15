"""The official Python client. See `run` for what it has to show."""

import json
import os
import sys
import time

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged

EXPECT = json.loads(os.environ["EXPECT"])
WATCHED, UNWATCHED, REFUSED = EXPECT["watched"], EXPECT["unwatched"], EXPECT["refused"]


def tell(behaviour, holds, seen):
    print(json.dumps({"behaviour": behaviour, "holds": bool(holds), "seen": str(seen)}), flush=True)


async def show(server):
    async with Client(server, mode="auto") as client:

        async def call(name, **arguments):
            with anyio.fail_after(EXPECT["patience"]):
                return (await client.call_tool(name, arguments)).content[0].text

        async def next_of(subscription):
            with anyio.fail_after(EXPECT["patience"]):
                return await anext(subscription, "the end")

        def listen():
            return client.listen(tools_list_changed=True, resource_subscriptions=[WATCHED, REFUSED])

        has = client.server_capabilities
        flags = has.tools.list_changed and has.resources.subscribe
        tell("discovers", client.protocol_version == EXPECT["revision"] and flags, has)

        async with listen() as subscription:
            honoured = subscription.honored
            open_now = await call("test_subscription_count")
            tell("listens", honoured.tools_list_changed and open_now == "1", honoured)
            tell("is narrowed", honoured.resource_subscriptions == [WATCHED], honoured.resource_subscriptions)

            await call("test_trigger_tool_change")
            change = await next_of(subscription)
            tell("hears a list change", change == ToolsListChanged(), change)

            for uri in (UNWATCHED, REFUSED, WATCHED):
                await call("test_update_resource", uri=uri)
            update = await next_of(subscription)
            tell("hears its own updates", update == ResourceUpdated(uri=WATCHED), update)

        patient = time.monotonic() + EXPECT["patience"]
        while (open_now := await call("test_subscription_count")) != "0" and time.monotonic() < patient:
            pass
        tell("cancels", open_now == "0", f"{open_now} open")

        async with listen() as subscription:
            await call("test_close_subscriptions")
            # An end that is not graceful raises.
            end = await next_of(subscription)
            tell("sees a graceful end", end == "the end", end)


first, *command = sys.argv[1:]
anyio.run(show, StdioServerParameters(command=command[0], args=command[1:]) if first == "--" else first)
