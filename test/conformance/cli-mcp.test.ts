/** `boxkeep mcp` under the official client, and as a shell sees it. */
import { join } from 'node:path';
import { client, Client } from '../harness/cli-client.ts';
import { needMcpClients, nodeOf } from '../harness/interpreters.ts';
import { toolNames } from '../harness/mcp-client.ts';
import { clientCommand, expect, repositoryRoot, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const packages = needMcpClients();

for (const which of ['v1', 'v2', 'modern']) {
  test(`CLI-MCP the official client (${which}) lists, calls, follows and cancels over stdio`, async ({ sandbox }) => {
    const driver = join(repositoryRoot, 'test/clients/mcp/bridge.mjs');
    const bridge = [...clientCommand(), 'mcp', sandbox.url];
    const run = Bun.spawn([nodeOf(22), driver, packages, which, ...bridge], {
      env: { PATH: process.env['PATH'], TMPDIR: join(sandbox.directory, 'tmp') },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    });
    const [stdout, stderr, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ tools: (await toolNames(sandbox)).length, output: expect.stringContaining('one\ntwo\n') },
      ...{ progress: expect.stringMatching(/^one\n/), order: ['quick', 'slow'], cancelled: 'cancelled' },
      large: expect.any(Number),
    });
  });
}

const ping = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`;

test(
  'CLI-MCP each request is answered: with an error for a daemon that is away, and again when it is back',
  async ({ sandbox }) => {
    const run = new Client(sandbox, ['mcp', sandbox.url]);
    const messages = (): JsonObject[] =>
      run.stdout
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JsonObject);
    const answer = async (id: number): Promise<JsonObject> => {
      const found = () => messages().find((message) => message['id'] === id);
      await until(`${id} is answered`, () => found() !== undefined);
      return found()!;
    };
    run.process.stdin.write(ping(1));
    expect(await answer(1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const sleep = { name: 'sandbox_execute_bash', arguments: { cmd: 'sleep 1000' } };
    run.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: sleep })}\n`);
    await until('it runs', () => sandbox.processes().some(({ command }) => command.includes('sleep 1000')));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    expect(await answer(2)).toMatchObject({ error: { code: -32_000, message: expect.any(String) } });
    await sandbox.served();
    run.process.stdin.write(`no JSON\n${ping(3)}`);
    expect(await answer(3)).toMatchObject({ result: {} });
    expect(messages()).toContainEqual({
      ...{ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'a line is not a JSON object' } },
    });
    run.process.stdin.end(ping(4).trimEnd());
    expect((await run.ended()).code).toBe(0);
    expect(messages().at(-1)).toEqual({ jsonrpc: '2.0', id: 4, result: {} });

    const nowhere = new Client(sandbox, ['mcp', '127.0.0.1:1']);
    nowhere.process.stdin.end(ping(5));
    const refused = JSON.parse((await nowhere.ended()).stdout.toString()) as JsonObject;
    expect(refused).toMatchObject({ id: 5, error: { message: expect.stringContaining('connection refused') } });
    expect(await client(sandbox, ['mcp', sandbox.url])).toEqual({ code: 0, stdout: Buffer.alloc(0), stderr: '' });
  },
  { expectedWarnings: ['started again by init'] },
);
