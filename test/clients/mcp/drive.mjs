/** Drives `POST /mcp` with the official TypeScript clients: `node drive.mjs <packages> <url> <client>`, one JSON line. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , packages, url, which] = process.argv;
const load = (path) => import(pathToFileURL(join(packages, 'node_modules/@modelcontextprotocol', path)).href);

/** The client of the current library negotiates, or skips the handshake where the server has the revision of 2026. */
const clients = {
  async v1() {
    const { Client } = await load('sdk/dist/esm/client/index.js');
    const { StreamableHTTPClientTransport } = await load('sdk/dist/esm/client/streamableHttp.js');
    return {
      client: new Client({ name: 'v1', version: '1' }),
      transport: new StreamableHTTPClientTransport(new URL(url)),
    };
  },
  v2: () => current({}),
  modern: () => current({ versionNegotiation: { mode: 'auto' } }),
};

async function current(options) {
  const { Client, StreamableHTTPClientTransport } = await load('client/dist/index.mjs');
  const client = new Client({ name: 'v2', version: '1' }, options);
  return { client, transport: new StreamableHTTPClientTransport(new URL(url)) };
}

const { client, transport } = await clients[which]();
await client.connect(transport);
const { tools } = await client.listTools();
const call = (name, input, options) =>
  which === 'v1'
    ? client.callTool({ name, arguments: input }, undefined, options)
    : client.callTool({ name, arguments: input }, options);

const progress = [];
const ran = await call(
  'sandbox_execute_bash',
  { cmd: 'echo one; sleep 0.3; echo two' },
  { onprogress: ({ message }) => progress.push(message) },
);
const failed = await call('sandbox_execute_bash', {});
const unknown = await call('no_such_tool', {}).then(
  () => 'no error',
  (error) => error.message,
);
const leaving = new AbortController();
const cancelled = call(
  'sandbox_execute_bash',
  { cmd: 'echo begun; sleep 0.5; echo ended' },
  {
    signal: leaving.signal,
    onprogress: () => leaving.abort(),
  },
).then(
  () => 'answered',
  () => 'cancelled',
);
const outcome = await cancelled;
const continued = await call('sandbox_execute_bash', { cmd: '' });
await client.close();
console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null,
    tools: tools.map(({ name }) => name),
    output: ran.structuredContent.output,
    progress: progress.join(''),
    failed: failed.isError,
    unknown,
    cancelled: outcome,
    continued: continued.structuredContent.output,
  }),
);
