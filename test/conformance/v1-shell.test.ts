/** The 1.x shells: sessions, their names, and the directories of their commands, as in the public guides. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { shellNames } from '../harness/shell-accounts.ts';
import { until } from '../harness/until.ts';
import { homeOf, ShellRoutes, withPlainShell } from '../harness/v1-shell.ts';

const notFound = { success: false, message: 'Session not found', data: null };

test(
  'V1SHELL-4 V1SHELL-11 exec opens a session, which keeps its directory and variables for the next command',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const first = await shell.answer('exec', { command: 'echo hello' });
    const id = first.body.data['session_id'] as string;
    expect(first.body).toEqual({
      success: true,
      message: 'Command executed',
      data: {
        session_id: expect.stringMatching(/./),
        command: 'echo hello',
        status: 'completed',
        output: 'hello\n',
        console: [{ ps1: expect.any(String), command: 'echo hello', output: 'hello\n' }],
        exit_code: 0,
      },
      hint: null,
    });
    expect(await shell.exec('mkdir -p d; cd d; export GREETING=hey; false', { id })).toMatchObject({ exit_code: 1 });
    expect(await shell.output(id, 'pwd; echo $GREETING')).toBe(`${homeOf(sandbox)}/d\nhey\n`);
    expect(await shell.exec('echo out; echo err >&2; exit_with() { return 7; }; exit_with', { id })).toMatchObject({
      session_id: id,
      status: 'completed',
      output: 'out\nerr\n',
      exit_code: 7,
    });
    const last = await shell.exec('echo $GREETING', { id });
    expect(last['console']).toMatchObject([{ command: 'echo $GREETING', output: 'hey\n' }]);
    const { console: records } = await shell.ask('view', { id });
    expect((records as JsonObject[]).map(({ command, output }) => [command, output])).toEqual([
      ['echo hello', 'hello\n'],
      ['mkdir -p d; cd d; export GREETING=hey; false', ''],
      ['pwd; echo $GREETING', `${homeOf(sandbox)}/d\nhey\n`],
      ['echo out; echo err >&2; exit_with() { return 7; }; exit_with', 'out\nerr\n'],
      ['echo $GREETING', 'hey\n'],
    ]);
    expect(await shell.exec('echo "<$GREETING>"', { id: '' })).toMatchObject({ output: '<>\n' });
    expect(await shell.exec('echo mine', { id: 'my-own', unknown_field: 1 })).toMatchObject({ session_id: 'my-own' });
  },
  withPlainShell(),
);

test(
  'V1SHELL-1 V1SHELL-2 V1SHELL-3 sessions are created, listed, counted and closed',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    expect(await shell.ask('sessions/create', { id: 'one' })).toEqual({
      session_id: 'one',
      working_dir: homeOf(sandbox),
    });
    await shell.exec('cd /', { id: 'one' });
    expect(await shell.ask('sessions/create', { id: 'one', exec_dir: '/usr' })).toEqual({
      session_id: 'one',
      working_dir: '/',
    });
    const unnamed = await sandbox.ok('POST /v1/shell/sessions/create', '', { 'content-type': 'application/json' });
    const other = await shell.ask('sessions/create', { id: '', exec_dir: '/usr' });
    expect(other).toEqual({ session_id: expect.stringMatching(/./), working_dir: '/usr' });
    await shell.exec('sleep 1000', { id: 'one', async_mode: true });
    await until('it runs', async () => (await shell.list())['one'].status === 'running');
    expect(await shell.list()).toEqual({
      one: {
        working_dir: '/',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        last_used_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        age_seconds: expect.any(Number),
        status: 'running',
        current_command: 'sleep 1000',
      },
      [unnamed['session_id'] as string]: expect.objectContaining({ status: 'ready', current_command: null }),
      [other['session_id'] as string]: expect.objectContaining({ working_dir: '/usr' }),
    });
    expect(await sandbox.ok('GET /v1/shell/sessions/stats')).toEqual({
      total_sessions: 3,
      active_sessions: 3,
      idle_sessions: 0,
      max_sessions: 20,
      session_timeout: 3600,
      usage_ratio: 0.15,
    });
    expect((await sandbox.request('DELETE /v1/shell/sessions/one')).body).toEqual({
      success: true,
      message: 'Session closed',
      data: { session_id: 'one' },
      hint: null,
    });
    expect(Object.keys(await shell.list())).toEqual([unnamed['session_id'], other['session_id']]);
    expect(sandbox.processes().filter(({ command }) => command === 'sleep 1000')).toEqual([]);
    expect(await sandbox.ok('DELETE /v1/shell/sessions')).toEqual({ cleaned_sessions: 2 });
    expect(await shell.list()).toEqual({});
  },
  withPlainShell(),
);

test(
  'V1SHELL-1 a session has the name its client chose, and that name finds no other session',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const names = ['user@host: a/b', '../../etc', 'ünï-日本', 'v1.abc', 'sessions', '__proto__', 'a\nb', '.'];
    for (const id of names) {
      expect(await shell.exec('echo here', { id })).toMatchObject({ session_id: id, output: 'here\n' });
      expect(await shell.ask('view', { id })).toMatchObject({ session_id: id, command: 'echo here' });
    }
    expect(Object.keys(await shell.list()).toSorted()).toEqual(names.toSorted());
    for (const id of ['user@host:', 'b', '../etc', 'nobody', '']) {
      expect([id, (await shell.answer('view', { id })).status]).toEqual([id, 404]);
    }
    expect(await shell.answer('exec', { command: 'true', id: '日'.repeat(128) })).toMatchObject({
      status: 400,
      body: { success: false, message: expect.stringContaining('too long') },
    });
  },
  withPlainShell(),
);

test('V1SHELL-3 V1SHELL-5 V1SHELL-6 V1SHELL-7 an unknown session is an error, and is not created', async ({
  sandbox,
}) => {
  const shell = new ShellRoutes(sandbox);
  const fields = { id: 'nobody', input: 'x', press_enter: true };
  for (const verb of ['view', 'wait', 'write', 'kill', 'sessions/update']) {
    expect(await shell.answer(verb, fields)).toMatchObject({ status: 404, body: notFound });
  }
  expect(await sandbox.request('DELETE /v1/shell/sessions/nobody')).toMatchObject({ status: 404, body: notFound });
  expect(await shell.list()).toEqual({});
});

test(
  'V1SHELL-4 thirteen sessions work at once, and none is evicted for another',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const ids = Array.from({ length: 13 }, (_, n) => `agent-${n}`);
    const run = (command: (id: string) => string) =>
      Promise.all(ids.map(async (id) => [id, (await shell.exec(command(id), { id, timeout: 50 }))['output']]));
    await run((id) => `export ME=${id}`);
    expect(await run(() => 'sleep 0.2; echo $ME')).toEqual(ids.map((id) => [id, `${id}\n`]));
    expect(Object.keys(await shell.list()).toSorted()).toEqual(ids.toSorted());
    expect(await sandbox.ok('GET /v1/shell/sessions/stats')).toMatchObject({ total_sessions: 13, usage_ratio: 0.65 });
  },
  withPlainShell(),
);

test(
  'V1SHELL-1 one session above the limit is refused, and no other session is closed for it',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    for (const id of ['a', 'b']) await shell.exec(`export ME=${id}`, { id });
    const requests = ['exec', 'sessions/create'].map((verb) => shell.answer(verb, { id: 'c', command: 'true' }));
    for (const reply of [...(await Promise.all(requests)), await sandbox.request('GET /v1/shell/terminal-url')]) {
      expect(reply).toMatchObject({ status: 429, body: { success: false, message: expect.stringContaining('2') } });
      expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(await shell.output('a', 'echo $ME')).toBe('a\n');
    await sandbox.ok('DELETE /v1/shell/sessions/b');
    expect(await shell.exec('echo c', { id: 'c' })).toMatchObject({ output: 'c\n' });
  },
  withPlainShell({ env: { MAX_SHELL_SESSIONS: '2' } }),
);

test(
  'V1SHELL-1 a session unused for long is closed, whatever its name',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.ask('sessions/create', { id: 'named' });
    await shell.exec('sleep 6', { id: 'busy', async_mode: true });
    await until('it is closed', async () => (await shell.list())['named'] === undefined);
    expect(Object.keys(await shell.list())).toEqual(['busy']);
    await until('both are closed', async () => Object.keys(await shell.list()).length === 0);
  },
  withPlainShell({ env: { SVC_SHELL_SESSION_TIMEOUT_SECS: '2' } }),
);

/** Each test has its own title, so that a root without the shell can skip it. */
const directoryTitles: Readonly<Record<(typeof shellNames)[number], string>> = {
  bash: 'V1SHELL-4 bash runs a command in its directory, with links resolved or kept',
  dash: 'V1SHELL-4 dash runs a command in its directory, with links resolved or kept',
  zsh: 'V1SHELL-4 zsh runs a command in its directory, with links resolved or kept',
  fish: 'V1SHELL-4 fish runs a command in its directory, with links resolved or kept',
  ash: 'V1SHELL-4 ash runs a command in its directory, with links resolved or kept',
};

