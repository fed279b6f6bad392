/** The daemon under faults around it: stopped keepers, full disks, races of readers and writers. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillDisk, insideRuntime, onSmallDisk } from '../harness/full-disk.ts';
import { asTestAccount, testAccount } from '../harness/test-account.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };
const mebibyte = 1024 * 1024;

async function spoken(sandbox: Sandbox, id: string, text: string): Promise<void> {
  await until(`${id} has spoken`, async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === text);
}

/** Changes the note of every process, as the daemon of another version would have written it. */
function changeNotes(sandbox: Sandbox, change: (note: JsonObject) => object): void {
  const commands = join(sandbox.runtimeDirectory, 'commands');
  for (const path of readdirSync(commands).map((name) => join(commands, name, 'meta.json'))) {
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as JsonObject)));
  }
}

test('V2CMD-INPUT concurrent writers each write their bytes whole', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'cat' });
  const inputs = ['A', 'B', 'C', 'D', 'E'].map((letter) => letter.repeat(1000));
  await Promise.all(inputs.map((input) => sandbox.ok(`POST /v2/commands/${id}/stdin`, { input })));
  await sandbox.ok(`POST /v2/commands/${id}/stdin`, { eof: true });
  await sandbox.ended(id);
  const { stdout } = await sandbox.ok(`GET /v2/commands/${id}`);

  expect((stdout as string).match(/(.)\1{999}/g)?.toSorted()).toEqual(inputs);
});

test('V2CMD-SURVIVE a spare keeper waits for each command, and no command is lost when the spare is killed', async ({
  sandbox,
}) => {
  for (let round = 0; round < 10; round++) {
    await until('a keeper waits', () => sandbox.spareKeepers().length > 0);
    for (const pid of sandbox.spareKeepers()) process.kill(pid, round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    expect(await sandbox.run({ command: `exit ${round}` })).toMatchObject({ status: 'completed', exit_code: round });
  }
});

test(
  'V2CMD-STDIN V2CMD-SURVIVE the stdin data of a run reaches the command although the daemon crashes meanwhile',
  async ({ sandbox }) => {
    const data = 'x'.repeat(mebibyte);
    const id = await sandbox.start({
      command: 'echo waiting; while [ ! -e go ]; do sleep 0.02; done; wc -c',
      cwd: sandbox.directory,
      stdin: { data },
    });
    await spoken(sandbox, id, 'waiting\n');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    writeFileSync(join(sandbox.directory, 'go'), '');

    expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect((await sandbox.ok(`GET /v2/commands/${id}?offset=8`))['stdout']).toBe(`${mebibyte}\n`);
  },
  restarted,
);

test(
  'RUN-RESTART a stopped keeper delays no request after a restart',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; read line; exit 4' });
    await spoken(sandbox, id, 'here\n');
    const [keeper = 0] = sandbox.keepers();
    process.kill(keeper, 'SIGSTOP');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    expect((await sandbox.ok(`GET /v2/commands/${id}`))['command']).toMatchObject({ status: 'running' });
    const killed = await sandbox.request(`POST /v2/commands/${id}/kill`, {});
    expect(killed.status).toBe(200);
    const refused = await sandbox.request(`DELETE /v2/commands/${id}`);
    expect(refused).toMatchObject({
      status: 503,
      body: { message: `the keeper of ${id} does not answer, and the command may live on` },
    });
    process.kill(keeper, 'SIGCONT');
    await sandbox.ended(id);
    expect((await sandbox.request(`DELETE /v2/commands/${id}`)).status).toBe(200);
  },
  restarted,
);

/** Writes the journals of all commands as a keeper or a daemon that was killed right afterwards would have left them. */
function changeJournals(sandbox: Sandbox, change: (journal: string) => string): void {
  const commands = join(sandbox.runtimeDirectory, 'commands');
  for (const name of readdirSync(commands)) {
    const path = join(commands, name, 'journal');
    if (existsSync(path)) writeFileSync(path, change(readFileSync(path, 'latin1')), 'latin1');
  }
}

for (const [what, change] of [
  // The working directory is step 14, the program step 15.
  ['whose directory was refused', (journal: string) => journal.replace('"stage":15', '"stage":14')],
  ['that never got a keeper', () => '{"event":"never-started"}\n'],
] as const) {
  test(
    `RUN-RESTART V2CMD-FREED a start ${what} when the daemon was killed is no record, and its id is free`,
    async ({ sandbox }) => {
      const request = { command_id: 'tried', command: '/nowhere', shell: 'none', cwd: sandbox.directory };
      expect(await sandbox.run(request)).toMatchObject({ status: 'failed', error: { stage: 'exec' } });
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      expect((await sandbox.ok('GET /v2/commands/tried'))['command']).toMatchObject({ status: 'failed' });

      changeJournals(sandbox, change);
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      expect((await sandbox.request('GET /v2/commands/tried')).status).toBe(404);
      expect(await sandbox.ok('GET /v2/commands')).toMatchObject({ commands: [] });
      expect(await sandbox.run({ command_id: 'tried', command: 'exit 3' })).toMatchObject({ exit_code: 3 });
    },
    restarted,
  );
}

