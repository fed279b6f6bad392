/** Standard input, kill, lists, deletion and sessions of running commands. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { many } from '../harness/counts.ts';
import { expect, fixture, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

function write(sandbox: Sandbox, id: string, body: Record<string, unknown>) {
  return sandbox.request(`POST /v2/commands/${id}/stdin`, body);
}

/** The live processes of the sandbox whose title contains a text. */
function living(sandbox: Sandbox, text: string): number[] {
  return sandbox
    .processes()
    .filter(({ command }) => command.includes(text))
    .map(({ pid }) => pid);
}

test('CMD-6 V2CMD-INPUT stdin accepts input, and eof closes it', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'cat; echo done' });

  expect((await write(sandbox, id, { input: 'héllo\n' })).body.data).toEqual({ accepted_bytes: 7, offset: 7 });
  const bytes = Buffer.from([0xff, 0, 10]).toString('base64');
  expect((await write(sandbox, id, { input_base64: bytes, eof: true })).body.data).toEqual({
    accepted_bytes: 3,
    offset: 10,
  });
  expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect((await sandbox.ok(`GET /v2/commands/${id}?offset=10`))['stdout']).toBe('done\n');
});

test('CMD-6 V2CMD-INPUT input after eof is refused at once, while the command runs', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'sleep 600' });
  await write(sandbox, id, { input: 'abc', eof: true });

  const atMs = performance.now();
  expect(await write(sandbox, id, { input: 'd' })).toMatchObject({
    status: 409,
    body: { data: { code: 'stdin_closed' } },
  });
  expect(performance.now() - atMs).toBeLessThan(5000);
  const again = await write(sandbox, id, { input: 'abc', offset: 0 });
  expect(again.body.data).toEqual({ accepted_bytes: 3, offset: 3 });
});

test('V2CMD-INPUTRETRY the offset makes a retry safe', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'cat' });
  await write(sandbox, id, { input: 'abc', offset: 0 });

  expect((await write(sandbox, id, { input: 'abc', offset: 0 })).body.data).toEqual({ accepted_bytes: 3, offset: 3 });
  expect((await write(sandbox, id, { input: 'bcd', offset: 1 })).body.data).toEqual({ accepted_bytes: 3, offset: 4 });
  const gap = await write(sandbox, id, { input: 'x', offset: 9 });
  expect(gap).toMatchObject({ status: 400, body: { message: 'offset 9 is past the end of stdin, 4' } });
  await write(sandbox, id, { eof: true });
  await sandbox.ended(id);
  expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('abcd');
});

test(
  'V2CMD-INPUTRETRY a megabyte passes through stdin across a daemon crash',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'sleep 0.3; sha256sum' });
    const text = Array.from({ length: 100_000 }, (_, number) => `line ${number}`).join('\n');
    const half = Math.floor(text.length / 2);
    // The command does not read yet: its pipe and the keeper's window accept their sizes, the rest waits.
    const first = await write(sandbox, id, { input: text.slice(0, half), offset: 0 });
    expect(first.body.data['accepted_bytes']).toBe(half);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await write(sandbox, id, { input: text.slice(half - 1000), offset: half - 1000, eof: true });
    await sandbox.ended(id);

    const digest = new Bun.CryptoHasher('sha256').update(text).digest('hex');
    expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe(`${digest}  -\n`);
  },
  restarted,
);

test(
  'V2CMD-INPUTRETRY what was taken is confirmed again after the end, also by the next daemon, and nothing else',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'cat' });
    await write(sandbox, id, { input: 'abc', offset: 0 });
    await write(sandbox, id, { eof: true, offset: 3 });
    await sandbox.ended(id);

    for (const isKilled of [false, true]) {
      if (isKilled) {
        process.kill(sandbox.daemonPid, 'SIGKILL');
        await sandbox.served();
      }
      const confirmed = { status: 200, body: { data: { offset: 3 } } };
      expect(await write(sandbox, id, { eof: true, offset: 3 })).toMatchObject(confirmed);
      expect(await write(sandbox, id, { input: 'bc', offset: 1 })).toMatchObject(confirmed);
      expect((await write(sandbox, id, { input: 'bcd', offset: 1 })).body.data['accepted_bytes']).toBe(2);
      const never = [
        { input: 'd', offset: 3 },
        { input: 'd', offset: 3, eof: true },
        { eof: true, offset: 2 },
      ];
      for (const body of [...never, { eof: true }, { input: 'd', offset: 9 }])
        expect((await write(sandbox, id, body)).status).toBe(409);
    }
  },
  restarted,
);

