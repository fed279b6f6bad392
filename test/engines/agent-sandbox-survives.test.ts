/** Processes of agent-sandbox go on without the daemon that started them. */
import { startGrpc, withAgentSandbox } from '../harness/agent-sandbox.ts';
import { many } from '../harness/counts.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

test(
  'AGS-SURVIVES kill -9 of the daemon in the middle of Start: the process goes on, and the next daemon has all of it',
  async ({ sandbox }) => {
    const client = startGrpc('agent-sandbox-survives.py', sandbox);
    for (let round = 0; round < many(20); round++) {
      await client.tell('begin');
      const [, id] = await client.next();
      // Init gives up a daemon that dies ten times in a row within a second of its start.
      const uptime = async () => (await sandbox.ok('GET /health'))['uptime_s'] as number;
      await until('the daemon has run for a second', async () => (await uptime()) > 1);
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      await client.tell('go on');
      expect([await client.next(), await client.next()]).toEqual([
        ['the stream', 'UNAVAILABLE'],
        ['the next call', 'next\n'],
      ]);
      const read = () => sandbox.ok(`GET /v2/commands/${id}`);
      await until('the command has ended', async () => (await read())['command'].status !== 'running');
      const { command, stdout } = await read();
      expect([command.status, command.exit_code, stdout]).toEqual(['completed', 9, 'ready\ngot on\n']);
    }
    await client.end();
  },
  withAgentSandbox({ expectedWarnings: ['started again by init'], timeoutMs: 300_000 }),
);

test(
  'AGS-UPGRADE a write that the process has taken in part is refused by an upgrade, with the count',
  async ({ sandbox }) => {
    const client = startGrpc('agent-sandbox-write.py', sandbox);
    await client.next();
    expect((await sandbox.upgrade()).code).toBe(0);
    await client.tell('go on');
    expect(await client.end()).toEqual([
      ['write', ['UNAVAILABLE', expect.stringMatching(/^the process took [1-9]\d* of 1048576 bytes$/)]],
      ['stream', [['exit', -1]]],
    ]);
  },
  withAgentSandbox({ timeoutMs: 120_000 }),
);

test(
  'AGS-UPGRADE an upgrade under 20 open streams and calls of four threads fails none of them',
  async ({ sandbox }) => {
    const client = startGrpc('agent-sandbox-upgrade.py', sandbox);
    await client.next();
    expect((await sandbox.upgrade()).code).toBe(0);
    await client.tell('go on');
    const streams = Array.from({ length: 20 }, (_, i) => [
      ['stdout', `${i} before\nafter\n`],
      ['exit', i],
    ]);
    expect(await client.end()).toEqual([
      ['streams', streams],
      ['calls', [true, []]],
    ]);
  },
  withAgentSandbox({ timeoutMs: 120_000 }),
);
