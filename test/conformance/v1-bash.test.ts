/** The behavior of 1.x commands: the public guide's sequence, and the rules behind it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

function exec(sandbox: Sandbox, body: Record<string, unknown>): Promise<JsonObject> {
  return sandbox.ok('POST /v1/bash/exec', body);
}

function output(sandbox: Sandbox, body: Record<string, unknown>): Promise<JsonObject> {
  return sandbox.ok('POST /v1/bash/output', body);
}

/** Reads, as the guide does, until the command has ended; returns everything it wrote to standard output. */
async function readToTheEnd(sandbox: Sandbox, sessionId: string): Promise<{ stdout: string; command: Json }> {
  let stdout = '';
  for (let offset = 0; ;) {
    const part = await output(sandbox, { session_id: sessionId, offset, wait: true });
    stdout += part['stdout'] as string;
    offset = part['offset'] as number;
    if (part['command'].status !== 'running') return { stdout, command: part['command'] };
  }
}

test('V1BASH-1 a command runs to its end, and every field of the answer is set', async ({ sandbox }) => {
  const reply = await sandbox.request('POST /v1/bash/exec', { command: 'echo hello' });

  expect(reply.body).toEqual({
    success: true,
    message: 'Operation successful',
    data: {
      session_id: expect.stringMatching(/^ses_/),
      command_id: expect.stringMatching(/^cmd_/),
      command: 'echo hello',
      status: 'completed',
      stdout: 'hello\n',
      stderr: null,
      exit_code: 0,
      offset: 6,
      stderr_offset: 0,
    },
    hint: null,
  });
  expect(await exec(sandbox, { command: 'echo out; echo err >&2; exit 7' })).toMatchObject({
    status: 'completed',
    stdout: 'out\n',
    stderr: 'err\n',
    exit_code: 7,
  });
});

test('V1BASH-1 V1BASH-2 a command that outlives the timeout continues, and its output is readable to the end', async ({
  sandbox,
}) => {
  const script = 'for i in 1 2 3; do echo "step $i"; sleep 0.2; done';
  const started = await exec(sandbox, { command: script, timeout: 0.1 });
  expect(started).toMatchObject({ status: 'running', exit_code: null, stdout: 'step 1\n', offset: 7 });

  const { session_id: session, command_id: id } = started;
  const part = await output(sandbox, { session_id: session, command_id: id, offset: 7, wait: true, wait_timeout: 10 });
  expect(part).toEqual({
    session_id: session,
    stdout: 'step 2\n',
    stderr: '',
    offset: 14,
    stderr_offset: 0,
    command: { command_id: id, command: script, status: 'running', exit_code: null },
  });
  const { stdout, command } = await readToTheEnd(sandbox, session);
  expect(stdout).toBe('step 1\nstep 2\nstep 3\n');
  expect(command).toEqual({ command_id: id, command: script, status: 'completed', exit_code: 0 });
});

test('V1BASH-3 V1BASH-4 a reading program receives text, and kill ends the program', async ({ sandbox }) => {
  const started = await exec(sandbox, { session_id: 'chat', command: 'cat', async_mode: true });
  expect(started).toMatchObject({ session_id: 'chat', status: 'running', stdout: '', stderr: null, exit_code: null });

  const written = await sandbox.request('POST /v1/bash/write', { session_id: 'chat', input: 'héllo\n' });
  expect<unknown>(written.body).toEqual({ success: true, message: 'Operation successful', data: null, hint: null });
  expect(await output(sandbox, { session_id: 'chat', wait: true })).toMatchObject({ stdout: 'héllo\n', offset: 7 });
  const { command_id: id } = started;
  await sandbox.ok('POST /v1/bash/write', { session_id: 'chat', command_id: id, input: 'again' });
  expect(await output(sandbox, { session_id: 'chat', offset: 7, wait: true })).toMatchObject({ stdout: 'again' });

  const killed = await sandbox.request('POST /v1/bash/kill', { session_id: 'chat' });
  expect(killed.body).toMatchObject({ success: true, data: null });
  expect(await output(sandbox, { session_id: 'chat', wait: true, offset: 12 })).toMatchObject({
    command: { command_id: id, command: 'cat', status: 'killed', exit_code: null },
  });
});

test('V1BASH-4 a server is started, queried from its own session, and killed with all its processes', async ({
  sandbox,
}) => {
  const server = 'echo "listening on 4000"; setsid sleep 1000 & sleep 1001';
  const { command_id: id } = await exec(sandbox, { session_id: 'web', command: server, async_mode: true });
  expect(await output(sandbox, { session_id: 'web', wait: true })).toMatchObject({ stdout: 'listening on 4000\n' });
  expect(await exec(sandbox, { session_id: 'web', command: 'echo 200' })).toMatchObject({ stdout: '200\n' });

  expect((await sandbox.request('POST /v1/bash/kill', { session_id: 'web', signal: 'SIGINT' })).status).toBe(200);
  await sandbox.ok('POST /v1/bash/kill', { session_id: 'web', signal: 'SIGKILL' });
  await until('all of it is gone', () => !sandbox.processes().some(({ command }) => command.startsWith('sleep 100')));
  expect(await output(sandbox, { session_id: 'web', command_id: id })).toMatchObject({
    stdout: 'listening on 4000\n',
    command: { status: 'killed', exit_code: null },
  });
  const again = await sandbox.request('POST /v1/bash/kill', { session_id: 'web' });
  expect(again).toMatchObject({ status: 200, body: { success: true, message: 'No command runs in this session' } });
});