for (const name of shellNames) {
  test(
    directoryTitles[name],
    async ({ sandbox }) => {
      const shell = new ShellRoutes(sandbox);
      const [real, link] = [join(sandbox.directory, "it's real"), join(sandbox.directory, 'link')];
      mkdirSync(real);
      symlinkSync(real, link);
      expect(await shell.exec('pwd', { id: 'it', exec_dir: link })).toMatchObject({ output: `${real}\n` });
      expect(await shell.output('it', 'cd /; pwd')).toBe('/\n');
      const logical = { id: 'it', exec_dir: link, preserve_symlinks: true };
      expect(await shell.exec('pwd', logical)).toMatchObject({ command: 'pwd', output: `${link}\n`, exit_code: 0 });
      expect(await shell.output('it', 'pwd')).toBe(`${link}\n`);
      expect(await shell.exec('pwd', { id: 'it', exec_dir: real, strict: true })).toMatchObject({
        output: `${real}\n`,
      });

      // Without the directory the command runs in the session's directory, unless strict is set.
      const missing = { exec_dir: join(sandbox.directory, 'missing') };
      expect(await shell.exec('pwd', { id: 'it', ...missing })).toMatchObject({ output: `${real}\n` });
      expect(await shell.exec('pwd', { id: 'new', ...missing })).toMatchObject({
        output: `${homeOf(sandbox)}\n`,
      });
      for (const id of ['it', 'another']) {
        const refused = await shell.answer('exec', { id, command: 'touch ran', strict: true, ...missing });
        expect(refused).toMatchObject({ status: 400, body: { success: false } });
        expect(refused.body.message).toContain('missing');
      }
      expect(await shell.list()).not.toHaveProperty('another');
      const barred = join(sandbox.directory, 'barred');
      mkdirSync(barred, { mode: 0o700 });
      expect(await shell.exec('touch ran', { id: 'it', exec_dir: barred, strict: true })).toMatchObject({
        status: 'completed',
        exit_code: expect.not.stringMatching(/^0$/),
        output: expect.stringContaining('barred'),
      });
      expect(await shell.output('it', 'ls')).toBe('');

      const created = { exec_dir: link, preserve_symlinks: true };
      expect(await shell.ask('sessions/create', { id: 'l', ...created })).toMatchObject({ working_dir: link });
      expect(await shell.output('l', 'pwd')).toBe(`${link}\n`);
      expect(await shell.ask('sessions/create', { id: 'p', exec_dir: link })).toMatchObject({ working_dir: real });
      expect(await shell.output('p', 'pwd')).toBe(`${real}\n`);
    },
    withPlainShell({}, name),
  );
}

