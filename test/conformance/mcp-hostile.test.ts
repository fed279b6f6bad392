/** Hostile MCP servers behind the hub, dropped connections and odd values: the list and the daemon stay usable. */
import { afterAll } from 'bun:test';
import { connect } from 'node:net';
import { callTool, post, rpc, toolNames } from '../harness/mcp-client.ts';
import { McpServerProcess } from '../harness/mcp-servers.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const hostile = await McpServerProcess.start('hostile');
const deep = await McpServerProcess.start('deepList');
const dies = await McpServerProcess.start('diesInAnswer', 'die');
const good = await McpServerProcess.start('plain', 'good');
const many = await McpServerProcess.start('plain', ...Array.from({ length: 1200 }, (_, i) => `many${i}`));

afterAll(async () => {
  await Promise.all([hostile, deep, dies, good, many].map((server) => server[Symbol.asyncDispose]()));
});

const theirs = async (sandbox: Sandbox) => (await toolNames(sandbox)).slice(10);
const leftOut = (tool: string, reason: string, server = 'hostile') =>
  `The tool ${tool} of the MCP server ${server} is left out: ${reason}.`;
const noObject = 'its inputSchema is not that of an object';

const hostileWarnings = [
  leftOut('"nested"', 'its definition is nested deeper than 64'),
  leftOut('"spaced"', 'its property "a b" has a name that no API takes'),
  leftOut('"esc\\u001b[31m"', 'its name has control characters'),
  leftOut(`"${'n'.repeat(128)}…"`, 'its name is longer than 128 characters'),
  leftOut('"wordy"', 'its definition has more than 64 KiB'),
  leftOut('"numbered"', 'its title or description is not text'),
  leftOut('"bare"', noObject),
  leftOut('"listed"', noObject),
  leftOut('one without a name', 'its name is not text'),
  leftOut('one without fields', 'it is not an object'),
  `The MCP server deep at ${deep.url} does not list its tools: its answer is nested deeper than 500.`,
];
const warnings = (sandbox: Sandbox) =>
  sandbox.logLines().flatMap(({ level, message }) => (level === 'warn' ? [String(message)] : []));

test(
  'MCP-UPSTREAMS MCP-SCHEMAS tools that clients would refuse are left out with a warning, and the others are listed',
  async ({ sandbox }) => {
    expect(await theirs(sandbox)).toEqual(['fs_read', 'fine', 'good']);
    expect(warnings(sandbox).toSorted()).toEqual(hostileWarnings.toSorted());
    const { data, text } = await callTool(sandbox, 'sandbox_get_context', {});
    expect(data['left_out'].toSorted()).toEqual(hostileWarnings.toSorted());
    for (const warning of hostileWarnings) expect(text).toContain(warning);
    // The hub renames and rewrites what a model API refuses; the server sees its own name.
    const { tools } = (await rpc(sandbox, 'tools/list')).body.result;
    expect(tools.find(({ name }: { name: string }) => name === 'fs_read').inputSchema.properties).toEqual({
      n: { type: 'integer', minimum: 1 },
    });
    for (const name of ['fs_read', 'fs.read'])
      expect((await callTool(sandbox, name, { as: 'good' })).text).toBe('good');
    expect((await callTool(sandbox, 'good', { a: 1 })).text).toBe('{"a":1}');
    expect((await callTool(sandbox, 'fine', { as: 'good' })).text).toBe('good');
    const failures = {
      many: 'its answer has more than 2000000 values',
      deep: 'its answer is nested deeper than 500',
      number: 'its answer ended without a result',
      none: 'its answer ended without a result',
      cut: 'it answered with text that is not JSON',
      large: 'its answer has more than 32 MiB',
    };
    for (const [as, failure] of Object.entries(failures)) {
      const reply = await callTool(sandbox, 'fine', { as });
      expect([as, reply.isError, reply.text]).toEqual([
        as,
        true,
        expect.stringContaining(`did not complete fine: ${failure}`),
      ]);
    }
  },
  {
    env: {
      EXTRA_MCP_SERVERS: JSON.stringify({
        hostile: { url: hostile.url },
        deep: { url: deep.url },
        good: { url: good.url },
      }),
    },
    expectedWarnings: hostileWarnings,
  },
);

