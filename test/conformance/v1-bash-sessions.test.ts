/** Sessions of 1.x commands: ids that clients choose, snapshots, closing, capacity, and invalid input. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { testAccount, withTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

function exec(sandbox: Sandbox, body: Record<string, unknown>): Promise<JsonObject> {
  return sandbox.ok('POST /v1/bash/exec', body);
}

/** The sessions by their ids. */
async function sessions(sandbox: Sandbox): Promise<Record<string, Json>> {
  const listed = (await sandbox.ok('GET /v1/bash/sessions')) as unknown as Json[];
  return Object.fromEntries(listed.map((session) => [session.session_id, session]));
}

test('V1BASH-5 V1BASH-6 a session is created, listed with every field, and found again by its id', async ({
  sandbox,
}) => {
  const created = await sandbox.ok('POST /v1/bash/sessions/create', { session_id: 'work', exec_dir: '/usr/lib' });
  expect(created).toEqual({
    session_id: 'work',
    status: 'ready',
    working_dir: '/usr/lib',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    last_used_at: created['created_at'],
    current_command: null,
    command_count: 0,
  });
  expect(await exec(sandbox, { session_id: 'work', command: 'pwd' })).toMatchObject({ stdout: '/usr/lib\n' });
  await exec(sandbox, { session_id: 'work', command: 'sleep 1000', async_mode: true });

  const again = await sandbox.ok('POST /v1/bash/sessions/create', { session_id: 'work', exec_dir: '/' });
  expect(again).toMatchObject({ working_dir: '/usr/lib', current_command: 'sleep 1000', command_count: 2 });
  expect((await sessions(sandbox))['work']).toEqual(again);
  expect(Date.parse(again['last_used_at'])).toBeGreaterThanOrEqual(Date.parse(created['created_at']));
});

test('V1BASH-1 V1BASH-7 any text is a valid session id, on every route', async ({ sandbox }) => {
  for (const id of ['a/b c?d#e%2F', 'sessions', '..x', 'ключ 🙂', '__proto__', 'x'.repeat(256)]) {
    const body = { session_id: id };
    expect(await exec(sandbox, { ...body, command: 'cat', async_mode: true })).toMatchObject(body);
    await sandbox.ok('POST /v1/bash/write', { ...body, input: 'y' });
    expect(await sandbox.ok('POST /v1/bash/output', { ...body, wait: true })).toMatchObject({ ...body, stdout: 'y' });
    await sandbox.ok('POST /v1/bash/kill', body);
    expect(await sandbox.ok('POST /v1/bash/sessions/create', body)).toMatchObject({ ...body, command_count: 1 });
    await sandbox.ok(`POST /v1/bash/sessions/${encodeURIComponent(id)}/close`);
    expect((await sessions(sandbox))[id]).toMatchObject({ status: 'closed' });
  }
  for (const session_id of ['', null, undefined]) {
    expect((await exec(sandbox, { session_id, command: 'true' }))['session_id']).toMatch(/^ses_/);
    expect((await sandbox.ok('POST /v1/bash/sessions/create', { session_id }))['session_id']).toMatch(/^ses_/);
  }
});

test('V1BASH-7 closing a session kills its processes, and its output stays readable', async ({ sandbox }) => {
  const waiting = exec(sandbox, { session_id: 's', command: 'echo begun; sleep 1000', timeout: 30 });
  await exec(sandbox, { session_id: 's', command: 'setsid sleep 1001 & sleep 1002', async_mode: true });
  await until('both run', async () => (await sessions(sandbox))['s']?.command_count === 2);
  expect(await sandbox.ok('POST /v1/bash/sessions/s/close')).toBeNull();

  expect(await waiting).toMatchObject({ status: 'killed', exit_code: null, stdout: 'begun\n' });
  expect(sandbox.processes().filter(({ command }) => command.startsWith('sleep 100'))).toEqual([]);
  expect((await sessions(sandbox))['s']).toMatchObject({ status: 'closed', command_count: 2, current_command: null });
  const { command_id: id } = await waiting;
  expect(await sandbox.ok('POST /v1/bash/output', { session_id: 's', command_id: id })).toMatchObject({
    stdout: 'begun\n',
    command: { status: 'killed' },
  });
  expect((await sandbox.request('POST /v1/bash/sessions/s/close')).status).toBe(200);
  await exec(sandbox, { session_id: 's', command: 'true' });
  expect((await sessions(sandbox))['s']).toMatchObject({ status: 'ready', command_count: 1 });
  const { sessions: listed } = await sandbox.ok('GET /v2/commands/sessions');
  expect(listed.map((session: Json) => session.session_id)).toEqual(['s']);
});

