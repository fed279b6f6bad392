/** The protocol of `POST /mcp`: revisions, headers, forms of answers, errors and limits. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modernRpc, modernVersion, post, rpc, toolNames } from '../harness/mcp-client.ts';
import { expect, repositoryRoot, test, type JsonObject } from '../harness/sandbox.ts';

const builtIn = [
  'sandbox_execute_bash',
  'sandbox_execute_code',
  'sandbox_file_operations',
  'sandbox_str_replace_editor',
  'sandbox_get_context',
  'sandbox_get_packages',
  'sandbox_load_skill',
  'browser_get_info',
  'browser_gui_screenshot',
  'browser_gui_execute_action',
];
const handshakeVersions = ['2025-11-25', '2025-06-18', '2025-03-26'];
const key = 'k-e-y';

test('MCP-1 MCP-2 MCP-3 LIM-2 a request without a handshake lists the ten built-in tools in their order', async ({
  sandbox,
}) => {
  expect(await toolNames(sandbox)).toEqual(builtIn);
});

test('MCP-2 the list is the committed description', async ({ sandbox }) => {
  const committed = JSON.parse(readFileSync(join(repositoryRoot, 'spec/mcp-tools.json'), 'utf8')) as unknown;

  expect((await rpc(sandbox, 'tools/list')).body.result.tools).toEqual(committed);
});

test('MCP-PROTOCOL a handshake agrees on each revision of 2025, and on the newest of them for an unknown one', async ({
  sandbox,
}) => {
  const initialize = async (protocolVersion: string) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } };
    return (await rpc(sandbox, 'initialize', params)).body.result;
  };

  for (const version of handshakeVersions) expect((await initialize(version)).protocolVersion).toBe(version);
  const unknown = await initialize('1999-01-01');
  expect(unknown.protocolVersion).toBe(handshakeVersions[0]);
  expect(unknown.serverInfo.name).toBe('boxkeep');
  expect(unknown.capabilities).toEqual({ tools: { listChanged: false } });
  const initialized = await post(sandbox, { jsonrpc: '2.0', method: 'notifications/initialized' });
  expect([initialized.status, initialized.body]).toEqual([202, '']);
  for (const version of handshakeVersions) {
    expect((await rpc(sandbox, 'ping', {}, { 'mcp-protocol-version': version })).body.result).toEqual({});
  }
});

test('MCP-PROTOCOL the revision of 2026 discovers, lists and calls without a handshake', async ({ sandbox }) => {
  const discovered = await modernRpc(sandbox, 'server/discover');
  expect(discovered.status).toBe(200);
  expect(discovered.body.result).toMatchObject({
    resultType: 'complete',
    supportedVersions: [modernVersion],
    capabilities: { tools: {} },
    ttlMs: expect.any(Number),
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'boxkeep' } },
  });

  const listed = (await modernRpc(sandbox, 'tools/list')).body.result;
  expect(listed).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' });
  expect(listed.tools.length).toBe(builtIn.length);

  const call = { name: 'sandbox_get_context', arguments: {} };
  const called = (await modernRpc(sandbox, 'tools/call', call)).body.result;
  expect([called.resultType, called.isError]).toEqual(['complete', undefined]);
  for (const removed of ['initialize', 'ping']) {
    expect((await modernRpc(sandbox, removed)).body.error.code).toBe(-32601);
  }
  const encoded = `=?base64?${Buffer.from(call.name).toString('base64')}?=`;
  expect((await modernRpc(sandbox, 'tools/call', call, { 'mcp-name': encoded })).status).toBe(200);
});

test('MCP-PROTOCOL headers that are missing or contradict the body are refused', async ({ sandbox }) => {
  const call = { name: 'sandbox_get_context', arguments: {} };
  const refusals: [string, Promise<{ status: number; body: { error: { code: number } } }>, number][] = [
    ['method', modernRpc(sandbox, 'tools/list', {}, { 'mcp-method': 'ping' }), -32020],
    ['name', modernRpc(sandbox, 'tools/call', call, { 'mcp-name': 'other' }), -32020],
    ['version', modernRpc(sandbox, 'tools/list', {}, { 'mcp-protocol-version': '2025-06-18' }), -32020],
    ['envelope', rpc(sandbox, 'tools/list', {}, { 'mcp-protocol-version': modernVersion }), -32602],
    ['unknown', rpc(sandbox, 'tools/list', {}, { 'mcp-protocol-version': '1900-01-01' }), -32022],
    ['strange', rpc(sandbox, 'tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': 7 } }), -32602],
  ];
  for (const [what, reply, code] of refusals) {
    const { status, body } = await reply;
    expect([what, status, body.error.code]).toEqual([what, 400, code]);
  }
  const headers = { 'mcp-protocol-version': modernVersion };
  const params = { _meta: { ...envelope() } };
  expect((await rpc(sandbox, 'tools/list', params, headers)).body.error).toMatchObject({
    code: -32020,
    message: expect.stringContaining('Mcp-Method'),
  });
  const unknown = await rpc(sandbox, 'tools/list', {}, { 'mcp-protocol-version': '1900-01-01' });
  expect(unknown.body.error.data).toEqual({
    code: 'not_implemented',
    supported: [modernVersion, ...handshakeVersions],
    requested: '1900-01-01',
  });
});

function envelope(): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': modernVersion,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
}

test('MCP-PROTOCOL the answer has the form that the client accepts', async ({ sandbox }) => {
  const formOf = async (accept?: string) =>
    (await rpc(sandbox, 'ping', {}, accept === undefined ? {} : { accept })).type;

  expect(await formOf()).toBe('application/json');
  expect(await formOf('*/*')).toBe('application/json');
  expect(await formOf('application/json')).toBe('application/json');
  expect(await formOf('application/json, text/event-stream')).toBe('application/json');
  const stream = await rpc(sandbox, 'ping', {}, { accept: 'text/event-stream' });
  expect(stream.type).toBe('text/event-stream');
  expect(stream.body).toMatch(/^event: message\ndata: \{"jsonrpc":"2.0","id":\d+,"result":\{\}\}\n\n$/);
});

