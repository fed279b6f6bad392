/** What a command meets when the machine has no more: disk, processes, time. */
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { asTestAccount, testAccount } from '../harness/test-account.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const onSmallDisk = 'mkdir -p ./runtime && mount -t tmpfs -o size=1m,mode=700 tmpfs ./runtime && exec "$@"';
const smallDisk = { launcher: ['unshare', '--mount', 'sh', '-c', onSmallDisk, 'sh'] };

test(
  'V2CMD-NOSPACE HTTP-507 on a full disk a new command is 507, a running one goes on and keeps its exit code',
  async ({ sandbox }) => {
    const running = await sandbox.start({ command: 'read line; head -c 3000000 /dev/zero | tr "\\0" x; exit 9' });
    const filler = await sandbox.start({ command: 'head -c 1500000 /dev/zero; read line' });
    const start = () =>
      sandbox.request('POST /v2/commands', { command: 'head -c 200000 /dev/zero; sleep 1000', mode: 'async' });
    await until('the disk is full', async () => (await start()).status === 507);

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
    for (const { command_id: id } of (await sandbox.ok('GET /v2/commands'))['commands']) {
      if (id !== filler && id !== running) await sandbox.ok(`DELETE /v2/commands/${id}`);
    }
    await sandbox.ok(`DELETE /v2/commands/${filler}`);
    expect(await sandbox.run({ command: 'echo room again', command_id: 'later' })).toMatchObject({
      stdout: 'room again\n',
      replayed: false,
    });
  },
  smallDisk,
);

const fewProcesses = asTestAccount({
  prepare: (sandbox) => {
    mkdirSync(join(sandbox.directory, 'home'));
    chownSync(join(sandbox.directory, 'home'), testAccount.uid, testAccount.gid);
  },
});

test(
  'V2CMD-NOPROCESS HTTP-429 without a process to be had a command is 429, and the daemon lives on',
  async ({ sandbox }) => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, () =>
        sandbox.request('POST /v2/commands', { command: 'sleep', shell: 'none', args: ['1000'], mode: 'async' }),
      ),
    );
    // How many find room is the machine's affair; none is answered otherwise.
    const statuses = new Set(replies.map(({ status }) => status));
    expect([...statuses, 200].filter((status) => status !== 200)).toEqual([429]);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({
      message: expect.stringContaining('no process or descriptor to be had'),
      hint: expect.any(String),
    });

    for (const { command_id: id } of (await sandbox.ok('GET /v2/commands'))['commands'])
      await sandbox.ok(`DELETE /v2/commands/${id}`);
    expect(await sandbox.run({ command: 'echo', shell: 'none', args: ['alive'] })).toMatchObject({ stdout: 'alive\n' });
  },
  { ...fewProcesses, launcher: [...(fewProcesses.launcher ?? []), 'prlimit', '--nproc=40'] },
);

test('V2CMD-HEARTBEAT V2CMD-LASTLINE a silent stream is kept alive, and ends with its last line', async ({
  sandbox,
}) => {
  const id = await sandbox.start({ command: 'echo first; sleep 16.5; echo last' });
  const lines = await sandbox.allLines(id);

  expect(lines.map(({ type }) => type)).toEqual(['start', 'stdout', 'heartbeat', 'stdout', 'exit']);
  expect(lines[2]).toEqual({ type: 'heartbeat', offset: 6, stderr_offset: 0 });
});
