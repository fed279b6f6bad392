/** Drives a program as an MCP server over stdio with the official client: `node bridge.mjs <packages> <which> <command…>`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , packages, which, command, ...args] = process.argv;
const load = (path) => import(pathToFileURL(join(packages, 'node_modules/@modelcontextprotocol', path)).href);
const isFirst = which === 'v1';
const { Client } = await load(isFirst ? 'sdk/dist/esm/client/index.js' : 'client/dist/index.mjs');
const { StdioClientTransport } = await load(isFirst ? 'sdk/dist/esm/client/stdio.js' : 'client/dist/stdio.mjs');

const options = which === 'modern' ? { versionNegotiation: { mode: 'auto' } } : {};
const client = new Client({ name: 'bridge', version: '1' }, options);
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }));
const call = (input, more) => {
  const request = { name: 'sandbox_execute_bash', arguments: input };
  return isFirst ? client.callTool(request, undefined, more) : client.callTool(request, more);
};
const textOf = ({ content }) => content.map(({ text }) => text).join('');

const { tools } = await client.listTools();
const progress = [];
const ran = await call(
  { cmd: 'echo one; sleep 0.3; echo two' },
  { onprogress: ({ message }) => progress.push(message) },
);
const order = [];
await Promise.all([
  call({ cmd: 'sleep 1' }).then(() => order.push('slow')),
  client.listTools().then(() => order.push('quick')),
]);
const leaving = new AbortController();
const cancelled = await call(
  { cmd: 'echo begun; sleep 0.5; echo ended' },
  { signal: leaving.signal, onprogress: () => leaving.abort() },
).then(
  () => 'answered',
  () => 'cancelled',
);
const large = textOf(await call({ cmd: 'seq 1 3000' })).length;
await client.close();
console.log(
  JSON.stringify({ tools: tools.length, output: textOf(ran), progress: progress.join(''), order, cancelled, large }),
);
