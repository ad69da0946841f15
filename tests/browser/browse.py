"""The example `browser`, as a browser sees it. Ends with 0 if all holds.

    python3 browse.py PATH_OF_THE_EXAMPLE [PATH_OF_A_SCREENSHOT]

Chromium is driven by WebDriver, which is HTTP and JSON: the standard library is enough.
"""

import base64
import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

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
# What the page's request has beside it, in lower case and sorted, as a browser asks for it.
ASKED = "content-type,mcp-method,mcp-protocol-version"


def holds(what: str, condition: bool, seen: object = "") -> None:
    if not condition:
        raise AssertionError(f"{what}: {seen!r}")
    print(f"ok  {what}", flush=True)


def becomes(what: str, look: Callable[[], object], expected: Callable[[object], bool]) -> None:
    """Waits until it holds, of something that tells nobody when it changes."""
    deadline = time.monotonic() + PATIENCE
    while not expected(seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"this did not happen: {what}; at last {seen!r}")
        time.sleep(0.02)
    print(f"ok  {what}", flush=True)


@contextlib.contextmanager
def running(*command: str) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def found(process: subprocess.Popen, pattern: str) -> str | None:
    """What the pattern finds in the next line that it matches; None where the process ends instead."""
    matches = (re.search(pattern, text) for text in process.stdout)
    return next((match.group(1) for match in matches if match), None)


def address(server: subprocess.Popen, name: str) -> str:
    text = found(server, rf"^{name}: (\S+)$")
    holds(f"the server says where its {name} is", text is not None)
    return text


@contextlib.contextmanager
def driver() -> Iterator[str]:
    """The port of a driver. It takes a free one of IPv4, and ends if the same one is not free for IPv6: then another try."""
    for _ in range(20):
        with running("chromedriver", "--port=0") as process:
            if port := found(process, r"started successfully on port (\d+)"):
                yield port
                return
    raise AssertionError("chromedriver does not start")


class Browser:
    def __init__(self, port: str) -> None:
        self.driver = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=800,700"]
        options = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}}
        self.session = ""
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self.session = f"/session/{session['sessionId']}"

    def ask(self, method: str, path: str, body: object = None) -> object:
        text = None if body is None else json.dumps(body)
        self.driver.request(method, self.session + path, text, {"Content-Type": "application/json"})
        response = self.driver.getresponse()
        value = json.load(response)["value"]
        if response.status != 200:
            raise AssertionError(f"{method} {path}: {value}")
        return value

    def open(self, url: str) -> None:
        self.ask("POST", "/url", {"url": url})

    def element(self, selector: str) -> str:
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        return f"/element/{next(iter(found.values()))}"

    def click(self, selector: str) -> None:
        self.ask("POST", self.element(selector) + "/click", {})

    def text(self, selector: str) -> str:
        return self.ask("GET", self.element(selector) + "/text")

    def name(self, selector: str) -> str:
        """By which a screen reader calls it."""
        return self.ask("GET", self.element(selector) + "/computedlabel")

    def state_becomes(self, text: str) -> None:
        becomes(f"the page says: {text}", lambda: self.text("#state"), lambda state: state == text)

    def heard(self) -> list[str]:
        """What is in the list, without the times."""
        return re.sub(r"(?m)^\S*\d:\d\d:\d\d( [AP]M)?\s*", "", self.text("#log")).splitlines()


def asked(endpoint: str, method: str, origin: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    url = urlsplit(endpoint)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE)
    body = json.dumps(LISTEN) if method == "POST" else None
    connection.request(method, url.path, body, {"Origin": origin, **headers})
    return connection.getresponse()


def told(server: subprocess.Popen, what: str = "") -> int:
    """Says that something has changed; how many streams were told."""
    server.stdin.write(what + "\n")
    answer = found(server, r"^told: (\d+)$")
    assert answer is not None, "the server has ended"
    return int(answer)


def by_hand(endpoint: str, ours: str, foreign: str) -> None:
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": ASKED}
    answer = asked(endpoint, "OPTIONS", ours, preflight)
    holds("a preflight is answered", answer.status == 200, answer.status)
    holds("our origin may", answer.headers["Access-Control-Allow-Origin"] == ours, answer.headers.items())
    allowed = set(answer.headers["Access-Control-Allow-Headers"].lower().split(","))
    holds("with these headers", set(ASKED.split(",")) <= allowed, allowed)
    answer = asked(endpoint, "OPTIONS", foreign, preflight)
    holds("another origin may not", answer.headers["Access-Control-Allow-Origin"] is None, answer.headers.items())
    request = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
    answer = asked(endpoint, "POST", foreign, {**request, "Content-Type": "application/json"})
    holds("nor without asking", answer.status == 403, answer.status)
    holds("and reads nothing of it", answer.headers["Access-Control-Allow-Origin"] is None, answer.headers.items())


def in_the_browser(browser: Browser, server: subprocess.Popen, page: str, screenshot: str | None) -> None:
    uri = "file:///demo/notes.md"
    listening = f"Listening to the list of tools and {uri}."

    # The same page of another origin: `localhost` is not `127.0.0.1`.
    browser.open(page.replace("127.0.0.1", "localhost"))
    browser.click("#listen")
    browser.state_becomes("Failed: Failed to fetch.")
    holds("a page of another origin is told nothing", told(server) == 0)
    holds("and hears nothing", browser.heard() == [], browser.heard())

    browser.open(page)
    holds("the field has a name", browser.name("[name=uri]") == "the resource at", browser.name("[name=uri]"))
    holds("and so has the list", browser.name("#log") == "Heard", browser.name("#log"))
    browser.click("#listen")
    browser.state_becomes(listening)
    holds("it is told of tools", told(server) == 1)
    holds("of its resource", told(server, uri) == 1)
    holds("and of no other", told(server, "file:///demo/other.md") == 0)
    expected = ["the list of tools changed", f"{uri} changed"]
    becomes("the page hears both", browser.heard, lambda heard: heard == expected)
    if screenshot:
        with open(screenshot, "wb") as file:
            file.write(base64.b64decode(browser.ask("GET", "/screenshot")))

    browser.click("#stop")
    browser.state_becomes("Stopped.")
    becomes("the server has noticed", lambda: told(server), lambda streams: streams == 0)
    browser.click("#listen")
    browser.state_becomes(listening)
    server.send_signal(signal.SIGTERM)
    browser.state_becomes("Ended by the server.")
    holds("the server ends as it should", server.wait(PATIENCE) == 0, server.returncode)
    holds("nothing was heard twice, or late", browser.heard() == expected, browser.heard())


def main(example: str, screenshot: str | None = None) -> None:
    with running(example, "0", "0") as server, driver() as port:
        endpoint, page = address(server, "endpoint"), address(server, "page")
        ours = page.rstrip("/")
        by_hand(endpoint, ours, ours.replace("127.0.0.1", "localhost"))
        browser = Browser(port)
        try:
            in_the_browser(browser, server, page, screenshot)
        finally:
            browser.ask("DELETE", "")


if __name__ == "__main__":
    main(*sys.argv[1:])
    print("all of it holds")