test(
  'V1SHELL-10 a session whose exec_dir cannot be entered starts at home, and the answer reports that',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const home = homeOf(sandbox);
    for (const [id, exec_dir] of [
      ['missing', join(sandbox.directory, 'missing')],
      ['file', '/etc/passwd'],
    ] as const) {
      const created = await shell.answer('sessions/create', { id, exec_dir, preserve_symlinks: true });
      expect(created).toMatchObject({ status: 200, body: { success: true, data: { working_dir: home } } });
      expect(created.body.message).toBe(`exec_dir ${exec_dir} cannot be entered; the session starts in ${home}`);
      expect(await shell.output(id, 'pwd')).toBe(`${home}\n`);
      // An existing session keeps its directory.
      const again = await shell.answer('sessions/create', { id, exec_dir });
      expect(again.body.message).toBe('Operation successful');
    }
  },
  withPlainShell(),
);

test(
  'V1SHELL-1 a terminal URL names a new session, at the address by which the client reaches the daemon',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const get = async (headers: Record<string, string>) =>
      (await sandbox.request('GET /v1/shell/terminal-url', undefined, headers)).body.data as unknown as string;
    const url = new URL(await get({}));
    expect(url.origin).toBe(sandbox.url);
    const id = url.hash.replace('#/terminal/', '');
    expect(await shell.list()).toHaveProperty(id);
    const forwarded = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'box.example:8443',
      'x-forwarded-prefix': '/s/7',
    };
    expect(await get(forwarded)).toStartWith('https://box.example:8443/s/7/#/terminal/');
    expect(await get({ 'x-forwarded-host': 'a b"><', 'x-forwarded-proto': 'javascript' })).toStartWith(sandbox.url);
  },
  withPlainShell(),
);