test(
  'RUN-RESTART processes whose notes name no plane, as those of an earlier version, are recovered',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; read line; exit 4' });
    await spoken(sandbox, id, 'here\n');
    await sandbox.ok('POST /v2/pty/sessions', { id: 'shell' });
    await sandbox.ok('POST /v2/pty/sessions/shell/exec', { command: 'kept=shell' });
    const code = { language: 'python', session_id: 'code' };
    await sandbox.ok('POST /v2/code/execute', { ...code, code: 'kept = "code"' });
    changeNotes(sandbox, (note) => ({ ...note, plane: undefined })); // JSON leaves the field out.
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });
    expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 4 });
    const inShell = await sandbox.ok('POST /v2/pty/sessions/shell/exec', { command: 'echo $kept' });
    expect(inShell['output']).toBe('shell\n');
    expect(await sandbox.ok('POST /v2/code/execute', { ...code, code: 'print(kept)' })).toMatchObject({
      stdout: 'code\n',
    });
  },
  restarted,
);

test(
  'RUN-RESTART a process of a plane that this version does not have is left alone',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; read line; exit 4' });
    await spoken(sandbox, id, 'here\n');
    changeNotes(sandbox, (note) => ({ ...note, plane: 'later' }));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect((await sandbox.request(`GET /v2/commands/${id}`)).status).toBe(404);
    changeNotes(sandbox, (note) => ({ ...note, plane: 'commands' }));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });
    expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 4 });
  },
  { expectedWarnings: [...restarted.expectedWarnings, 'the runtime directory'] },
);

test(
  'RUN-RESTART a full disk does not stop the daemon from restarting',
  async ({ sandbox }) => {
    const running = await sandbox.start({ command: 'echo here; read line; exit 9' });
    await spoken(sandbox, running, 'here\n');
    fillDisk(sandbox);
    const before = readdirSync(insideRuntime(sandbox, 'commands'));
    for (let attempt = 0; attempt < 20; attempt++) {
      expect((await sandbox.request('POST /v2/commands', { command: 'true' })).status).toBe(507);
    }
    expect(readdirSync(insideRuntime(sandbox, 'commands'))).toEqual(before);
    expect((await sandbox.request('POST /v2/commands/sessions', { id: 's' })).status).toBe(507);
    expect((await sandbox.ok('GET /v2/commands/sessions'))['sessions']).toEqual([]);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    await sandbox.ok(`POST /v2/commands/${running}/stdin`, { input: '\n' });
    expect(await sandbox.ended(running)).toMatchObject({ exit_code: 9 });
  },
  onSmallDisk({ expectedWarnings: ['started again by init', 'no room to note the port'] }),
);

test('V2CMD-SESSIONS a session with an unknown account is refused, and leaves nothing', async ({ sandbox }) => {
  expect((await sandbox.request('POST /v2/commands/sessions', { id: 's', user: 'no-such-account' })).status).toBe(400);
  expect((await sandbox.ok('GET /v2/commands/sessions'))['sessions']).toEqual([]);
});

test('V2CMD-SESSIONENV a command that could not start leaves nothing in its session, and the size of a session is limited', async ({
  sandbox,
}) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 's' });
  const failed = await sandbox.run({ command: 'true', session: 's', env: { A: 'x'.repeat(200_000) } });
  expect(failed).toMatchObject({ status: 'failed', error: { errno_name: 'E2BIG' } });
  expect(await sandbox.run({ command: 'echo "[$A]"', session: 's' })).toMatchObject({ stdout: '[]\n' });

  const large = await sandbox.request('POST /v2/commands', {
    command: 'true',
    session: 's',
    env: { A: 'x'.repeat(300_000) },
  });
  expect(large).toMatchObject({
    status: 400,
    body: { message: 'the environment of a session may have 262144 characters' },
  });
});

test(
  'V2CMD-RETIRE ids that cannot be saved keep their records, and start nothing twice',
  async ({ sandbox }) => {
    mkdirSync(join(sandbox.runtimeDirectory, 'used-ids.ndjson'));
    for (let batch = 0; batch < 11; batch++) {
      await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          sandbox.run({ command: 'true', shell: 'sh', command_id: `c${batch}-${n}` }),
        ),
      );
    }

    expect(await sandbox.run({ command: 'true', shell: 'sh', command_id: 'c0-0' })).toMatchObject({ replayed: true });
  },
  { expectedWarnings: ['the runtime directory'] },
);