test('V1BASH-1 a session keeps its directory, but neither cd nor variables', async ({ sandbox }) => {
  const { session_id: session, stdout: home } = await exec(sandbox, { command: 'pwd; cd /; export KEPT=no' });
  const run = async (body: Record<string, unknown>) =>
    (await exec(sandbox, { session_id: session, ...body }))['stdout'] as string;

  expect(await run({ command: 'pwd; echo "$KEPT"' })).toBe(`${home}\n`);
  expect(await run({ command: 'pwd; echo "$MINE"', exec_dir: '/usr/lib', env: { MINE: 'ä b' } })).toBe(
    '/usr/lib\nä b\n',
  );
  const later = { command: 'pwd; echo "${MINE-unset} ${HOME-unset}"', env: { HOME: null } };
  expect(await run(later)).toBe('/usr/lib\nunset unset\n');
  const [listed] = (await sandbox.ok('GET /v1/bash/sessions')) as unknown as Json[];
  expect(listed).toMatchObject({ session_id: session, working_dir: '/usr/lib', command_count: 4 });
});

test('V1BASH-1 a missing directory is reported, and the session stays where it is', async ({ sandbox }) => {
  await exec(sandbox, { session_id: 'here', command: 'true', exec_dir: '/usr' });
  const refused = await sandbox.request('POST /v1/bash/exec', {
    session_id: 'here',
    command: 'pwd',
    exec_dir: '/no/such/place',
  });
  expect(refused).toMatchObject({ status: 400, body: { success: false, hint: expect.any(String) } });
  expect(refused.body.message).toContain('/no/such/place');
  expect(await exec(sandbox, { session_id: 'here', command: 'pwd' })).toMatchObject({ stdout: '/usr\n' });

  await sandbox.request('POST /v1/bash/exec', { command: 'pwd', exec_dir: '/no/such/place' });
  const sessions = (await sandbox.ok('GET /v1/bash/sessions')) as unknown as Json[];
  expect(sessions.map(({ session_id: id }) => id)).toEqual(['here']);
});

test('V1BASH-1 the hard timeout ends the whole command, whether or not a client waits', async ({ sandbox }) => {
  const result = await exec(sandbox, { command: 'echo begun; setsid sleep 1000 & sleep 1001', hard_timeout: 0.3 });

  expect(result).toMatchObject({ status: 'timed_out', exit_code: null, stdout: 'begun\n' });
  await until('all of it is gone', () => !sandbox.processes().some(({ command }) => command.startsWith('sleep 100')));
});

test('V1BASH-1 async mode answers at once, and ignores a timeout', async ({ sandbox }) => {
  const body = { command: 'sleep 0.3; echo done', async_mode: true, timeout: 1000 };
  const { session_id: session, status } = await exec(sandbox, body);

  expect(status).toBe('running');
  expect(await readToTheEnd(sandbox, session)).toMatchObject({ stdout: 'done\n', command: { status: 'completed' } });
});

test('V1BASH-1 a command killed by a signal or unable to start is killed, and has no exit code', async ({
  sandbox,
}) => {
  expect(await exec(sandbox, { command: 'kill -9 $$' })).toMatchObject({ status: 'killed', exit_code: null });

  const env = { TOO_LONG: 'x'.repeat(200_000) };
  const reply = await sandbox.request('POST /v1/bash/exec', { command: 'true', env });
  expect(reply).toMatchObject({ status: 200, body: { data: { status: 'killed', exit_code: null } } });
  expect(reply.body.message).toStartWith('The command could not start: ');
});

test('V1BASH-1 output longer than requested is cut in the middle, in characters', async ({ sandbox }) => {
  const long = 'i=0; while [ $i -lt 1000 ]; do printf "é%09d" $i; i=$((i+1)); done';
  const { stdout, offset } = await exec(sandbox, { command: long, max_output_length: 40 });
  const [head, marker, tail] = (stdout as string).split('\n');

  expect([head, tail]).toEqual(['é000000000é000000001', 'é000000998é000000999']);
  expect(marker).toContain('10956 bytes left out');
  expect(offset).toBe(11_000);
  const whole = await exec(sandbox, { command: long.replace('1000', '6000'), max_output_length: 0 });
  expect(Array.from(whole['stdout'] as string)).toHaveLength(60_000);
  const byDefault = await exec(sandbox, { command: long.replace('1000', '6000') });
  expect(Array.from((byDefault['stdout'] as string).replace(/\n.*\n/, ''))).toHaveLength(50_000);
});

