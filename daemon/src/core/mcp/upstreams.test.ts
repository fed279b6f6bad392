/** The hub's side of other MCP servers, each a process: healthy, slow, dying, session-based, hostile. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needPython } from '../../../../test/harness/interpreters.ts';
import { McpServerProcess } from '../../../../test/harness/mcp-servers.ts';
import { until } from '../../../../test/harness/until.ts';
import { McpTransport } from '../../platform/clients/mcp-transport.ts';
import type { UpstreamServer } from './servers.ts';
import { Upstreams } from './upstreams.ts';

const { signal } = new AbortController();
const pythons = { mcp: '', 'mcp/modern': '' };
let warnings: string[] = [];
/** Added to the time, so that no test waits for a minute. */
let aheadMs = 0;

beforeAll(() => {
  for (const folder of ['mcp', 'mcp/modern'] as const) pythons[folder] = needPython(folder);
}, 600_000);

beforeEach(() => {
  warnings = [];
  aheadMs = 0;
});

const opened: Upstreams[] = [];
afterEach(() => {
  for (const hub of opened.splice(0)) hub[Symbol.dispose]();
});

function hubOf(...servers: readonly (McpServerProcess | Partial<UpstreamServer>)[]): Upstreams {
  const named = servers.map((server, i): UpstreamServer => {
    const { name = `server-${i + 1}`, prefix = null }: Partial<UpstreamServer> =
      server instanceof McpServerProcess ? {} : server;
    return { name, prefix, url: server.url ?? '' };
  });
  const hub = new Upstreams({
    servers: named,
    builtIn: ['sandbox_execute_bash'],
    transport: new McpTransport(),
    client: { name: 'boxkeep', version: '0' },
    warn: (message) => warnings.push(message),
    now: () => Date.now() + aheadMs,
  });
  opened.push(hub);
  return hub;
}

const names = async (hub: Upstreams) => (await hub.tools(signal)).map(({ name }) => name);
const text = (value: string) => ({ type: 'text', text: value });

async function failure(call: Promise<unknown>): Promise<{ code?: unknown; message: string; hint?: string }> {
  return await call.then(
    (result) => {
      throw new Error(`succeeded: ${JSON.stringify(result)}`);
    },
    (error: { code?: unknown; message: string; hint?: string }) => error,
  );
}

for (const folder of ['mcp', 'mcp/modern'] as const) {
  test(`progress, pictures, resources and errors of a Python server pass through unchanged (${folder})`, async () => {
    await using server = await McpServerProcess.python(pythons[folder], 'stateless');
    const hub = hubOf({ url: server.url, prefix: 'py' });
    const call = (name: string, args: object) => hub.call(`py_${name}`, { ...args }, { signal });
    const listed = await hub.tools(signal);
    const all = ['echo', 'count', 'picture', 'document', 'fail', 'long', 'die', 'wait'];
    expect(listed.map(({ name }) => name)).toEqual(all.map((name) => `py_${name}`));
    expect(listed[0]).toMatchObject({
      description: 'Returns its text.',
      inputSchema: { properties: { text: { type: 'string' } } },
      outputSchema: { properties: { result: { type: 'string' } } },
    });

    expect(await call('echo', { text: 'ü€😀' })).toMatchObject({
      content: [text('ü€😀')],
      structuredContent: { result: 'ü€😀' },
      isError: false,
    });
    const progress: object[] = [];
    const counted = hub.call('py_count', { to: 3 }, { signal, onProgress: (step) => progress.push(step) });
    expect((await counted)['structuredContent']).toEqual({ result: 3 });
    expect(progress).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })));
    expect((await call('picture', {}))['content']).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect((await call('document', {}))['content']).toMatchObject([
      { type: 'resource', resource: { uri: 'file:///notes.txt', mimeType: 'text/plain', text: 'notes' } },
    ]);
    const failed = await call('fail', {});
    expect(failed['isError']).toBe(true);
    expect(JSON.stringify(failed['content'])).toContain('out of paper');
    const { content } = await call('long', { length: 2_000_000 });
    expect((content as { text: string }[])[0]?.text.length).toBe(2_000_000);
    expect(warnings).toEqual([]);
  });

  test(`a server that dies during a call fails that call, leaves the list and comes back (${folder})`, async () => {
    await using server = await McpServerProcess.python(pythons[folder], 'stateless');
    const hub = hubOf({ name: 'py', url: server.url });
    expect(await names(hub)).toContain('die');
    const died = await failure(hub.call('die', {}, { signal }));
    expect([died.code, died.hint]).toEqual([
      'unavailable',
      'The tool may have run. Look at its effect before calling it again.',
    ]);
    expect(died.message).toStartWith(`the MCP server py at ${server.url} did not complete die: `);
    await server.kill(); // Waits for its end: until then its port accepts connections, and the last list stays.
    expect(await names(hub)).toEqual([]);
    expect(await failure(hub.call('echo', { text: 'x' }, { signal }))).toMatchObject({
      code: 'unavailable',
      message: `the MCP server py at ${server.url} cannot be reached: nothing listens there`,
      hint: 'Start the server, and call the tool again.',
    });
    await server.launch();
    expect((await hub.call('echo', { text: 'back' }, { signal }))['content']).toEqual([text('back')]);
    expect(await names(hub)).toContain('echo');
    expect(warnings).toEqual([`The MCP server py at ${server.url} does not list its tools: nothing listens there.`]);
  });
}