test('V1BASH-9 a session with a missing exec_dir starts in the workspace, and the answer reports that', async ({
  sandbox,
}) => {
  const body = { session_id: 's', exec_dir: join(sandbox.directory, 'missing') };
  const { stdout: workspace } = await exec(sandbox, { command: 'pwd' });
  const created = await sandbox.request('POST /v1/bash/sessions/create', body);
  expect([created.status, created.body.success, created.body.message]).toEqual([
    200,
    true,
    `exec_dir ${body.exec_dir} cannot be entered; the session starts in ${workspace.trim()}`,
  ]);
  expect(created.body.data).toMatchObject({ session_id: 's', working_dir: workspace.trim() });
  expect(await exec(sandbox, { session_id: 's', command: 'pwd' })).toMatchObject({ stdout: workspace });
  const again = await sandbox.request('POST /v1/bash/sessions/create', body);
  expect(again.body.message).toBe('Operation successful');
});

test(
  'V1BASH-5 a snapshot is sourced before each command of its session, and nothing is written to it',
  async ({ sandbox }) => {
    const snapshot = join(sandbox.directory, "the user's snapshot.sh");
    const text = 'export GREETING=hello\ngreet() { echo "$GREETING $1"; }\ncd /usr\n';
    writeFileSync(snapshot, text);
    const { session_id: id } = await sandbox.ok('POST /v1/bash/sessions/create', { snapshot_path: snapshot });
    const run = async (command: string) => (await exec(sandbox, { session_id: id, command }))['stdout'];

    expect(await run('greet you; pwd; GREETING=bye; greet() { :; }')).toBe('hello you\n/usr\n');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await run('greet again')).toBe('hello again\n');
    expect(readFileSync(snapshot, 'utf8')).toBe(text);
    const [listed] = (await sandbox.ok('GET /v2/commands'))['commands'] as Json[];
    expect(listed.command).toBe('greet you; pwd; GREETING=bye; greet() { :; }');
  },
  restarted,
);

test('V1BASH-2 V1BASH-3 V1BASH-4 V1BASH-7 an unknown session or command is 404, with the next step', async ({
  sandbox,
}) => {
  const { session_id: other, command_id: id } = await exec(sandbox, { session_id: 'other', command: 'true' });
  const unknown: [string, Record<string, unknown>][] = [
    ['POST /v1/bash/output', { session_id: 'none' }],
    ['POST /v1/bash/output', { session_id: 'none', command_id: id }],
    ['POST /v1/bash/output', { session_id: other, command_id: 'none' }],
    ['POST /v1/bash/write', { session_id: 'none', input: 'x' }],
    ['POST /v1/bash/write', { session_id: other, command_id: 'none', input: 'x' }],
    ['POST /v1/bash/kill', { session_id: 'none' }],
    ['POST /v1/bash/sessions/none/close', {}],
  ];
  for (const [route, body] of unknown) {
    const reply = await sandbox.request(route, body);
    expect<unknown>([route, reply.status, reply.body]).toEqual([
      route,
      404,
      { success: false, message: expect.stringContaining('not found'), data: null, hint: expect.any(String) },
    ]);
  }
  await sandbox.ok('POST /v1/bash/sessions/create', { session_id: 'empty' });
  expect((await sandbox.request('POST /v1/bash/write', { session_id: 'empty', input: 'x' })).status).toBe(404);
});