test('V2CMD-INPUTCLOSED writing to a closed or ended command is 409', async ({ sandbox }) => {
  const ended = await sandbox.run({ command: 'true' });
  const withoutStdin = await sandbox.start({ command: 'sleep 1000', stdin: 'null' });

  for (const id of [ended['command_id'], withoutStdin]) {
    const reply = await write(sandbox, id, { input: 'x' });
    expect(reply).toMatchObject({
      status: 409,
      body: { message: `the standard input of ${id} is closed`, hint: expect.any(String) },
    });
  }
});

test('V2CMD-INPUTCLOSED input queued behind data that no process will read is refused at once', async ({ sandbox }) => {
  const writes = (id: string) => sandbox.request(`POST /v2/commands/${id}/stdin`, { input: 'more' });
  for (const data of ['x', 'x'.repeat(1024 * 1024)]) {
    const ended = await Promise.all(
      Array.from({ length: 20 }, () => sandbox.start({ command: 'true', shell: 'none', stdin: { data } })),
    );
    for (const id of ended) await sandbox.ended(id);
    expect(new Set((await Promise.all(ended.map(writes))).map(({ status }) => status))).toEqual(new Set([409]));
  }

  for (let n = 0; n < 20; n++) {
    const deaf = await sandbox.start({ command: 'sleep 1000', stdin: { data: 'x'.repeat(1024 * 1024) } });
    const waiting = writes(deaf);
    await sandbox.ok(`DELETE /v2/commands/${deaf}`);
    expect((await waiting).status).toBe(409);
  }
});