test(
  'V2CMD-LOST a large lost command evicts no other record',
  async ({ sandbox }) => {
    const small = await sandbox.run({ command: 'echo small' });
    const large = await sandbox.start({ command: 'head -c 30000000 /dev/zero; echo done >&2; sleep 1000' });
    await until(
      'it has written',
      async () => (await sandbox.ok(`GET /v2/commands/${large}?limit_bytes=1&offset=30000000`))['stderr'] !== '',
    );
    for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
    expect(await sandbox.ended(large)).toMatchObject({ status: 'lost' });
    await sandbox.run({ command: 'true' });

    expect((await sandbox.request(`GET /v2/commands/${small['command_id']}`)).status).toBe(200);
  },
  { env: { SVC_STREAM_KEPT_MIB: '2', SVC_TOTAL_KEPT_MIB: '16' } },
);

test('V2CMD-LASTLINE a reader with a backlog receives the closing notice of the daemon at a whole line', async ({
  sandbox,
}) => {
  const { command_id: id } = await sandbox.run({
    command: 'head -c 60000000 /dev/zero | tr "\\0" x',
    max_output_length: 1,
  });
  const lines = [];
  for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true`)) {
    if (lines.length === 2) sandbox.signal('SIGTERM');
    if (lines.length < 4 || line['type'] !== 'stdout') lines.push(line);
    await Bun.sleep(1); // With a slow reader the backlog outlives the signal.
  }

  expect(lines.at(-1)).toMatchObject({ type: 'closing', offset: expect.any(Number) });
  expect(await sandbox.exited()).toBe(0);
});

test('V2CMD-GAPLINE a follower of a deleted command receives a gap for the output it could not read', async ({
  sandbox,
}) => {
  const { command_id: id } = await sandbox.run({
    command: 'head -c 40000000 /dev/zero; echo ERR >&2',
    max_output_length: 1,
  });
  const lines = [];
  for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true&encoding=base64`)) {
    if (line['type'] !== 'stdout') lines.push(line);
    else if (line['offset'] === 0) await sandbox.ok(`DELETE /v2/commands/${id}`);
  }

  const types = lines.map(({ type, stream }) => (type === 'gap' ? `gap ${String(stream)}` : type));
  expect(types.at(-1)).toBe('exit');
  expect(types.some((type) => type === 'stderr' || type === 'gap stderr')).toBe(true);
});

test('V2CMD-HARD a timeout that the keeper cannot represent is refused', async ({ sandbox }) => {
  const reply = await sandbox.request('POST /v2/commands', { command: 'true', hard_timeout: 5_000_000 });

  expect(reply.body.errors).toEqual([
    { location: 'body.hard_timeout', message: 'must be at most 4294967', type: 'too_large' },
  ]);
});

test('V2CMD-WAIT an offset past the end waits for output after the end', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'read line; echo new; read line' });
  const waiting = sandbox.ok(`GET /v2/commands/${id}?wait=true&wait_timeout=20&offset=1000`);
  await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });

  expect(await waiting).toMatchObject({ stdout: 'new\n', offset: 4 });
});

test(
  'V2CMD-NONROOT a daemon that is not root cannot take another group either',
  async ({ sandbox }) => {
    const { uid, gid } = testAccount;

    expect((await sandbox.request('POST /v2/commands', { command: 'id -g', user: `${uid}:1234` })).status).toBe(400);
    expect(await sandbox.run({ command: 'id -g', user: `${uid}:${gid}` })).toMatchObject({ stdout: `${gid}\n` });
  },
  asTestAccount(),
);

test(
  'RUN-UPGRADE sessions from the bare list of an earlier version are kept',
  async ({ sandbox }) => {
    const { sessions } = await sandbox.ok('GET /v2/commands/sessions');
    expect(sessions).toMatchObject([{ session_id: 'kept', working_dir: '/' }]);
    expect(await sandbox.run({ command: 'echo $COLOR', session_id: 'kept' })).toMatchObject({ stdout: 'blue\n' });
  },
  {
    prepare: (sandbox) => {
      mkdirSync(sandbox.runtimeDirectory, { mode: 0o700 });
      const times = { createdMs: Date.now(), lastUsedMs: Date.now(), commandCount: 0 };
      const session = { id: 'kept', cwd: '/', env: { COLOR: 'blue' }, user: null, account: 'root', ...times };
      writeFileSync(join(sandbox.runtimeDirectory, 'sessions.json'), JSON.stringify([session]));
    },
  },
);

test(
  'RUN-STARTS a damaged state file is set aside, and the daemon starts',
  async ({ sandbox }) => {
    expect((await sandbox.ok('GET /v2/commands/sessions'))['sessions']).toEqual([]);
    expect(readdirSync(sandbox.runtimeDirectory)).toContain('sessions.json.bad');
  },
  {
    expectedWarnings: ['the runtime directory'],
    prepare: (sandbox) => {
      mkdirSync(sandbox.runtimeDirectory, { mode: 0o700 });
      writeFileSync(join(sandbox.runtimeDirectory, 'sessions.json'), '{');
    },
  },
);