test('a call ends with its signal, also when the server goes on', async () => {
  await using server = await McpServerProcess.python(pythons.mcp, 'stateless');
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-mcp-'));
  const file = join(directory, 'begun');
  const hub = hubOf(server);
  const caller = new AbortController();
  const waiting = failure(hub.call('wait', { file }, { signal: caller.signal }));
  await until('the tool runs', () => existsSync(file));
  caller.abort(new Error('the caller has gone'));
  expect((await waiting).code).not.toBe('unavailable');
  expect((await hub.call('echo', { text: 'still' }, { signal }))['content']).toEqual([text('still')]);
  rmSync(directory, { recursive: true });
});

test('a server that needs a session is skipped with one warning, and asked again later', async () => {
  await using server = await McpServerProcess.python(pythons.mcp, 'sessions');
  await using other = await McpServerProcess.start('sessions');
  const hub = hubOf(server, other);
  expect([await names(hub), await names(hub)]).toEqual([[], []]);
  expect(warnings.toSorted()).toEqual(
    [server.url, other.url].map(
      (url, i) => `The MCP server server-${i + 1} at ${url} is skipped: it needs a session. Run it stateless.`,
    ),
  );
  await until('the session of the probe ends', () => other.requests.some(({ verb }) => verb === 'DELETE'));
  expect(other.requests.at(-1)?.headers['mcp-session-id']).toBe('one');
  const asked = other.requests.length;
  await names(hub);
  expect(other.requests.length).toBe(asked);
  aheadMs = 61_000;
  await names(hub);
  expect(other.requests.length).toBeGreaterThan(asked);
  expect(warnings).toHaveLength(2);
});

test('an old server that needs a handshake gets one, again after a restart', async () => {
  await using server = await McpServerProcess.start('handshake', 'a');
  const hub = hubOf(server);
  expect(await names(hub)).toEqual(['a']);
  expect(await hub.call('a', { x: 1 }, { signal })).toEqual({ content: [text('{"x":1}')] });
  await server.kill();
  await server.launch();
  expect(await hub.call('a', { x: 2 }, { signal })).toEqual({ content: [text('{"x":2}')] });
  expect(server.requests.map(({ method }) => method)).toContain('initialize');
});

test('a server of the current revision gets the headers and facts that the revision asks for', async () => {
  await using server = await McpServerProcess.start('modern');
  const hub = hubOf(server);
  expect(await names(hub)).toEqual(['sql', 'ask']);
  expect(warnings).toEqual([
    'The tool "broken" of the MCP server server-1 is left out: its schema has an invalid x-mcp-header.',
  ]);
  for (const region of ['us-west1', ' padded ', '世界', '=?base64?eA==?=', 'a\r\nb: c']) {
    const result = await hub.call('sql', { region }, { signal, requestId: 'r-1' });
    expect(result['structuredContent']).toEqual({ region });
  }
  expect(server.requests.map(({ method }) => method)).not.toContain('initialize');
  expect(server.requests.at(-1)).toMatchObject({
    method: 'tools/call',
    headers: { 'mcp-name': 'sql', 'x-request-id': 'r-1', 'accept-encoding': 'identity' },
    params: { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } },
  });
  expect((await failure(hub.call('ask', { region: 'x' }, { signal }))).message).toContain('asks its client for input');
});