test('CMD-7 V2CMD-KILL kill ends the whole tree: double forks, new sessions, stopped processes', async ({
  sandbox,
}) => {
  const id = await sandbox.start({ command: fixture('forks-everywhere') });
  await until('all five run', () => living(sandbox, 'sleep 1000').length === 5);

  const { data } = (await sandbox.request(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' })).body;
  expect(data['signalled']).toBeGreaterThanOrEqual(5);
  expect(data['survivors']).toEqual([]);
  expect(living(sandbox, 'sleep 1000')).toEqual([]);
  expect(await sandbox.ended(id)).toMatchObject({ status: 'killed', signal: 'SIGKILL', exit_code: 137 });
});

/** Resolves when the start of a command waits for its keeper. */
async function starting(sandbox: Sandbox, command: string): Promise<void> {
  const commands = join(sandbox.runtimeDirectory, 'commands');
  const notes = () => readdirSync(commands).map((name) => readIfThere(join(commands, name, 'meta.json')));
  await until('the command is starting', () => notes().some((note) => note.includes(command)));
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

test(
  'V2CMD-KILLEARLY a kill that arrives before its command lets nothing start, also after a crash',
  async ({ sandbox }) => {
    const ran = join(sandbox.directory, 'ran');
    const request = { command_id: 'late', command: `touch ${ran}`, mode: 'sync' };
    expect(await sandbox.request('POST /v2/commands/late/kill', { signal: 'SIGUSR1' })).toMatchObject({ status: 404 });
    const early = await sandbox.request('POST /v2/commands/late/kill', {});
    expect([early.status, early.body.hint]).toEqual([
      404,
      expect.stringMatching(/arrives within 60 s, nothing is started, and the command is reported as killed\.$/),
    ]);
    const refused = await sandbox.request('POST /v2/commands', { ...request, user: 'nobody-of-that-name' });
    expect(refused.status).toBe(400);
    const { body } = await sandbox.request('POST /v2/commands', request);
    const killed = { status: 'killed', signal: 'SIGTERM', exit_code: 143, pid: null, stdout: '' };
    expect(body).toMatchObject({ message: 'Command was killed (SIGTERM) before it started', data: killed });
    expect(await sandbox.run(request)).toMatchObject({ ...killed, replayed: true });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await sandbox.run(request)).toMatchObject({ ...killed, replayed: true });
    expect(await sandbox.ok('POST /v2/commands/late/kill', {})).toEqual({});
    expect((await sandbox.ok('GET /v2/commands?status=killed'))['commands']).toMatchObject([{ command_id: 'late' }]);
    expect(existsSync(ran)).toBe(false);
    await sandbox.ok('DELETE /v2/commands/late');
    expect((await sandbox.request('POST /v2/commands', request)).status).toBe(409);
    expect((await sandbox.request('POST /v2/commands/late/kill', {})).body.hint).toContain(
      'Finished commands are kept',
    );
  },
  { expectedWarnings: ['started again by init'] },
);

test('V2CMD-KILLEARLY a kill and its command that arrive together leave nothing running', async ({ sandbox }) => {
  for (let round = 0; round < 40; round++) {
    const id = `both-${round}`;
    const calls = [
      () => sandbox.request('POST /v2/commands', { command_id: id, command: 'exec sleep 1000', mode: 'async' }),
      () => sandbox.request(`POST /v2/commands/${id}/kill`, {}),
    ];
    await Promise.all((round % 2 === 0 ? calls : calls.toReversed()).map((call) => call()));
    expect(await sandbox.ended(id)).toMatchObject({ status: 'killed', exit_code: 143 });
  }
});

test('V2CMD-KILLEARLY V1BASH-4 a kill or a delete of a command that is starting waits for the start', async ({
  sandbox,
}) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 'state' });
  for (const [name, request, end] of [
    ['kill', 'POST /v2/commands', 'POST /v2/commands/kill/kill'],
    ['delete', 'POST /v2/commands', 'DELETE /v2/commands/delete'],
    ['session', 'POST /v1/bash/exec', 'POST /v1/bash/kill'],
  ] as const) {
    const command = `exec sleep 1000 # ${name}`;
    await until('a keeper waits', () => sandbox.spareKeepers().length > 0);
    const keepers = sandbox.spareKeepers();
    for (const pid of keepers) process.kill(pid, 'SIGSTOP');
    const v1 = { session_id: 'state', command, async_mode: true };
    const started = sandbox.request(request, name === 'session' ? v1 : { command_id: name, command, mode: 'async' });
    await starting(sandbox, command);
    const body = name === 'session' ? { session_id: 'state', signal: 'SIGKILL' } : { signal: 'SIGKILL' };
    const ended = sandbox.request(end, end.startsWith('POST') ? body : undefined);
    for (const pid of keepers) process.kill(pid, 'SIGCONT');
    expect([name, (await started).status, (await ended).status]).toEqual([name, 200, 200]);
    await until(`${name} has ended it`, () => living(sandbox, 'sleep 1000').length === 0);
  }
});

test('V2CMD-SURVIVORS PROMISE-4 processes that ignore the signal are named', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'trap "" TERM; echo ready; while :; do sleep 0.05; done' });
  await until('it is ready', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'ready\n');
  const pid = (await sandbox.ok(`GET /v2/commands/${id}`))['command']['pid'];

  const first = await sandbox.ok(`POST /v2/commands/${id}/kill`, {});
  expect(first['survivors']).toContain(pid);
  const second = await sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' });
  expect(second['survivors']).toEqual([]);
  expect(await sandbox.ok(`POST /v2/commands/${id}/kill`, {})).toEqual({});
});

