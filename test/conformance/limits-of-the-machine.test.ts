/** Commands at the limits of the machine: disk, processes, time. */
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fillDisk, freeDisk, onSmallDisk } from '../harness/full-disk.ts';
import { asTestAccount, testAccount } from '../harness/test-account.ts';
import { StalledClients } from '../harness/stalled.ts';
import { expect, test } from '../harness/sandbox.ts';

test(
  'V2CMD-NOSPACE HTTP-507 on a full disk a new command is 507, a running one continues and keeps its exit code',
  async ({ sandbox }) => {
    const running = await sandbox.start({ command: 'read line; head -c 3000000 /dev/zero | tr "\\0" x; exit 9' });
    fillDisk(sandbox);
    const refused = await sandbox.request('POST /v2/commands', { command: 'true', command_id: 'later' });
    expect(refused).toMatchObject({
      status: 507,
      body: {
        success: false,
        message: 'no space left for the output of a command',
        hint: expect.stringContaining('--runtime-dir'),
      },
    });

    await sandbox.ok(`POST /v2/commands/${running}/stdin`, { input: '\n' });
    expect(await sandbox.ended(running)).toMatchObject({ status: 'completed', exit_code: 9 });
    const { offset, gaps } = await sandbox.ok(`GET /v2/commands/${running}?limit_bytes=4000000`);
    expect(offset).toBe(3_000_000);
    expect(gaps.length).toBeGreaterThan(0);
    freeDisk(sandbox);
    const later = await sandbox.run({ command: 'echo room again', command_id: 'later' });
    expect(later).toMatchObject({ stdout: 'room again\n', replayed: false });
  },
  onSmallDisk(),
);

const fewProcesses = asTestAccount({
  prepare: (sandbox) => {
    mkdirSync(join(sandbox.directory, 'home'));
    chownSync(join(sandbox.directory, 'home'), testAccount.uid, testAccount.gid);
  },
});

test(
  'V2CMD-NOPROCESS HTTP-429 at the process limit a new command is 429, and the daemon keeps running',
  async ({ sandbox }) => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, () =>
        sandbox.request('POST /v2/commands', { command: 'sleep', shell: 'none', args: ['1000'], mode: 'async' }),
      ),
    );
    // The number that succeeds depends on the machine; every other answer is 429.
    const statuses = new Set(replies.map(({ status }) => status));
    expect([...statuses, 200].filter((status) => status !== 200)).toEqual([429]);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({
      message: expect.stringContaining('the limit on processes or descriptors is reached'),
      hint: expect.any(String),
    });

    for (const { command_id: id } of (await sandbox.ok('GET /v2/commands'))['commands'])
      await sandbox.ok(`DELETE /v2/commands/${id}`);
    expect(await sandbox.run({ command: 'echo', shell: 'none', args: ['alive'] })).toMatchObject({ stdout: 'alive\n' });
  },
  { ...fewProcesses, launcher: [...(fewProcesses.launcher ?? []), 'prlimit', '--nproc=40'] },
);

test(
  'V2CMD-NOPROCESS at the descriptor limit requests are refused, commands continue, and service returns when descriptors are free',
  async ({ sandbox }) => {
    const ids: string[] = [];
    const refused: number[] = [];
    for (let n = 0; refused.length < 5; n++) {
      const body = { command: `read line; exit ${n}`, shell: 'sh', mode: 'async', command_id: `c-${n}` };
      const reply = await sandbox.request('POST /v2/commands', body);
      if (reply.status !== 200) expect(reply.body.hint).toBeString();
      if (reply.status === 200) ids.push(`c-${n}`);
      else refused.push(reply.status);
    }
    expect([429, 503]).toEqual(expect.arrayContaining(refused));
    expect(ids.length).toBeGreaterThan(20);

    await using stalled = new StalledClients(sandbox.url);
    await stalled.open(100, 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Half: ');
    await stalled[Symbol.asyncDispose]();
    expect((await sandbox.request('GET /health')).status).toBe(200);
    await sandbox.ok('DELETE /v2/commands/c-0');
    for (const id of ids.slice(1)) {
      await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });
      expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: Number(id.slice(2)) });
    }
    expect(await sandbox.run({ command: 'echo', shell: 'none', args: ['alive'] })).toMatchObject({ stdout: 'alive\n' });
  },
  { launcher: ['prlimit', '--nofile=64:64'] },
);

test('V2CMD-HEARTBEAT V2CMD-LASTLINE a silent stream is kept alive, and ends with its last line', async ({
  sandbox,
}) => {
  const id = await sandbox.start({ command: 'echo first; sleep 16.5; echo last' });
  const lines = await sandbox.allLines(id);

  expect(lines.map(({ type }) => type)).toEqual(['start', 'stdout', 'heartbeat', 'stdout', 'exit']);
  expect(lines[2]).toEqual({ type: 'heartbeat', offset: 6, stderr_offset: 0 });
});
