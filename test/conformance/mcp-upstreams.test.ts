/** The tools of other MCP servers behind `POST /mcp`: where they come from, what passes through, what is skipped. */
import { afterAll } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import { needPython } from '../harness/interpreters.ts';
import { callTool, followTool, modernRpc, rpc, toolNames } from '../harness/mcp-client.ts';
import { McpServerProcess } from '../harness/mcp-servers.ts';
import { clientCommand, expect, programTest, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const builtInCount = 10;
const python = await McpServerProcess.python(needPython('mcp'), 'stateless');
const mortal = await McpServerProcess.python(needPython('mcp/modern'), 'stateless');
const sessions = await McpServerProcess.start('sessions');
const mute = await McpServerProcess.start('hangsAlways');
const plain = await McpServerProcess.start('plain', 'echo', 'sandbox_execute_bash');
const refuses = await McpServerProcess.start('refuses', 'refused');

afterAll(async () => {
  await Promise.all([python, mortal, sessions, mute, plain, refuses].map((server) => server[Symbol.asyncDispose]()));
});

const register = (servers: object) => ({ EXTRA_MCP_SERVERS: JSON.stringify(servers) });
const warnings = (sandbox: Sandbox) =>
  sandbox.logLines().flatMap(({ level, message }) => (level === 'warn' ? [String(message)] : []));
const theirs = async (sandbox: Sandbox) => (await toolNames(sandbox)).slice(builtInCount);
const pythonTools = ['echo', 'count', 'picture', 'document', 'fail', 'long', 'die', 'wait'];

const taken = (server: string) =>
  `The tool sandbox_execute_bash of the MCP server ${server} is left out: the hub itself has a tool of that name.`;

test(
  'MCP-2 MCP-4 the tools of registered servers follow the built-in ones, with prefixes, and a built-in name wins',
  async ({ sandbox }) => {
    const expected = ['echo', ...pythonTools.map((name) => `py_${name}`)];
    expect(await theirs(sandbox)).toEqual(expected);
    const modern = await modernRpc(sandbox, 'tools/list');
    expect(modern.body.result.tools.slice(builtInCount).map(({ name }: JsonObject) => name)).toEqual(expected);
    expect((await callTool(sandbox, 'sandbox_execute_bash', { cmd: 'echo ours' })).text).toContain('ours');
    expect((await callTool(sandbox, 'echo', { a: 1 })).text).toBe('{"a":1}');
    expect(warnings(sandbox)).toEqual([taken('plain')]);
  },
  {
    env: register({ plain: { url: plain.url }, python: { url: python.url, prefix: 'py' } }),
    expectedWarnings: [taken('plain')],
  },
);

test(
  'MCP-4 results, pictures, resources, progress and errors of a server pass through unchanged',
  async ({ sandbox }) => {
    const echoed = await rpc(sandbox, 'tools/call', { name: 'echo', arguments: { text: 'ü€😀' } });
    expect(echoed.body.result).toEqual({
      content: [{ type: 'text', text: 'ü€😀' }],
      structuredContent: { result: 'ü€😀' },
      isError: false,
    });
    expect((await callTool(sandbox, 'picture')).content).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect((await callTool(sandbox, 'document')).content).toMatchObject([
      { type: 'resource', resource: { uri: 'file:///notes.txt', text: 'notes' } },
    ]);
    const failed = await callTool(sandbox, 'fail');
    expect([failed.isError, failed.text]).toEqual([true, expect.stringContaining('out of paper')]);

    const messages: JsonObject[] = [];
    for await (const message of followTool(sandbox, { name: 'count', input: { to: 3 } })) messages.push(message);
    const steps = messages.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
    const all = [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}`, progressToken: 'p' }));
    expect(steps).toEqual(all);
    expect(messages.at(-1)?.['result'].structuredContent).toEqual({ result: 3 });

    const refused = await rpc(sandbox, 'tools/call', { name: 'refused', arguments: {} });
    expect([refused.status, refused.body.error]).toEqual([
      200,
      { code: -32602, message: 'echo needs text', data: { argument: 'text' } },
    ]);
    const unknown = await rpc(sandbox, 'tools/call', { name: 'nothing', arguments: {} });
    expect([unknown.status, unknown.body.error]).toMatchObject([
      200,
      {
        code: -32602,
        message: expect.stringMatching(/^unknown tool: nothing; the tools are sandbox_execute_bash, .*, echo, /),
        data: { code: 'tool_not_found', tools: expect.arrayContaining(['sandbox_execute_bash', 'echo']) },
      },
    ]);
  },
  { env: register({ python: { url: python.url }, refuses: { url: refuses.url } }) },
);

const skipped =
  'MCP servers are skipped: remote (its url is not on loopback over http), stdio (it is a command). ' +
  'The hub serves stateless HTTP servers on 127.0.0.1, localhost or [::1]; run others behind such a server.';
const ignored = 'Fields of MCP servers have no effect: plain.hidden, plain.timeout.';
const needsSession = `The MCP server sessions at ${sessions.url} is skipped: it needs a session. Run it stateless.`;
const skippedWarnings = [skipped, ignored, needsSession, taken('plain')];

test(
  'MCP-5 MCP-6 GONE-12 remote servers, commands, servers with sessions and old fields are skipped, each with one warning',
  async ({ sandbox }) => {
    expect(warnings(sandbox)).toEqual([skipped, ignored]);
    for (let i = 0; i < 2; i++) expect(await theirs(sandbox)).toEqual(['echo']);
    expect(warnings(sandbox).toSorted()).toEqual(skippedWarnings.toSorted());
  },
  {
    env: (sandbox) => ({ EXTRA_MCP_SERVERS: join(sandbox.directory, 'servers.json') }),
    prepare: (sandbox) =>
      writeFileSync(
        join(sandbox.directory, 'servers.json'),
        JSON.stringify({
          remote: { url: 'https://example.com/mcp' },
          stdio: { command: 'npx', args: ['server'] },
          sessions: { url: sessions.url },
          plain: { url: plain.url, hidden: true, timeout: 5 },
        }),
      ),
    expectedWarnings: skippedWarnings,
  },
);

const isDown = `The MCP server mortal at ${mortal.url} does not list its tools: nothing listens there.`;

test(
  'MCP-UPSTREAMS a server that dies in a call or never answers spoils nothing, and one that returns is listed again',
  async ({ sandbox }) => {
    expect(await theirs(sandbox)).toEqual(pythonTools);
    const died = await callTool(sandbox, 'die');
    expect([died.isError, died.text]).toEqual([true, expect.stringContaining('did not complete die')]);
    await mortal.kill(); // Waits for its end: until then its port accepts connections, and the last list stays.
    expect(await theirs(sandbox)).toEqual([]);
    const down = await callTool(sandbox, 'echo', { text: 'x' });
    expect([down.isError, down.text]).toEqual([true, expect.stringContaining('nothing listens there')]);
    await mortal.launch();
    expect((await callTool(sandbox, 'echo', { text: 'back' })).text).toBe('back');
    expect(await theirs(sandbox)).toEqual(pythonTools);
  },
  {
    args: ['--mcp-servers', JSON.stringify({ mute: { url: mute.url }, mortal: { url: mortal.url } })],
    expectedWarnings: [
      isDown,
      `The MCP server mortal at ${mortal.url} does not list its tools: the connection ended before its answer (ECONNRESET).`,
      `The MCP server mute at ${mute.url} does not list its tools: no list of tools after 10 s.`,
    ],
  },
);

programTest('MCP-4 a bad registration stops the start with one clear line', () => {
  for (const [given, problem] of [
    ['{"a":', 'the text is not JSON'],
    ['/nowhere/servers.json', 'is neither a JSON object nor a readable file (ENOENT)'],
    ['{"a": {"prefix": "p"}}', 'the entry a needs a url, as text'],
  ] as const) {
    const { exitCode, stderr } = Bun.spawnSync([...clientCommand(), 'start', '--mcp-servers', given], {
      env: programEnvironment(),
    });
    expect(exitCode).not.toBe(0);
    expect(stderr.toString()).toStartWith(`boxkeep: --mcp-servers: ${JSON.stringify(given)} is not valid: ${problem}`);
    expect(stderr.toString().trimEnd()).not.toContain('\n');
  }
});