test('V2CMD-KILLED a signal that a command survives is not a kill; one that makes it exit is', async ({ sandbox }) => {
  const survivor = await sandbox.start({ command: 'trap "echo hup" USR1; echo ready; read line; exit 4' });
  await until('it is ready', async () => (await sandbox.ok(`GET /v2/commands/${survivor}`))['stdout'] === 'ready\n');
  await sandbox.ok(`POST /v2/commands/${survivor}/kill`, { signal: 'SIGUSR1', tree: false });
  await write(sandbox, survivor, { input: '\n' });
  expect(await sandbox.ended(survivor)).toMatchObject({ status: 'completed', exit_code: 4 });

  const obedient = await sandbox.start({ command: 'trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done' });
  await until('it is ready', async () => (await sandbox.ok(`GET /v2/commands/${obedient}`))['stdout'] === 'ready\n');
  await sandbox.ok(`POST /v2/commands/${obedient}/kill`, {});
  expect(await sandbox.ended(obedient)).toMatchObject({ status: 'killed', exit_code: 3, signal: null });
});

test('V2CMD-LIST HTTP-LISTS commands are listed by status and session', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 'one' });
  const done = await sandbox.run({ command: 'true' });
  const inSession = await sandbox.start({ command: 'sleep 1000', session: 'one' });
  const ids = async (query: string) =>
    ((await sandbox.ok(`GET /v2/commands${query}`))['commands'] as { command_id: string }[]).map(
      (record) => record.command_id,
    );

  expect(await ids('')).toEqual([done['command_id'], inSession]);
  expect(await ids('?status=running')).toEqual([inSession]);
  expect(await ids('?status=completed')).toEqual([done['command_id']]);
  expect(await ids('?session=one')).toEqual([inSession]);
  expect((await sandbox.request('GET /v2/commands?status=tired')).body.errors?.[0]).toMatchObject({
    location: 'query.status',
    type: 'enum',
  });
});

test('V2CMD-DELETE deletion ends the tree and forgets the command; its id stays used', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'sleep 1000 & setsid sleep 1000 & wait', command_id: 'mine' });
  await until('both run', () => living(sandbox, 'sleep 1000').length >= 2);

  expect(await sandbox.ok(`DELETE /v2/commands/${id}`)).toEqual({ command_id: 'mine' });
  expect(living(sandbox, 'sleep 1000')).toEqual([]);
  expect((await sandbox.request(`GET /v2/commands/${id}`)).status).toBe(404);
  expect((await sandbox.request(`DELETE /v2/commands/${id}`)).status).toBe(404);
  const again = await sandbox.request('POST /v2/commands', { command: 'true', command_id: 'mine' });
  expect(again).toMatchObject({
    status: 409,
    body: { message: 'command_id mine was used, and its record is no longer kept' },
  });
});

test(
  'V2CMD-IDRESTART PROMISE-3 an id is used once, across a restart of the daemon and the end of its record',
  async ({ sandbox }) => {
    const body = { command: 'echo x >> "$MARKS"', env: { MARKS: `${sandbox.directory}/marks` } };
    const first = await sandbox.run({ ...body, command_id: 'kept' });
    await sandbox.run({ ...body, command_id: 'deleted' });
    await sandbox.ok('DELETE /v2/commands/deleted');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    expect(await sandbox.run({ ...body, command_id: 'kept' })).toMatchObject({ replayed: true, pid: first['pid'] });
    expect((await sandbox.request('POST /v2/commands', { ...body, command_id: 'deleted' })).status).toBe(409);
    expect(readFileSync(`${sandbox.directory}/marks`, 'utf8')).toBe('x\nx\n');
  },
  restarted,
);

test('V2CMD-IDBODY HTTP-409 mode, timeout and max_output_length are not part of the comparison', async ({
  sandbox,
}) => {
  await sandbox.run({ command: 'echo abc', command_id: 'same', env: { A: '1', B: '2' } });

  const again = {
    env: { B: '2', A: '1' },
    command_id: 'same',
    command: 'echo abc',
    timeout: 5,
    max_output_length: 9,
    mode: 'async',
  };
  expect(await sandbox.run(again)).toMatchObject({ replayed: true });
  expect((await sandbox.request('POST /v2/commands', { ...again, env: { A: '1' } })).status).toBe(409);
});

