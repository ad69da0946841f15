// The official TypeScript client. See `run` for what it has to show.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The clients are installed elsewhere, where nothing would look for them.
const { resolve } = createRequire(`${process.env.CLIENTS}/`);
const load = name => import(pathToFileURL(resolve(name)).href);
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const { revision, watched, unwatched, refused, patience } = JSON.parse(process.env.EXPECT);
const tell = (behaviour, holds, seen) => console.log(JSON.stringify({ behaviour, holds: Boolean(holds), seen }));
const within = (promise, what) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error(`nothing in time: ${what}`)), patience * 1000).unref())
  ]);

const heard = [];
let wake = () => {};
const arrival = async from => {
  while (heard.length <= from) await new Promise(resolve => (wake = resolve));
  return heard[from];
};

const [first, command, ...args] = process.argv.slice(2);
const transport =
  first === '--' ? new StdioClientTransport({ command, args }) : new StreamableHTTPClientTransport(new URL(first));
const client = new Client(
  { name: 'typescript', version: '0.0.0' },
  { versionNegotiation: { mode: { pin: revision } } }
);
for (const kind of ['tools/list_changed', 'resources/list_changed', 'resources/updated'])
  client.setNotificationHandler(`notifications/${kind}`, notification => {
    heard.push(notification);
    wake();
  });
const call = async (name, args = {}) =>
  (await within(client.callTool({ name, arguments: args }), name)).content[0].text;
const listen = () =>
  within(client.listen({ toolsListChanged: true, resourceSubscriptions: [watched, refused] }), 'listen');

await within(client.connect(transport), 'connect');
const { tools, resources } = client.getServerCapabilities();
tell(
  'discovers',
  client.getNegotiatedProtocolVersion() === revision && tools.listChanged && resources.subscribe,
  client.getServerCapabilities()
);

let subscription = await listen();
const { toolsListChanged, resourceSubscriptions } = subscription.honoredFilter;
tell('listens', toolsListChanged === true && (await call('test_subscription_count')) === '1', subscription.honoredFilter);
tell('is narrowed', JSON.stringify(resourceSubscriptions) === JSON.stringify([watched]), resourceSubscriptions);

await call('test_trigger_tool_change');
const change = await within(arrival(0), 'a list change');
tell('hears a list change', change.method === 'notifications/tools/list_changed', change.method);

for (const uri of [unwatched, refused, watched]) await call('test_update_resource', { uri });
const update = await within(arrival(1), 'an update');
tell('hears its own updates', update.params.uri === watched && heard.length === 2, update.params.uri);

await within(subscription.close(), 'close');
let open;
const patient = Date.now() + patience * 1000;
do open = await call('test_subscription_count');
while (open !== '0' && Date.now() < patient);
await call('test_trigger_tool_change');
tell('cancels', (await subscription.closed) === 'local' && open === '0' && heard.length === 2, `${open} open`);

subscription = await listen();
await call('test_close_subscriptions');
const end = await within(subscription.closed, 'the end');
tell('sees a graceful end', end === 'graceful', end);
await client.close();