test('V1BASH-1 ERR-422 an invalid field value is 422, and nothing starts', async ({ sandbox }) => {
  const command = `touch ${join(sandbox.directory, 'started')}`;
  const wrong: [string, Record<string, unknown>, string, string][] = [
    ['exec', {}, 'body.command', 'missing'],
    ['exec', { command: 7 }, 'body.command', 'string_type'],
    ['exec', { command: 'a\0b' }, 'body.command', 'value_error'],
    ['exec', { command, session_id: 7 }, 'body.session_id', 'string_type'],
    ['exec', { command, session_id: 'x'.repeat(257) }, 'body.session_id', 'too_long'],
    ['exec', { command, exec_dir: 'relative' }, 'body.exec_dir', 'value_error'],
    ['exec', { command, env: { A: 1 } }, 'body.env.A', 'string_type'],
    ['exec', { command, env: { 'A=B': 'c' } }, 'body.env.A=B', 'value_error'],
    ['exec', { command, env: ['A=B'] }, 'body.env', 'object_type'],
    ['exec', { command, async_mode: 'maybe' }, 'body.async_mode', 'bool_type'],
    ['exec', { command, timeout: -1 }, 'body.timeout', 'too_small'],
    ['exec', { command, hard_timeout: 'soon' }, 'body.hard_timeout', 'float_type'],
    ['exec', { command, max_output_length: 1.5 }, 'body.max_output_length', 'int_type'],
    ['exec', { command, max_output_length: -1 }, 'body.max_output_length', 'too_small'],
    ['output', {}, 'body.session_id', 'missing'],
    ['output', { session_id: 's', offset: -1 }, 'body.offset', 'too_small'],
    ['output', { session_id: 's', wait_timeout: -1 }, 'body.wait_timeout', 'too_small'],
    ['write', { session_id: 's' }, 'body.input', 'missing'],
    ['kill', { session_id: 's', signal: 'SIGNONE' }, 'body.signal', 'enum'],
    ['sessions/create', { exec_dir: 'relative' }, 'body.exec_dir', 'value_error'],
  ];
  for (const [verb, body, location, type] of wrong) {
    const reply = await sandbox.request(`POST /v1/bash/${verb}`, body);
    const errors = [{ location, message: expect.any(String), type }];
    expect([verb, body, reply.status, reply.body.success, reply.body.errors]).toEqual([verb, body, 422, false, errors]);
  }
  expect(existsSync(join(sandbox.directory, 'started'))).toBe(false);
  expect(await sessions(sandbox)).toEqual({});
});

test(
  'V1BASH-1 implicit sessions are evicted for new ones; named sessions and running commands stay',
  async ({ sandbox }) => {
    const first = await exec(sandbox, { command: 'true', exec_dir: '/usr' });
    const busy = await exec(sandbox, { command: 'sleep 1000', async_mode: true });
    await sandbox.ok('POST /v1/bash/sessions/create', { session_id: 'named' });
    const last: string[] = [];
    for (let round = 0; round < 8; round++) last.push((await exec(sandbox, { command: 'true' }))['session_id']);

    expect(Object.keys(await sessions(sandbox)).toSorted()).toEqual(
      [busy['session_id'], 'named', ...last.slice(-2)].toSorted(),
    );
    // A lost session is created again by its id, and the output of its commands is kept.
    expect(await sandbox.ok('POST /v1/bash/output', { session_id: first['session_id'] })).toMatchObject({
      command: { command_id: first['command_id'], status: 'completed' },
    });
    for (const session_id of ['second', 'third']) await exec(sandbox, { session_id, command: 'true' });
    const refused = await sandbox.request('POST /v1/bash/exec', { command: `touch ${join(sandbox.directory, 'ran')}` });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(existsSync(join(sandbox.directory, 'ran'))).toBe(false);
    await sandbox.ok('POST /v1/bash/sessions/third/close');
    await exec(sandbox, { command: 'true' });
  },
  { args: ['--max-command-sessions', '4'] },
);

test('V1BASH-8 three hundred commands without a session never get 429, in a row and two hundred at once', async ({
  sandbox,
}) => {
  for (let n = 0; n < 300; n++) await exec(sandbox, { command: 'true' });
  const outputs = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => (await exec(sandbox, { command: `echo ${n}` }))['stdout'] as string),
  );
  expect(outputs).toEqual(outputs.map((_, n) => `${n}\n`));
  expect(Object.keys(await sessions(sandbox))).toHaveLength(256);
});

test(
  'V1BASH-1 an account without a home that it can enter runs commands at the root',
  async ({ sandbox }) => {
    expect(await exec(sandbox, { session_id: 'it', command: 'pwd' })).toMatchObject({ stdout: '/\n', exit_code: 0 });
    expect(await exec(sandbox, { command: 'pwd' })).toMatchObject({ stdout: '/\n', exit_code: 0 });
    const asked = await sandbox.request('POST /v1/bash/exec', { command: 'pwd', exec_dir: '/nowhere' });
    expect([asked.status, asked.body.message]).toEqual([400, 'exec_dir /nowhere: no such file or directory']);
  },
  withTestAccount({
    args: ['--default-user', testAccount.name],
    prepare: (sandbox) => chmodSync(sandbox.directory, 0o700),
  }),
);