test('CMD-8 CMD-9 CMD-10 V2CMD-SESSIONS sessions are created, listed and closed', async ({ sandbox }) => {
  const { created, ...session } = await sandbox.ok('POST /v2/commands/sessions', {
    id: 'build',
    cwd: '/usr/lib',
    env: { A: '1', GONE: null },
  });

  expect(created).toBe(true);
  expect(session).toEqual({
    session_id: 'build',
    status: 'ready',
    working_dir: '/usr/lib',
    env_keys: ['A'],
    user: 'root',
    created_at: expect.stringMatching(/Z$/),
    last_used_at: session['created_at'],
    current_command: null,
    command_count: 0,
  });
  const again = { session_id: 'build', cwd: '/usr/lib', env: { GONE: null } };
  expect(await sandbox.request('POST /v2/commands/sessions', again)).toMatchObject({
    body: { data: { ...session, created: false }, hint: expect.stringContaining('was there already') },
  });
  expect(
    await sandbox.request('POST /v2/commands/sessions', { id: 'build', cwd: '/tmp', env: { A: '2' } }),
  ).toMatchObject({
    status: 409,
    body: {
      message: 'session build exists already, with the cwd /usr/lib, other values of A',
      data: { code: 'session_exists' },
    },
  });
  const minted = await sandbox.ok('POST /v2/commands/sessions', {});
  const { sessions } = await sandbox.ok('GET /v2/commands/sessions');
  expect(sessions).toEqual([session, expect.objectContaining({ session_id: minted['session_id'] })]);
  expect(await sandbox.ok('DELETE /v2/commands/sessions/build')).toEqual({ session_id: 'build' });
  expect((await sandbox.request('DELETE /v2/commands/sessions/build')).status).toBe(404);
  expect((await sandbox.request('POST /v2/commands/sessions', { id: 'sessions' })).status).toBe(422);
});

test('V2CMD-SESSION CMD-5 V2CMD-SESSIONENV a session gives its commands a directory, an account and an environment', async ({
  sandbox,
}) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 's', cwd: '/usr', env: { A: 'one' }, user: '1' });
  const run = (body: Record<string, unknown>) => sandbox.run({ session_id: 's', ...body });

  expect(await run({ command: 'pwd; echo $A; id -u' })).toMatchObject({ stdout: '/usr\none\n1\n', session_id: 's' });
  expect((await run({ command: 'pwd; echo $A$B', cwd: 'lib', env: { B: 'two' } }))['stdout']).toBe(
    '/usr/lib\nonetwo\n',
  );
  expect((await run({ command: 'echo $A$B', env: { A: null } }))['stdout']).toBe('two\n');
  expect((await run({ command: 'echo $A$B' }))['stdout']).toBe('two\n');
  const listed = (await sandbox.ok('GET /v2/commands/sessions'))['sessions'][0];
  expect(listed).toMatchObject({ command_count: 4, env_keys: ['B'], user: expect.any(String) });
  expect((await sandbox.request('POST /v2/commands', { command: 'true', session: 'absent' })).status).toBe(404);
});

test('V2CMD-SESSIONFRESH each command of a session is a new process', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 's', cwd: '/usr' });
  await sandbox.run({ command: 'cd /; export A=1', session: 's' });

  expect((await sandbox.run({ command: 'pwd; echo "[$A]"', session: 's' }))['stdout']).toBe('/usr\n[]\n');
});

test('V2CMD-SESSIONCLOSE closing a session ends its commands, and no others', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 's' });
  const mine = await sandbox.start({ command: 'sleep 1000', session: 's' });
  const other = await sandbox.start({ command: 'sleep 1000' });
  expect((await sandbox.ok('GET /v2/commands/sessions'))['sessions'][0]['current_command']).toBe(mine);
  await sandbox.ok('DELETE /v2/commands/sessions/s');

  expect(await sandbox.ended(mine)).toMatchObject({ status: 'killed' });
  expect((await sandbox.ok(`GET /v2/commands/${other}`))['command']['status']).toBe('running');
});