test('V1BASH-2 offsets are bytes, and no character is split by one', async ({ sandbox }) => {
  const command = `printf 'a\\303'; read x; printf '\\251b'; read x; printf '\\360\\237\\231'`;
  const { session_id: session, stdout, offset } = await exec(sandbox, { command, timeout: 0.3 });
  expect([stdout, offset]).toEqual(['a', 1]);
  expect(await output(sandbox, { session_id: session })).toMatchObject({ stdout: 'a', offset: 1 });
  const quiet = await output(sandbox, { session_id: session, offset: 1, wait: true, wait_timeout: 0.1 });
  expect(quiet).toMatchObject({ stdout: '', offset: 1, command: { status: 'running' } });

  await sandbox.ok('POST /v1/bash/write', { session_id: session, input: '\n' });
  expect(await output(sandbox, { session_id: session, offset: 1, wait: true })).toMatchObject({
    stdout: 'éb',
    offset: 4,
  });
  await sandbox.ok('POST /v1/bash/write', { session_id: session, input: '\n' });
  const end = await readToTheEnd(sandbox, session);
  // No later byte will complete the last character.
  expect(end.stdout).toBe('aéb\ufffd');
});

test('V1BASH-2 without a command the output is that of the latest one', async ({ sandbox }) => {
  await sandbox.ok('POST /v1/bash/sessions/create', { session_id: 's' });
  expect(await output(sandbox, { session_id: 's', wait: true })).toEqual({
    ...{ session_id: 's', stdout: '', stderr: '', offset: 0, stderr_offset: 0, command: null },
  });
  const first = await exec(sandbox, { session_id: 's', command: 'echo 1; echo e >&2' });
  const second = await exec(sandbox, { session_id: 's', command: 'echo 2' });

  const latest = await output(sandbox, { session_id: 's' });
  expect(latest).toMatchObject({ stdout: '2\n', stderr: '', command: { command_id: second['command_id'] } });
  expect(await output(sandbox, { session_id: 's', command_id: first['command_id'] })).toMatchObject({
    ...{ stdout: '1\n', stderr: 'e\n', offset: 2, stderr_offset: 2, command: { exit_code: 0 } },
  });
});

test('V1BASH-2 a reader that sees the end of a command has all its output', async ({ sandbox }) => {
  const late = 'head -c 300000 /dev/zero | tr "\\\\0" x; echo over';
  for (let round = 0; round < 20; round++) {
    const { session_id: session } = await exec(sandbox, { command: late, async_mode: true });
    const { stdout } = await readToTheEnd(sandbox, session);
    expect([round, stdout.length, stdout.slice(-6)]).toEqual([round, 300_005, 'xover\n']);
  }
});

test('V1BASH-3 writing to a program that has no input, has ended, or does not read is an error', async ({
  sandbox,
}) => {
  const { session_id: session } = await exec(sandbox, { command: 'exit 3' });
  const closed = await sandbox.request('POST /v1/bash/write', { session_id: session, input: 'x' });
  expect(closed).toMatchObject({ status: 409, body: { success: false, hint: expect.stringContaining('has ended') } });
  const gate = join(sandbox.directory, 'gate');
  const command = `cat; while [ ! -e ${gate} ]; do sleep 0.02; done`;
  const waiting = exec(sandbox, { session_id: 'waits', command });
  await until('it runs', async () => {
    const listed = (await sandbox.ok('GET /v1/bash/sessions')) as unknown as Json[];
    return listed.some(({ current_command: current }) => current === command);
  });
  const without = await sandbox.request('POST /v1/bash/write', { session_id: 'waits', input: 'x' });
  expect(without).toMatchObject({ status: 409, body: { hint: expect.stringContaining('async_mode') } });
  writeFileSync(gate, '');
  expect(await waiting).toMatchObject({ status: 'completed' });

  await exec(sandbox, { session_id: 'deaf', command: 'sleep 1000', async_mode: true });
  const input = 'x'.repeat(4 * 1024 * 1024);
  const { status, body } = await sandbox.request('POST /v1/bash/write', { session_id: 'deaf', input });
  expect<unknown>([status, body.success, body.data]).toEqual([200, false, null]);
  expect(body.message).toMatch(/^The command has taken \d+ of 4194304 bytes$/);
  await sandbox.ok('POST /v1/bash/kill', { session_id: 'deaf', signal: 'SIGKILL' });
});

test(
  'V1BASH-1 V1BASH-2 sessions and their commands outlive the daemon',
  async ({ sandbox }) => {
    const go = join(sandbox.directory, 'go');
    await exec(sandbox, { session_id: 'kept', command: 'true', exec_dir: '/usr' });
    const command = `echo before; while [ ! -e ${go} ]; do sleep 0.02; done; echo after`;
    await exec(sandbox, { session_id: 'kept', command, async_mode: true });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    await exec(sandbox, { session_id: 'other', command: `touch ${go}` });
    expect(await readToTheEnd(sandbox, 'kept')).toMatchObject({
      stdout: 'before\nafter\n',
      command: { status: 'completed', exit_code: 0 },
    });
    expect(await exec(sandbox, { session_id: 'kept', command: 'pwd' })).toMatchObject({ stdout: '/usr\n' });
  },
  restarted,
);