test('MCP-ERRORS unknown tools and methods are JSON-RPC errors on 200, and a missing argument is a failed tool', async ({
  sandbox,
}) => {
  for (const request of [rpc, modernRpc]) {
    const tool = await request(sandbox, 'tools/call', { name: 'no_such_tool', arguments: {} });
    expect([tool.status, tool.body.error]).toMatchObject([
      200,
      { code: -32602, message: expect.stringMatching(/^unknown tool: no_such_tool; the tools are /) },
    ]);
    const method = await request(sandbox, 'resources/list');
    expect([method.status, method.body.error.code]).toEqual([200, -32601]);
    const missing = await request(sandbox, 'tools/call', { name: 'sandbox_execute_bash', arguments: {} });
    expect(missing.status).toBe(200);
    expect(missing.body.result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'cmd is required' }] });
  }
  for (const method of ['constructor', '__proto__', 'toString']) {
    expect((await rpc(sandbox, method)).body.error.code).toBe(-32601);
  }
});

test('MCP-ERRORS only POST is served', async ({ sandbox }) => {
  for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
    const response = await sandbox.fetch(`${method} /mcp`);
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
    await response.text();
  }
});

test('MCP-ERRORS a body that is not one message is a JSON-RPC error', async ({ sandbox }) => {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const bodies: [unknown, number, number][] = [
    ['{', 400, -32700],
    ['', 400, -32600],
    ['"text"', 400, -32600],
    ['[]', 400, -32600],
    [[message, message], 400, -32600],
    [{ ...message, jsonrpc: '1.0' }, 400, -32600],
    [{ ...message, id: null }, 400, -32600],
    [{ ...message, id: { a: 1 } }, 400, -32600],
    [{ ...message, method: 7 }, 400, -32600],
    [{ ...message, params: [1] }, 400, -32600],
    [{ ...message, method: 'tools/call', params: { arguments: {} } }, 200, -32602],
    [{ ...message, method: 'tools/call', params: { name: 'sandbox_execute_bash', arguments: [] } }, 200, -32602],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(200)}${']'.repeat(200)}}`, 413, -32600],
  ];
  for (const [body, status, code] of bodies) {
    const reply = await post(sandbox, body);
    expect([body, reply.status, reply.body.jsonrpc, reply.body.error?.code]).toEqual([body, status, '2.0', code]);
  }
  // The id of a message that is refused for another reason is repeated.
  expect((await post(sandbox, { ...message, jsonrpc: '1.0' })).body.id).toBe(1);
  // An answer to a request that the server never sent.
  expect((await post(sandbox, { jsonrpc: '2.0', id: 1, result: {} })).status).toBe(202);
});

test('MCP-ERRORS arguments of the wrong type or size are failed tools that name the argument', async ({ sandbox }) => {
  const wrong: [string, object, string][] = [
    ['sandbox_execute_bash', { cmd: 7 }, 'cmd must be a string'],
    ['sandbox_execute_bash', { cmd: 'true', timeout: 1e308 }, 'timeout must be at most 31536000'],
    ['sandbox_execute_bash', { cmd: 'true', timeout: -1 }, 'timeout must be at least 0'],
    ['sandbox_execute_bash', { cmd: 'a\0b' }, 'cmd must not contain a NUL byte'],
    ['sandbox_execute_bash', { cmd: 'true', new_session: true, session_id: 'a' }, 'new_session and session_id'],
    ['sandbox_execute_bash', { cmd: 'true', session_id: 'nobody' }, 'no terminal session has the id nobody'],
    ['sandbox_execute_bash', { cmd: 'true', cwd: '/no/such' }, '/no/such is not a directory'],
    ['sandbox_execute_code', { code: '1', language: 'cobol' }, 'language must be one of'],
    ['sandbox_execute_code', { code: '1', timeout: 901 }, 'timeout must be at most 900'],
    ['sandbox_file_operations', { action: 'burn', path: '/' }, 'action must be one of'],
    ['sandbox_file_operations', { action: 'grep', path: '/tmp' }, 'pattern is required'],
    ['sandbox_file_operations', { action: 'write', path: '/tmp/x' }, 'content is required'],
    ['sandbox_file_operations', { action: 'replace', path: '/tmp/x' }, 'old_str is required'],
    ['sandbox_str_replace_editor', { command: 'create', path: '/tmp/x' }, 'file_text is required'],
    ['browser_gui_execute_action', { action_type: 'TYPING' }, 'text is required'],
  ];
  for (const [name, input, text] of wrong) {
    const { status, body } = await rpc(sandbox, 'tools/call', { name, arguments: input });
    expect([name, input, status, body.result?.isError]).toEqual([name, input, 200, true]);
    expect(body.result.content[0].text).toContain(text);
  }
  // Null for an argument that may be left out counts as absent.
  const nulls = { cmd: 'true', cwd: null, session_id: null, timeout: null };
  const { body } = await rpc(sandbox, 'tools/call', { name: 'sandbox_execute_bash', arguments: nulls });
  expect(body.result.structuredContent.exit_code).toBe(0);
});

test(
  'MCP-1 AUTH-2 the endpoint needs the key, from any carrier',
  async ({ sandbox }) => {
    expect((await rpc(sandbox, 'ping')).status).toBe(401);
    expect((await rpc(sandbox, 'ping', {}, { 'x-api-key': 'wrong' })).status).toBe(401);
    expect((await rpc(sandbox, 'ping', {}, { 'x-api-key': key })).status).toBe(200);
    expect((await rpc(sandbox, 'ping', {}, { authorization: `Bearer ${key}` })).status).toBe(200);
  },
  { env: { SVC_API_KEY: key } },
);

test('MCP-1 a page of another origin is refused', async ({ sandbox }) => {
  const { status } = await rpc(sandbox, 'ping', {}, { origin: 'https://elsewhere.example' });

  expect(status).toBe(403);
});

test('MCP-METRICS calls are counted by tool and outcome, logged with the tool, and never with their arguments', async ({
  sandbox,
}) => {
  const secret = 'argument-that-no-log-may-hold';
  const call = { name: 'sandbox_execute_bash', arguments: { cmd: `echo ${secret}` } };
  const reply = await sandbox.fetch(
    'POST /mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
    { headers: { 'x-request-id': 'asked' } },
  );
  expect(reply.headers.get('x-request-id')).toBe('asked');
  await reply.text();
  await rpc(sandbox, 'tools/call', { name: 'sandbox_execute_bash', arguments: {} });
  await rpc(sandbox, 'tools/call', { name: secret, arguments: {} });

  const metrics = await (await sandbox.fetch('GET /metrics')).text();
  expect(metrics).toContain('mcp_tool_calls_total{tool="sandbox_execute_bash",outcome="ok"} 1');
  expect(metrics).toContain('mcp_tool_calls_total{tool="sandbox_execute_bash",outcome="failed"} 1');
  expect(metrics).toContain('mcp_tool_duration_seconds_count{tool="sandbox_execute_bash"} 2');
  expect(metrics).not.toContain(secret);
  const line = sandbox.logLines().find((one) => one['request_id'] === 'asked');
  expect(line).toMatchObject({ route: '/mcp', tool: 'sandbox_execute_bash', tool_outcome: 'ok' });
  expect(sandbox.stdout).not.toContain(secret);
});