test(
  'V2CMD-SURVIVE sessions and their environment survive a daemon crash',
  async ({ sandbox }) => {
    const spec = { id: 's', cwd: '/usr', env: { A: 'kept' } };
    const { created: _, ...before } = await sandbox.ok('POST /v2/commands/sessions', spec);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    expect((await sandbox.ok('GET /v2/commands/sessions'))['sessions']).toEqual([before]);
    expect((await sandbox.run({ command: 'pwd; echo $A', session: 's' }))['stdout']).toBe('/usr\nkept\n');
  },
  restarted,
);

test(
  'V2CMD-CAP ERR-429 LIM-4 PROMISE-10 one command above the limit is 429, and a command that ends frees its slot',
  async ({ sandbox }) => {
    const ids = await Promise.all(Array.from({ length: 3 }, () => sandbox.start({ command: 'sleep 1000' })));

    const refused = await sandbox.request('POST /v2/commands', { command: 'true' });
    expect(refused).toMatchObject({
      status: 429,
      body: { success: false, hint: expect.stringContaining('SVC_MAX_COMMANDS') },
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    await sandbox.ok(`POST /v2/commands/${ids[0]}/kill`, { signal: 'SIGKILL' });
    await sandbox.ended(ids[0] ?? '');
    expect(await sandbox.run({ command: 'true' })).toMatchObject({ exit_code: 0 });
  },
  { args: ['--max-commands', '3'] },
);

test(
  'V2CMD-SESSIONCAP one session above the limit is 429',
  async ({ sandbox }) => {
    for (const id of ['a', 'b']) await sandbox.ok('POST /v2/commands/sessions', { id });

    expect((await sandbox.request('POST /v2/commands/sessions', { id: 'c' })).status).toBe(429);
    expect((await sandbox.request('POST /v2/commands/sessions', { id: 'a' })).status).toBe(200);
  },
  { env: { SVC_MAX_COMMAND_SESSIONS: '2' } },
);

test('V2CMD-WAIT a long poll answers on output, on the end of the command, or at its timeout', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'read a; echo $a; read b' });
  const timed = async (query: string) => {
    const startedMs = performance.now();
    return { ...(await sandbox.ok(`GET /v2/commands/${id}?wait=true&${query}`)), ms: performance.now() - startedMs };
  };

  const nothing = await timed('wait_timeout=0.2');
  expect(nothing).toMatchObject({ stdout: '', offset: 0, command: { status: 'running' } });
  expect(nothing.ms).toBeGreaterThanOrEqual(190);
  const output = timed('wait_timeout=20');
  await write(sandbox, id, { input: 'now\n' });
  expect(await output).toMatchObject({ stdout: 'now\n', offset: 4 });
  const end = timed('wait_timeout=20&offset=4');
  await write(sandbox, id, { eof: true });
  expect(await end).toMatchObject({ stdout: '', command: { status: 'completed' } });
});

test('V2CMD-WAIT a long poll does not miss output that arrives as the poll begins', async ({ sandbox }) => {
  // A command takes some milliseconds to its first output: the waits start at different points of that time.
  const wait = async (n: number) => {
    const id = await sandbox.start({ command: 'echo word; read line' });
    await Bun.sleep((n % 40) / 10);
    const began = performance.now();
    const { stdout } = await sandbox.ok(`GET /v2/commands/${id}?wait=true&wait_timeout=3`);
    await sandbox.ok(`POST /v2/commands/${id}/stdin`, { eof: true });
    return { stdout, isPrompt: performance.now() - began < 2500 };
  };
  for (let from = 0; from < many(800); from += 8) {
    const waits = await Promise.all(Array.from({ length: 8 }, (_, n) => wait(from + n)));
    expect(waits).toEqual(waits.map(() => ({ stdout: 'word\n', isPrompt: true })));
  }
});