const badRequests: readonly (readonly [verb: string, body: unknown, status: number, what: string])[] = [
  ['exec', {}, 422, 'body.command'],
  ['exec', { command: 7 }, 422, 'body.command'],
  ['exec', { command: 'a\0b' }, 422, 'NUL'],
  ['exec', { command: 'true', id: 7 }, 422, 'body.id'],
  ['exec', { command: 'true', id: 'x'.repeat(129) }, 400, 'too long'],
  ['exec', { command: 'true', timeout: -1 }, 422, 'body.timeout'],
  ['exec', { command: 'true', timeout: '5' }, 422, 'body.timeout'],
  ['exec', { command: 'true', no_change_timeout: 1.5 }, 422, 'body.no_change_timeout'],
  ['exec', { command: 'true', async_mode: 'yes' }, 422, 'body.async_mode'],
  ['exec', { command: 'true', truncate: null }, 422, 'body.truncate'],
  ['exec', { command: 'true', exec_dir: 'a\0b' }, 422, 'body.exec_dir'],
  ['exec', [], 400, 'JSON object'],
  ['exec', 'no JSON', 400, 'not JSON'],
  ['sessions/create', { id: null }, 422, 'body.id'],
  ['sessions/update', { no_change_timeout: 1 }, 422, 'body.id'],
  ['sessions/update', { id: 'main', no_change_timeout: -1 }, 422, 'body.no_change_timeout'],
  ['view', {}, 422, 'body.id'],
  ['view', { id: 'x'.repeat(100_000) }, 404, 'Session not found'],
  ['wait', { id: 'main', seconds: '1' }, 422, 'body.seconds'],
  ['write', { id: 'main', input: 'x' }, 422, 'body.press_enter'],
  ['write', { id: 'main', press_enter: true }, 422, 'body.input'],
  ['kill', { id: 5 }, 422, 'body.id'],
];

test(
  'V1SHELL-1 V1SHELL-4 V1SHELL-5 meaningless requests are refused with a reason, and affect no session',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.exec('export ME=main', { id: 'main' });
    for (const [verb, body, status, what] of badRequests) {
      const reply = await sandbox.request(`POST /v1/shell/${verb}`, body);
      expect([verb, body, reply.status]).toEqual([verb, body, status]);
      expect(reply.body).toMatchObject({ success: false, message: expect.stringContaining(what) });
      if (status === 422) expect(reply.body.errors?.length).toBeGreaterThan(0);
    }
    for (const more of [{ timeout: 1e300 }, { hard_timeout: 1e300 }, { no_change_timeout: Number.MAX_SAFE_INTEGER }]) {
      expect(await shell.exec('echo $ME', { id: 'main', ...more })).toMatchObject({ output: 'main\n' });
    }
    expect(Object.keys(await shell.list())).toEqual(['main']);
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 running commands outlive the daemon, and their session continues in the next one',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.exec('export ME=it', { id: 'user@host' });
    const command = 'until [ -e go ]; do sleep 0.05; done; echo done';
    await shell.exec(command, { id: 'user@host', async_mode: true });
    const isRunning = async () => (await shell.ask('view', { id: 'user@host' }))['status'] === 'running';
    await until('it runs', isRunning);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await shell.ask('view', { id: 'user@host' })).toMatchObject({ status: 'running', command });
    writeFileSync(join(homeOf(sandbox), 'go'), '');
    expect(await shell.ask('wait', { id: 'user@host' })).toEqual({ status: 'completed' });
    expect(await shell.ask('view', { id: 'user@host' })).toMatchObject({
      exit_code: 0,
      console: [{ output: 'done\n' }],
    });
    expect(await shell.output('user@host', 'echo $ME')).toBe('it\n');
  },
  withPlainShell({ expectedWarnings: ['started again by init'] }),
);