test(
  'MCP-UPSTREAMS of a server with too many tools, the first thousand are listed, and warnings are bounded',
  async ({ sandbox }) => {
    expect((await theirs(sandbox)).length).toBe(1000);
    expect(warnings(sandbox).length).toBe(20);
  },
  {
    env: { EXTRA_MCP_SERVERS: JSON.stringify({ many: { url: many.url } }) },
    expectedWarnings: Array.from({ length: 20 }, (_, i) =>
      leftOut(`"many${1000 + i}"`, 'the server has more than 1000 tools, or more than 1024 KiB of them', 'many'),
    ),
  },
);

test(
  'MCP-UPSTREAMS calls at once to a server that dies in its answer all fail and say so',
  async ({ sandbox }) => {
    const calls = await Promise.all([callTool(sandbox, 'die'), callTool(sandbox, 'good'), callTool(sandbox, 'die')]);
    expect(calls.map(({ isError }) => isError)).toEqual([true, false, true]);
    await until('the dead server is absent from the list', async () => (await theirs(sandbox)).join() === 'good');
  },
  {
    env: { EXTRA_MCP_SERVERS: JSON.stringify({ dies: { url: dies.url }, good: { url: good.url } }) },
    expectedWarnings: [`The MCP server dies at ${dies.url} does not list its tools: nothing listens there.`],
  },
);

test('MCP-ERRORS odd values are refused by name, and never echoed at length', async ({ sandbox }) => {
  const long = 'x'.repeat(1_000_000);
  for (const answer of [await rpc(sandbox, 'tools/call', { name: long }), await rpc(sandbox, long)]) {
    expect([answer.status, JSON.stringify(answer.body).length < 1000]).toEqual([200, true]);
  }
  for (const method of ['__proto__', 'constructor', 'toString']) {
    expect((await rpc(sandbox, method)).body.error).toEqual({
      code: -32601,
      message: `method not found: ${method}`,
      data: { code: 'route_not_found' },
    });
    expect((await rpc(sandbox, 'tools/call', { name: method })).body.error.message).toStartWith(
      `unknown tool: ${method}; `,
    );
  }
  const absent = await rpc(sandbox, 'tools/call', { name: 'sandbox_load_skill', arguments: null });
  expect(absent.body.result.isError).toBe(true); // No directory is configured; the arguments are accepted.
  const deepBody = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`;
  expect((await post(sandbox, deepBody)).status).toBe(413);
  for (const input of [{ cmd: 5 }, { cmd: 'true', timeout: -1 }, { cmd: 'true', timeout: 1e300 }, { cmd: '\0' }]) {
    const { isError, text } = await callTool(sandbox, 'sandbox_execute_bash', input);
    expect([isError, text]).toEqual([true, expect.stringMatching(/^(cmd|timeout) must /)]);
  }
});

test('MCP-CANCEL a connection that drops in the middle of a body or of an answer leaves nothing running', async ({
  sandbox,
}) => {
  const { port } = new URL(sandbox.url);
  const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n';
  const half = `${head}Content-Length: 1000\r\n\r\n{"jsonrpc":`;
  const params = { name: 'sandbox_execute_bash', arguments: { cmd: 'echo begun; sleep 60', kill_on_cancel: true } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const whole = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const drop = (text: string, isTime: () => Promise<boolean>) => dropConnection(Number(port), text, isTime);

  await drop(half, () => Promise.resolve(true));
  const isRunning = async () => {
    return JSON.stringify(await sandbox.ok('GET /v2/pty/sessions')).includes('sleep 60');
  };
  await drop(whole, isRunning);
  await until('the command has ended', async () => {
    const { data } = await callTool(sandbox, 'sandbox_execute_bash', { cmd: '', timeout: 0 });
    return data.status !== 'running';
  });
  expect((await callTool(sandbox, 'sandbox_execute_bash', { cmd: 'echo usable' })).data.output).toBe('usable\n');
});

/** Sends a text on a connection of its own, and resets the connection when the condition holds. */
async function dropConnection(port: number, text: string, isTime: () => Promise<boolean>): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  await new Promise<void>((resolve) => socket.write(text, () => resolve()));
  await until('the connection may drop', isTime);
  socket.resetAndDestroy();
}