test('a slow server delays no list by more than two seconds, and keeps its last list', async () => {
  await using slow = await McpServerProcess.start('hangs', 'slow');
  await using mute = await McpServerProcess.start('hangsAlways');
  await using quick = await McpServerProcess.start('plain', 'quick');
  const hub = hubOf(slow, mute, quick);
  const started = performance.now();
  expect(await names(hub)).toEqual(['slow', 'quick']);
  expect(performance.now() - started).toBeGreaterThan(1900);
  // The requests to the slow servers go on, and lists meanwhile do not wait for them again.
  const before = mute.requests.length;
  aheadMs = 3000;
  expect(await names(hub)).toEqual(['slow', 'quick']);
  expect(mute.requests.length).toBe(before);
});

test('a list is up to date, and the servers answer at the same time', async () => {
  await using one = await McpServerProcess.start('plain', 'one');
  const hub = hubOf(one);
  expect(await names(hub)).toEqual(['one']);
  await one.kill();
  await using two = await McpServerProcess.start('plain', 'two');
  expect(await names(hubOf({ url: one.url, name: 'gone' }, two))).toEqual(['two']);
  expect(await names(hub)).toEqual([]);
  await one.launch();
  expect(await names(hub)).toEqual(['one']);
});

test('a built-in name wins, then the first registered, and the loser is named once', async () => {
  await using first = await McpServerProcess.start('plain', 'sandbox_execute_bash', 'same', 'p_own');
  await using second = await McpServerProcess.start('plain', 'same', 'own');
  const hub = hubOf(
    { name: 'a', url: first.url },
    { name: 'b', url: second.url },
    { name: 'c', url: second.url, prefix: 'p' },
  );
  for (let i = 0; i < 2; i++) expect(await names(hub)).toEqual(['same', 'p_own', 'own', 'p_same']);
  const left = (name: string, server: string, winner: string) =>
    `The tool ${name} of the MCP server ${server} is left out: ${winner} has a tool of that name.`;
  expect(warnings).toEqual([
    left('sandbox_execute_bash', 'a', 'the hub itself'),
    left('same', 'b', 'a'),
    left('p_own', 'c', 'a'),
  ]);
  await hub.call('p_same', {}, { signal });
  const call = second.requests.findLast(({ method }) => method === 'tools/call');
  expect(call?.params?.['name']).toBe('same');
});

test('an unknown tool is an error of the hub, and a refusal of the server one of the protocol', async () => {
  await using server = await McpServerProcess.start('refuses');
  const hub = hubOf(server);
  expect(await failure(hub.call('nothing', {}, { signal }))).toMatchObject({
    code: 'tool_not_found',
    message: 'unknown tool: nothing',
  });
  expect(await failure(hub.call('echo', {}, { signal }))).toMatchObject({
    code: -32602,
    message: 'echo needs text',
    data: { argument: 'text' },
  });
  expect(server.requests.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
});

test('events arrive whole, however the bytes are cut, and only the progress of the call is forwarded', async () => {
  await using server = await McpServerProcess.start('events');
  const progress: object[] = [];
  const called = hubOf(server).call('echo', {}, { signal, onProgress: (step) => progress.push(step) });
  expect(await called).toEqual({ content: [text('ü€😀')] });
  expect(progress).toEqual([{ progress: 1 }, { progress: 2 }]);
});

test('answers that are cut, too large or in no known form fail, and never more than once run the tool', async () => {
  for (const [behaviour, reason, ...more] of [
    ['cutsEvents', 'its answer ended without a result'],
    ['floods', 'it sent an event of more than 32 MiB'],
    ['floods', 'its answer has more than 32 MiB', 'json'],
  ] as const) {
    await using server = await McpServerProcess.start(behaviour, 'echo', ...more);
    const { message } = await failure(hubOf({ name: 'odd', url: server.url }).call('echo', {}, { signal }));
    expect(message).toBe(`the MCP server odd at ${server.url} did not complete echo: ${reason}`);
    expect(server.requests.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  }
});

test('a server that lists nothing usable is reported once, with the reason', async () => {
  await using target = await McpServerProcess.start('plain', 'elsewhere');
  for (const [behaviour, reason] of [
    ['garbage', 'it answered with text/html, not with JSON or events'],
    ['error', 'it answered with status 500'],
    ['redirect', 'it answered with status 307'],
  ] as const) {
    await using server = await McpServerProcess.start(behaviour, target.url);
    const hub = hubOf(server);
    warnings = [];
    expect([await names(hub), await names(hub)]).toEqual([[], []]);
    expect(warnings).toEqual([`The MCP server server-1 at ${server.url} does not list its tools: ${reason}.`]);
  }
  expect(target.requests).toEqual([]);
});
