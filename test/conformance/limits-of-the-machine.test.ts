/** Commands at the limits of the machine: disk, processes, time. */
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFewDescriptors } from '../harness/descriptors.ts';
import { fillDisk, freeDisk, onSmallDisk } from '../harness/full-disk.ts';
import { KeptConnection } from '../harness/kept-connection.ts';
import { asTestAccount, testAccount } from '../harness/test-account.ts';
import { StalledClients } from '../harness/stalled.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

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

test('V2CMD-NOPROCESS HTTP-503 without a free descriptor each call is refused in words, and none is called a bug', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'file');
  writeFileSync(path, 'first');
  const { command_id: id } = await sandbox.run({ command: 'echo over' });
  using kept = await KeptConnection.open(sandbox.url);
  const at = new URLSearchParams({ path }).toString();
  const calls: readonly (readonly [route: string, body?: object])[] = [
    [`GET /v2/commands/${id}`],
    [`GET /v2/fs/read?${at}`],
    [`GET /v2/fs/download?${at}`],
    [`GET /v2/fs/list?path=${sandbox.directory}`],
    ['POST /v2/fs/write', { path, content: 'written' }],
    ['POST /v2/fs/grep', { path: sandbox.directory, pattern: 'first' }],
    ['POST /v2/pty/sessions', {}],
  ];
  for (const [route, body] of calls) await kept.request(route, body); // Loads what is loaded on demand.
  const answers: unknown[] = [];
  {
    using _few = withFewDescriptors(sandbox, 0);
    for (const [route, body] of calls) {
      const answer = await kept.request(route, body);
      answers.push([route, isWait(answer.status), answer.status === 200 || JSON.parse(answer.body)]);
    }
  }

  const refused = { success: false, hint: expect.any(String), data: expect.objectContaining({ retryable: true }) };
  expect(answers).toEqual(calls.map(([route]) => [route, true, expect.objectContaining(refused)]));
  expect(readFileSync(path, 'utf8')).toBe('written');
  expect(await sandbox.ok(`GET /v2/commands/${id}`)).toMatchObject({ stdout: 'over\n', command: { exit_code: 0 } });
});

const isWait = (status: number) => status === 429 || status === 503;

test('V2CMD-NOPROCESS a command that has run is answered with 200, also when its output cannot be read now', async ({
  sandbox,
}) => {
  const gate = join(sandbox.directory, 'gate');
  const command = `touch ${gate}.$$; until [ -e ${gate} ]; do sleep 0.02; done; echo over; exit 3`;
  const running = sandbox.request('POST /v2/commands', { command });
  const withId = sandbox.request('POST /v2/commands', { command: `${command}0`, command_id: 'repeatable' });
  await until(
    'both commands run',
    () => readdirSync(sandbox.directory).filter((name) => name.startsWith('gate.')).length === 2,
  );
  const [{ body }, refused] = await (async () => {
    using _few = withFewDescriptors(sandbox, 0);
    writeFileSync(gate, '');
    return await Promise.all([running, withId]);
  })();

  expect(body.data).toMatchObject({ exit_code: 3, stdout: '', truncated: true, offset: 0 });
  expect(body.hint).toContain(`GET /v2/commands/${body.data['command_id']}`);
  expect((await sandbox.ok(`GET /v2/commands/${body.data['command_id']}`))['stdout']).toBe('over\n');
  // A request that can be repeated is refused: the answer then has the output.
  expect(refused).toMatchObject({ status: 503, body: { data: { code: 'unavailable', retryable: true } } });
  const again = { command: `${command}0`, command_id: 'repeatable' };
  expect(await sandbox.run(again)).toMatchObject({ replayed: true, exit_code: 30, stdout: 'over\n' });
});

test(
  'V2CMD-NOPROCESS a daemon that is killed at the limit of descriptors finds every command again',
  async ({ sandbox }) => {
    const ids: string[] = [];
    const sleeping = { command: 'sleep', shell: 'none', args: ['1000'], mode: 'async' };
    for (let refused = 0; refused < 5;) {
      const { status, body } = await sandbox.request('POST /v2/commands', sleeping);
      if (status === 200) ids.push(body.data['command_id'] as string);
      else refused += 1;
    }
    for (let kills = 0; kills < 3; kills++) {
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      const { commands } = await sandbox.ok('GET /v2/commands');
      const found = (commands as { command_id: string; status: string }[]).map((one) => [one.command_id, one.status]);
      expect(found.toSorted()).toEqual(ids.map((id) => [id, 'running']).toSorted());
    }
  },
  { launcher: ['prlimit', '--nofile=64:64'], expectedWarnings: ['started again by init'] },
);

test('FILE-13 a large file arrives whole when the daemon has one descriptor left', async ({ sandbox }) => {
  const content = Buffer.alloc(3_000_000, 'abcdefg');
  const path = join(sandbox.directory, 'large');
  writeFileSync(path, content);
  const route = `/v2/fs/download?${new URLSearchParams({ path }).toString()}`;
  await (await fetch(sandbox.url + route)).bytes(); // Loads what is loaded on demand, and leaves a connection.
  using _few = withFewDescriptors(sandbox, 1);

  const answer = await fetch(sandbox.url + route, { headers: { connection: 'close' } });

  expect(answer.status).toBe(200);
  expect(content.equals(await answer.bytes())).toBe(true);
});

test('V2CMD-HEARTBEAT V2CMD-LASTLINE a silent stream is kept alive, and ends with its last line', async ({
  sandbox,
}) => {
  const id = await sandbox.start({ command: 'echo first; sleep 16.5; echo last' });
  const lines = await sandbox.allLines(id);

  expect(lines.map(({ type }) => type)).toEqual(['start', 'stdout', 'heartbeat', 'stdout', 'exit']);
  expect(lines[2]).toEqual({ type: 'heartbeat', offset: 6, stderr_offset: 0 });
});
