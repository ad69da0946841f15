"""The MCP Inspector, by its commands: `mcp-inspector --cli` and `mcpdo`. See `run` for what it has to show.

`mcpdo` prints the updates of resources, and neither changes of lists, nor what was acknowledged, nor that a stream ended. So
these are seen by what follows from them.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

EXPECT = json.loads(os.environ["EXPECT"])
WATCHED, UNWATCHED, REFUSED = EXPECT["watched"], EXPECT["unwatched"], EXPECT["refused"]
BIN = os.path.join(os.environ["CLIENTS"], "node_modules", ".bin")
# Each command is a process, and the first starts a daemon.
PATIENCE = 4 * EXPECT["patience"]
# After an end that is not graceful it listens again, half a second later at first.
RECONNECTS = 2


def tell(behaviour, holds, seen):
    print(json.dumps({"behaviour": behaviour, "holds": bool(holds), "seen": str(seen)}), flush=True)


def values(stream):
    """The JSON values that a command prints one after the other."""
    decoder, text = json.JSONDecoder(), ""
    for line in stream:
        text = (text + line).lstrip()
        while text:
            try:
                value, end = decoder.raw_decode(text)
            except ValueError:
                break
            yield value
            text = text[end:].lstrip()


class Inspector:
    def __init__(self, home, server):
        self.config = os.path.join(home, "mcp.json")
        with open(self.config, "w") as file:
            json.dump({"mcpServers": {"server": {**server, "protocolEra": "modern"}}}, file)
        self.env = {**os.environ, "HOME": home, "MCP_INSPECTOR_SECRET_STORE": "memory"}
        self.said = queue.Queue()
        self.watching = []

    def run(self, command, *arguments):
        done = subprocess.run(
            [os.path.join(BIN, command), *arguments],
            env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
        )
        if done.returncode:
            sys.exit(f"{command} {' '.join(arguments)}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return json.loads(done.stdout)

    def mcpdo(self, *arguments):
        return self.run("mcpdo", "--format", "json", "--config", self.config, *arguments)

    def call(self, tool, **arguments):
        return self.mcpdo("--connection", "server", "tools/call", tool, json.dumps(arguments))

    def open(self):
        return int(json.dumps(self.call("test_subscription_count")).split('"text": "')[1].split('"')[0])

    def watch(self, uri):
        """Prints what is told of `uri`, until it is stopped."""
        command = ["mcpdo", "--format", "json", "--connection", "server", "resources/subscribe", uri]
        process = subprocess.Popen(
            [os.path.join(BIN, command[0]), *command[1:]],
            env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.watching.append(process)
        threading.Thread(target=lambda: [self.said.put(value) for value in values(process.stdout)], daemon=True).start()
        return self.said.get(timeout=PATIENCE)

    def close(self):
        for process in self.watching:
            process.terminate()
            process.wait()
        subprocess.run([os.path.join(BIN, "mcpdo"), "daemon", "stop"], env=self.env, capture_output=True, timeout=PATIENCE)


def show(inspector):
    cli = ["--cli", "--config", inspector.config, "--server", "server", "--protocol-era", "modern", "--format", "json"]
    server = inspector.run("mcp-inspector", *cli, "--method", "initialize")["result"]
    has = server["capabilities"]
    flags = has["tools"]["listChanged"] and has["resources"]["subscribe"]
    tell("discovers", server["protocolVersion"] == EXPECT["revision"] and flags, server)

    inspector.mcpdo("connect", "server")
    open_now = inspector.open()
    tell("listens", open_now == 1, f"{open_now} open")

    subscribed = [inspector.watch(uri).get("type") for uri in (REFUSED, WATCHED)]
    for uri in (UNWATCHED, REFUSED, WATCHED):
        inspector.call("test_update_resource", uri=uri)
    update = inspector.said.get(timeout=PATIENCE)
    heard = update == {"type": "resources/updated", "uri": WATCHED}
    tell("hears its own updates", subscribed == ["subscribed"] * 2 and heard, update)
    tell("is narrowed", heard and inspector.said.empty(), "what was refused is not told, though `mcpdo` says `subscribed`")

    # With each URI it cancels the stream that it has, and opens one for all.
    deadline = time.monotonic() + PATIENCE
    while (open_now := inspector.open()) != 1 and time.monotonic() < deadline:
        pass
    tell("cancels", open_now == 1, f"{open_now} open, after it has listened three times")

    inspector.call("test_close_subscriptions")
    deadline = time.monotonic() + RECONNECTS
    while (open_now := inspector.open()) == 0 and time.monotonic() < deadline:
        pass
    again = inspector.watch(UNWATCHED).get("type")
    inspector.call("test_update_resource", uri=UNWATCHED)
    update = inspector.said.get(timeout=PATIENCE)
    goes_on = again == "subscribed" and update.get("uri") == UNWATCHED
    tell("sees a graceful end", open_now == 0 and goes_on, f"{open_now} open, then {update}")


first, *command = sys.argv[1:]
server = {"command": command[0], "args": command[1:]} if first == "--" else {"type": "streamable-http", "url": first}
# The daemon may write a last line while its folder is removed.
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
    inspector = Inspector(home, server)
    try:
        show(inspector)
    finally:
        inspector.close()
