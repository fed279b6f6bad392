/** The official clients, the Inspector, the conformance suite and curl against `POST /mcp`. */
import { join } from 'node:path';
import { needMcpClients, needPython, nodeOf } from '../harness/interpreters.ts';
import { modernVersion, toolNames } from '../harness/mcp-client.ts';
import { expect, repositoryRoot, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const folder = join(repositoryRoot, 'test/clients/mcp');
const packages = needMcpClients();
const python = needPython('clients/mcp');
/** The Inspector and the suite need a newer Node than the repository does. */
const node = nodeOf(22);
const suite = join(packages, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const inspector = join(packages, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

async function output(sandbox: Sandbox, command: readonly string[]): Promise<string> {
  const client = Bun.spawn([...command], {
    cwd: sandbox.directory,
    env: { PATH: process.env['PATH'], HOME: sandbox.directory, PYTHONDONTWRITEBYTECODE: '1', NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [text, complaints] = await Promise.all([client.stdout.text(), client.stderr.text()]);
  if ((await client.exited) !== 0) throw new Error(`${command.join(' ')}:\n${text}${complaints}`);
  return text;
}

const versions = { v1: '2025-11-25', v2: '2025-11-25', modern: '2026-07-28' } as const;

for (const [client, version] of Object.entries(versions)) {
  test(`MCP-CLIENTS the official TypeScript client (${client}) lists, calls, follows and cancels`, async ({
    sandbox,
  }) => {
    const line = await output(sandbox, [node, join(folder, 'drive.mjs'), packages, `${sandbox.url}/mcp`, client]);
    const seen = JSON.parse(line) as JsonObject;

    expect(seen).toMatchObject({ version, output: 'one\ntwo\n', progress: 'one\ntwo\n', failed: true });
    expect(seen['tools']).toEqual(await toolNames(sandbox));
    expect(seen['unknown']).toContain('unknown tool: no_such_tool');
    expect([seen['cancelled'], seen['continued']]).toEqual(['cancelled', 'begun\nended\n']);
  });
}

test('MCP-CLIENTS the official Python client lists, calls and follows', async ({ sandbox }) => {
  const line = await output(sandbox, [join(python, 'bin/python'), join(folder, 'drive.py'), `${sandbox.url}/mcp`]);
  const seen = JSON.parse(line) as JsonObject;

  expect(seen).toMatchObject({ version: '2025-11-25', output: 'one\ntwo\n', progress: 'one\ntwo\n', failed: true });
  expect(seen['tools']).toEqual(await toolNames(sandbox));
  expect(seen['unknown']).toStartWith('unknown tool: no_such_tool; the tools are sandbox_execute_bash, ');
});

test('MCP-CLIENTS the command line of the Inspector lists and calls', async ({ sandbox }) => {
  const call = (...args: readonly string[]) =>
    output(sandbox, [node, inspector, '--cli', `${sandbox.url}/mcp`, '--transport', 'http', ...args]);
  const listed = JSON.parse(await call('--method', 'tools/list')) as JsonObject;
  expect(listed['tools'].map((tool: JsonObject) => tool['name'])).toEqual(await toolNames(sandbox));

  const args = ['--tool-name', 'sandbox_execute_bash', '--tool-arg', 'cmd=echo hi'];
  const called = JSON.parse(await call('--method', 'tools/call', ...args)) as JsonObject;
  expect(called['structuredContent']).toMatchObject({ output: 'hi\n', exit_code: 0 });
});

/** The other scenarios are for prompts, resources and example tools that this server does not have. */
const scenarios = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': ['tools-list', 'http-header-validation', 'dns-rebinding-protection', 'server-sse-multiple-streams'],
} as const;

for (const [version, names] of Object.entries(scenarios)) {
  for (const name of names) {
    test(`MCP-CLIENTS the conformance suite passes ${name} of ${version}`, async ({ sandbox }) => {
      const select = ['--scenario', name, '--spec-version', version];
      const report = await output(sandbox, [node, suite, 'server', '--url', `${sandbox.url}/mcp`, ...select]);

      expect(report).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed/);
    });
  }
}

/** The contract answers an unknown method with status 200, and the suite expects 404. */
const failForStatus = [
  '',
  '-initialize',
  '-ping',
  '-logging-setlevel',
  '-resources-subscribe',
  '-resources-unsubscribe',
].map((method) => `sep-2575-http-server-method-not-found-404${method}`);
/** These checks call example tools of the suite, which this server does not have. */
const failForTools = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
];
const passed = [
  ...['missing-meta', 'missing-protocol-version', 'missing-client-capabilities'].map(
    (fault) => `sep-2575-request-meta-invalid-${fault}`,
  ),
  'sep-2575-http-server-meta-invalid-400',
  'sep-2575-request-meta-client-info-optional',
  'sep-2575-server-implements-discover',
  'sep-2575-server-identifies-in-result-meta',
  'sep-2575-server-declares-prompts-in-discover',
  'sep-2575-discover-capabilities-match-handlers',
  'sep-2575-server-unsupported-version-error',
  'sep-2575-http-server-unsupported-version-400',
  'sep-2575-http-server-header-mismatch-400',
  'sep-2575-http-server-error-jsonrpc-id',
];

test('MCP-CLIENTS of server-stateless, only checks of status 404 and of example tools fail', async ({ sandbox }) => {
  const select = ['--scenario', 'server-stateless', '--spec-version', modernVersion, '-o', sandbox.directory];
  const suiteRun = Bun.spawn([node, suite, 'server', '--url', `${sandbox.url}/mcp`, ...select], {
    env: { PATH: process.env['PATH'], HOME: sandbox.directory },
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
  });
  expect(await suiteRun.exited).toBe(1); // Some checks have failed.
  const [report = ''] = new Bun.Glob('server-*/checks.json').scanSync(sandbox.directory);
  const checks = (await Bun.file(join(sandbox.directory, report)).json()) as JsonObject[];
  const withStatus = (status: string) => checks.filter((check) => check['status'] === status);
  const ids = (some: readonly JsonObject[]) => new Set(some.map(({ id }) => id as string));

  expect(ids(withStatus('FAILURE'))).toEqual(new Set([...failForStatus, ...failForTools]));
  for (const { id, errorMessage } of withStatus('FAILURE')) {
    const reason = failForTools.includes(id)
      ? /^Not testable: /
      : /^Expected HTTP 404 .* got HTTP 200 and code -32601$/;
    expect([id, errorMessage]).toEqual([id, expect.stringMatching(reason)]);
  }
  expect(ids(withStatus('SUCCESS'))).toEqual(new Set(passed));
});

test('MCP-CLIENTS curl calls a tool with one line', async ({ sandbox }) => {
  const params = { name: 'sandbox_execute_bash', arguments: { cmd: 'echo hi' } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const plain = await output(sandbox, ['curl', '-s', `${sandbox.url}/mcp`, '-d', message]);
  expect((JSON.parse(plain) as JsonObject)['result'].structuredContent.output).toBe('hi\n');

  const stream = await output(sandbox, [
    ...['curl', '-s', '-N', `${sandbox.url}/mcp`],
    ...['-H', 'Accept: text/event-stream', '-H', 'Content-Type: application/json', '-d', message],
  ]);
  expect(stream).toStartWith('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":');
});
