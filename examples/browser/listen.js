// `subscriptions/listen` (MCP 2026-07-28) with `fetch`, for any page.

const VERSION = "2026-07-28";
let lastId = 0;

/**
 * The messages of one subscription, as they come: the acknowledgement, notifications, the result. Ends when the server ends
 * it; throws where it is refused or cut, and, by `signal`, when the page has had enough.
 */
export async function* listen(endpoint, notifications, signal) {
  const method = "subscriptions/listen";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      "Accept": "application/json, text/event-stream",
      "Content-Type": "application/json",
      "MCP-Protocol-Version": VERSION,
      "Mcp-Method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params: { _meta, notifications } }),
    // What a server says on this stream is never to be taken from a cache.
    cache: "no-store",
    signal,
  });
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    const { error } = await response.json().catch(() => ({}));
    throw new Error(error?.message ?? `the server answered ${response.status}`);
  }
  for await (const data of events(response.body)) {
    yield JSON.parse(data);
  }
}

/** The data of each event, of which comments, ids and empty events are none. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let data = [];
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      // A line ends with CR LF, LF or CR. A CR at the end may be half of the first.
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith("data:")) {
          data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
        } else if (line === "") {
          const event = data.join("\n");
          data = [];
          if (event !== "") yield event;
        }
      }
    }
  } finally {
    // Whoever stops reading leaves the stream, and the server learns of it. Fails only where it is over.
    await reader.cancel().catch(() => {});
  }
}
