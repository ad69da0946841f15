// Shows what the page hears.

import { listen } from "./listen.js";

const endpoint = document.querySelector('meta[name="mcp-endpoint"]').content;
const filter = document.querySelector("#filter");
const [start, stop, state, log] = ["listen", "stop", "state", "log"].map((id) => document.getElementById(id));
let stopping = new AbortController();

filter.addEventListener("submit", (event) => {
  event.preventDefault();
  hear(requested());
});
stop.addEventListener("click", () => stopping.abort());

function requested() {
  const uri = filter.elements.uri.value.trim();
  return {
    toolsListChanged: filter.elements.tools.checked,
    resourceSubscriptions: uri === "" ? [] : [uri],
  };
}

async function hear(notifications) {
  stopping = new AbortController();
  show("Asking…", true);
  let ending = "The connection was cut.";
  try {
    for await (const message of listen(endpoint, notifications, stopping.signal)) {
      if (message.method === "notifications/subscriptions/acknowledged") {
        show(`Listening to ${words(message.params.notifications)}.`, true);
      } else if (message.method) {
        note(change(message));
      } else {
        ending = message.result ? "Ended by the server." : `Failed: ${message.error.message}.`;
      }
    }
  } catch (error) {
    ending = stopping.signal.aborted ? "Stopped." : `Failed: ${error.message}.`;
  }
  show(ending, false);
}

/** What the server agreed to tell of. */
function words({ toolsListChanged, resourceSubscriptions = [] }) {
  const all = [...(toolsListChanged ? ["the list of tools"] : []), ...resourceSubscriptions];
  return all.length > 0 ? all.join(" and ") : "nothing";
}

function change({ method, params }) {
  const what = method === "notifications/resources/updated" ? params.uri : `the list of ${method.split("/")[1]}`;
  return `${what} changed`;
}

function show(text, listening) {
  state.textContent = text;
  // Whoever uses the keyboard stays where the buttons are.
  const isFocused = [start, stop].includes(document.activeElement);
  start.disabled = listening;
  stop.disabled = !listening;
  if (isFocused) (listening ? stop : start).focus();
}

function note(text) {
  const time = document.createElement("time");
  const now = new Date();
  time.dateTime = now.toISOString();
  time.textContent = now.toLocaleTimeString();
  const item = document.createElement("li");
  item.append(time, text);
  log.append(item);
}
