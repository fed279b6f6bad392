/** The behavior of terminal sessions on each backend. */
import { beforeAll } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import { expect, launchCommand, programTest, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { testAccount, withPlainAccount, withTestAccount } from '../harness/test-account.ts';
import { ensureTmux, terminalBackends } from '../harness/terminal-backends.ts';
import { until } from '../harness/until.ts';

beforeAll(() => {
  if (terminalBackends.includes('tmux')) ensureTmux();
});

/** A session, and the files that its shell writes. */
class Session {
  constructor(
    private readonly sandbox: Sandbox,
    readonly id: string,
  ) {}

  /** Its home has no start-up files, because those of the machine may take long. */
  static async start(sandbox: Sandbox, body: Record<string, unknown> = {}): Promise<Session> {
    const env = { HOME: sandbox.directory, ...(body['env'] as Record<string, string | null>) };
    const record = await sandbox.ok('POST /v2/pty/sessions', body['user'] ? body : { ...body, env });
    return new Session(sandbox, record['id'] as string);
  }

  get path(): string {
    return `/v2/pty/sessions/${this.id}`;
  }

  record(): Promise<JsonObject> {
    return this.sandbox.ok(`GET ${this.path}`);
  }

  type(input: string, more: Record<string, unknown> = { press_enter: true }): Promise<JsonObject> {
    return this.sandbox.ok(`POST ${this.path}/input`, { input, ...more });
  }

  /** The content of a file in the sandbox's directory, once it has a whole line and `isSo`. */
  async fileText(name: string, isSo: (text: string) => boolean = (text) => text.endsWith('\n')): Promise<string> {
    const path = join(this.sandbox.directory, name);
    const text = () => (existsSync(path) ? readFileSync(path, 'utf8') : '');
    await until(`the session wrote ${name}`, () => isSo(text())).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(text())}`);
    });
    return text();
  }

  /** What a line of the shell prints. */
  async answer(line: string, name = `answer-${crypto.randomUUID()}`): Promise<string> {
    await this.type(`{ ${line}; } >${this.sandbox.directory}/${name} 2>&1; echo . >>${this.sandbox.directory}/${name}`);
    return (await this.fileText(name, (text) => text.endsWith('.\n'))).slice(0, -2);
  }

  async becomes(status: string): Promise<JsonObject> {
    await until(`session ${this.id} is ${status}`, async () => (await this.record())['status'] === status);
    return this.record();
  }
}

/** The processes of this sandbox whose command line starts with this text. */
function running(sandbox: Sandbox, command: string): number[] {
  return sandbox
    .processes()
    .filter((process) => process.command.startsWith(command))
    .map(({ pid }) => pid);
}

for (const backend of terminalBackends) {
  const args = ['--shell-backend', backend];

  test(
    `TERM-1 TERM-2 TERM-3 sessions are created, listed and inspected (${backend})`,
    async ({ sandbox }) => {
      const named = await sandbox.ok('POST /v2/pty/sessions', {
        id: 'main',
        env: { HOME: sandbox.directory },
        cwd: '/tmp',
        cols: 100,
        rows: 30,
      });
      expect(named).toEqual({
        session_id: 'main',
        id: 'main',
        status: expect.stringMatching(/^(?:ready|running)$/),
        working_dir: '/tmp',
        user: expect.any(String),
        pid: expect.any(Number),
        cols: 100,
        rows: 30,
        name: null,
        title: null,
        backend,
        retention: 'persistent',
        created_at: expect.stringMatching(/Z$/),
        last_used_at: expect.stringMatching(/Z$/),
        current_command: null,
        attached: 0,
        startup_skipped: false,
        exit_code: null,
        created: true,
      });
      const again = { id: 'main', cwd: '/tmp/', rows: 30 };
      expect(await sandbox.request('POST /v2/pty/sessions', again)).toMatchObject({
        body: {
          data: { pid: named['pid'], working_dir: '/tmp', cols: 100, created: false },
          hint: expect.stringContaining('was there already'),
        },
      });
      const other = { id: 'main', cwd: '/usr', cols: 90, env: { A: 'secret' }, no_change_timeout: 3 };
      expect(await sandbox.request('POST /v2/pty/sessions', other)).toMatchObject({
        status: 409,
        body: {
          message:
            'session main exists already, with the cwd /tmp, other values of A, 100 cols, another timeout without new output',
          data: { code: 'session_exists', retryable: false },
          hint: expect.stringContaining('DELETE /v2/pty/sessions/{id}'),
        },
      });
      const unnamed = await sandbox.ok('POST /v2/pty/sessions', {});
      expect(unnamed).toMatchObject({ retention: 'expiring', cols: 80, rows: 24, id: expect.stringMatching(/^pty_/) });

      const { sessions, stats } = await sandbox.ok('GET /v2/pty/sessions');
      expect(Object.keys(sessions)).toEqual(['main', unnamed['id']]);
      expect(stats).toEqual({ total_sessions: 2, max_sessions: 20 });
      expect(await sandbox.ok('GET /v2/pty/sessions/main')).toMatchObject({ id: 'main', pid: named['pid'] });

      const main = new Session(sandbox, 'main');
      expect(await main.answer('echo $$')).toBe(`${named['pid']}\n`);
      expect(await main.answer('cd /usr; pwd')).toBe('/usr\n');
      expect(await main.record()).toMatchObject({ status: 'ready', working_dir: '/usr', current_command: null });
    },
    { args },
  );

  test(
    `TERM-1 an id names its session while that lives, and a new one once its shell has ended (${backend})`,
    async ({ sandbox }) => {
      const both = await Promise.all(
        [1, 2].map(() => sandbox.ok('POST /v2/pty/sessions', { id: 'one', env: { HOME: sandbox.directory } })),
      );
      expect(both[0]?.['pid']).toBe(both[1]?.['pid']);
      const session = new Session(sandbox, 'one');
      await session.type('exit 7');
      expect(await session.becomes('terminated')).toMatchObject({ exit_code: 7, pid: null, current_command: null });
      expect(await sandbox.request(`POST ${session.path}/input`, { input: 'x' })).toMatchObject({
        status: 409,
        body: { hint: expect.stringContaining('POST /v2/pty/sessions') },
      });
      expect((await sandbox.request(`PATCH ${session.path}`, { cols: 90 })).status).toBe(409);
      expect((await sandbox.request(`POST ${session.path}/signal`, {})).status).toBe(409);

      const again = await sandbox.ok('POST /v2/pty/sessions', { id: 'one', env: { HOME: sandbox.directory } });
      expect(again).toMatchObject({ exit_code: null, pid: expect.any(Number) });
      expect(again['pid']).not.toBe(both[0]?.['pid']);
      expect(await session.answer('echo again')).toBe('again\n');
    },
    { args },
  );

  test(
    `TERM-4 a new size reaches the program in the foreground (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      expect(await session.answer('stty size')).toBe('24 80\n');
      const file = join(sandbox.directory, 'size');
      await session.type(`sh -c 'trap "stty size >${file}" WINCH; echo >${file}-on; while :; do sleep 0.1; done'`);
      await session.fileText('size-on');
      const resized = await sandbox.ok(`PATCH ${session.path}`, { cols: 132, rows: 43 });
      expect(resized).toMatchObject({ cols: 132, rows: 43 });
      expect(await session.fileText('size')).toBe('43 132\n');
      await sandbox.ok(`PATCH ${session.path}`, { rows: 10 });
      await session.fileText('size', (text) => text === '10 132\n');
      expect(await session.record()).toMatchObject({ cols: 132, rows: 10, status: 'running' });
      for (const size of [{ cols: 0 }, { rows: 0 }, { cols: -1 }, { rows: 10_000 }, { cols: 1.5 }]) {
        expect([size, (await sandbox.request(`PATCH ${session.path}`, size)).status]).toEqual([size, 422]);
        expect([size, (await sandbox.request('POST /v2/pty/sessions', size)).status]).toEqual([size, 422]);
      }
    },
    { args },
  );

  test(
    `TERM-5 closing a session ends all its processes, also those that ignore SIGHUP and SIGTERM (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox, { id: 'closed' });
      await session.type(`sh -c 'trap "" HUP TERM INT; while :; do sleep 987; done' &`);
      await session.type('$(command -v setsid) sleep 987 &'); // In its own process session, where the root has setsid.
      await until('both run', () => running(sandbox, 'sleep 987').length === 2);
      expect(await sandbox.ok(`DELETE ${session.path}`)).toEqual({ session_id: 'closed' });
      expect(running(sandbox, 'sleep 987')).toEqual([]);
      expect(running(sandbox, 'tmux')).toEqual([]);
      for (const route of ['GET', 'DELETE', 'PATCH']) {
        const reply = await sandbox.request(`${route} ${session.path}`, route === 'PATCH' ? {} : undefined);
        expect([route, reply.status]).toEqual([route, 404]);
      }
      expect((await sandbox.request(`POST ${session.path}/input`, { input: 'x' })).status).toBe(404);
      expect((await sandbox.request(`POST ${session.path}/signal`, {})).status).toBe(404);
    },
    { args },
  );

  test(
    `TERM-5 closing a session hangs its terminal up, and its programs may clean up (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      const file = join(sandbox.directory, 'told');
      // tmux sends SIGTERM to its programs before their terminal is gone.
      const job = `trap "echo job >>${file}; exit" HUP TERM; echo >${file}-on; while :; do sleep 0.01; done`;
      await session.type(`trap 'echo shell >>${file}; trap - EXIT; exit' HUP EXIT`);
      await session.type(`sh -c '${job}'`);
      await session.fileText('told-on');
      await sandbox.ok(`DELETE ${session.path}`);
      expect(readFileSync(file, 'utf8').trim().split('\n').toSorted()).toEqual(['job', 'shell']);

      const times: number[] = [];
      for (let n = 0; n < 7; n++) {
        const idle = await Session.start(sandbox);
        await idle.answer('echo idle');
        const beganMs = performance.now();
        await sandbox.ok(`DELETE ${idle.path}`);
        times.push(performance.now() - beganMs);
      }
      expect(times.toSorted((a, b) => a - b)[3]).toBeLessThan(300);
    },
    { args },
  );

  test(
    `TERM-7 typed input arrives unchanged, however long (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      const text = 'aé漢🙂\u0000\u0001\u0003\u0004\u001b[A\r\n"\'};$#%\\'.repeat(4000);
      const bytes = Buffer.from(text);
      const file = join(sandbox.directory, 'typed');
      await session.type(`stty raw -echo; echo >${file}-on; head -c ${bytes.length} >${file}; stty sane`);
      await session.fileText('typed-on');
      const answer = await session.type(text, {});
      expect(answer).toEqual({ session_id: session.id, accepted_bytes: bytes.length });
      await session.fileText('typed', (read) => read.length === text.length);
      expect(readFileSync(file).equals(bytes)).toBe(true);
      expect(await session.answer('echo back')).toBe('back\n');
    },
    { args },
  );

  test(
    `TERM-8 a signal goes to the foreground job, and the shell survives (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      const { pid } = await session.record();
      await session.type('sleep 876');
      await until('it runs', async () => (await session.record())['current_command'] === 'sleep 876');
      expect((await session.record())['status']).toBe('running');
      expect(await sandbox.ok(`POST ${session.path}/signal`, {})).toEqual({ session_id: session.id, signal: 'SIGINT' });
      expect(await session.becomes('ready')).toMatchObject({ pid });
      expect(await session.answer('echo alive')).toBe('alive\n');
      expect((await sandbox.request(`POST ${session.path}/signal`, { signal: 'SIGNOTHING' })).status).toBe(422);

      await sandbox.ok(`POST ${session.path}/signal`, { signal: 'SIGKILL' });
      expect(await session.becomes('terminated')).toMatchObject({ exit_code: null, pid: null });
    },
    { args },
  );

  test(
    `TERM-7 TERM-8 jobs stop, continue in the background and return to the foreground (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      await session.type('sleep 765');
      await until('it runs', async () => (await session.record())['current_command'] === 'sleep 765');
      await session.type('\u001a', {});
      await session.becomes('ready');
      expect(await session.answer('jobs')).toMatch(/Stopped.*sleep 765/);
      await session.type('fg');
      await until('it is back', async () => (await session.record())['current_command'] === 'sleep 765');
      await session.type('\u0003', {});
      await session.becomes('ready');
      expect(running(sandbox, 'sleep 765')).toEqual([]);
    },
    { args },
  );

  test(
    `TERM-12 TERM-16 the number of live shells is limited (${backend})`,
    async ({ sandbox }) => {
      const first = await Session.start(sandbox, { id: 'first' });
      await Session.start(sandbox);
      const refused = await sandbox.request('POST /v2/pty/sessions', { id: 'third' });
      expect(refused).toMatchObject({ status: 429, body: { hint: expect.stringContaining('SVC_SHELL_MAX_SESSIONS') } });
      await Session.start(sandbox, { id: 'first' });
      await sandbox.ok(`DELETE ${first.path}`);
      const third = await Session.start(sandbox, { id: 'third' });
      // A session whose shell has ended is listed, and does not count.
      await third.type('exit');
      await until('it has ended', async () => (await third.record())['status'] === 'terminated');
      await Session.start(sandbox, { id: 'fourth' });
      const { sessions, stats } = await sandbox.ok('GET /v2/pty/sessions');
      expect(Object.keys(sessions as JsonObject)).toHaveLength(3);
      expect(stats).toEqual({ total_sessions: 2, max_sessions: 2 });
    },
    { args: [...args, '--shell-max-sessions', '2'] },
  );

  test(
    `TERM-1 TERM-5 an unused session without a name is closed (${backend})`,
    async ({ sandbox }) => {
      const unnamed = await Session.start(sandbox);
      const kept = await Session.start(sandbox, { retention: 'persistent' });
      const named = await Session.start(sandbox, { id: 'named' });
      const expiring = await Session.start(sandbox, { id: 'expiring', retention: 'expiring' });
      const isGone = async ({ path }: Session) => (await sandbox.request(`GET ${path}`)).status === 404;
      await until('both have expired', async () => (await isGone(unnamed)) && (await isGone(expiring)));
      expect(await isGone(kept)).toBe(false);
      expect(await isGone(named)).toBe(false);
    },
    { args: [...args, '--shell-session-timeout-secs', '1'] },
  );

  test(
    `TERM-1 the shell has the requested environment and directory, and nothing of the daemon’s (${backend})`,
    async ({ sandbox }) => {
      const env = { OWN: 'a b', LANG: null, UNSET: null, PS1: 'prompt> ', 'with.dot': 'x', TERM_PROGRAM: 'mine' };
      const session = await Session.start(sandbox, { env, cwd: sandbox.directory });
      const environment = await session.answer("cat /proc/$$/environ | tr '\\000' '\\n'");
      const variables = environment.split('\n').filter(Boolean);
      for (const wanted of ['OWN=a b', 'PS1=prompt> ', 'with.dot=x', 'TERM_PROGRAM=mine', 'TERM=xterm-256color']) {
        expect(variables).toContain(wanted);
      }
      for (const unwanted of ['LANG', 'UNSET', 'TMUX', 'TMUX_PANE', 'SVC_API_KEY', 'SVC_SECRET', 'SHLVL', '_']) {
        expect([unwanted, variables.filter((one) => one.startsWith(`${unwanted}=`))]).toEqual([unwanted, []]);
      }
      expect(await session.answer('pwd; umask')).toBe(`${sandbox.directory}\n0022\n`);
      expect(await (await Session.start(sandbox)).answer('echo $TERM $LANG')).toBe('xterm-256color C.UTF-8\n');

      const missing = await sandbox.request('POST /v2/pty/sessions', { cwd: '/not/there' });
      expect(missing).toMatchObject({ status: 400, body: { hint: 'Create it first, or pass another directory.' } });
      expect((await sandbox.request('POST /v2/pty/sessions', { user: 'nobody-here' })).status).toBe(400);
    },
    { args },
  );

  test(
    `TERM-1 the shell of another account has its home, its ids and its own terminal (${backend})`,
    async ({ sandbox }) => {
      chmodSync(sandbox.directory, 0o777);
      // A tmux that is ended before it has removed its directory leaves the directory in the sandbox, not in /tmp.
      const session = await Session.start(sandbox, { user: testAccount.name });
      expect(await session.record()).toMatchObject({ user: testAccount.name, backend });
      const printed = await session.answer(
        'id -u; id -G; echo $HOME $USER; stat -c %u $(tty); echo ok >/dev/tty; echo $?',
      );
      const { uid, groups, name } = testAccount;
      expect(printed).toBe(`${uid}\n${groups.join(' ')}\n${sandbox.directory} ${name}\n${uid}\n0\n`);
      await sandbox.ok(`DELETE ${session.path}`);
    },
    withTestAccount({ args }),
  );

  test(
    `TERM-1 TERM-4 the shell, its variables and its size outlive the daemon (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox, { id: 'survivor' });
      const { pid } = await session.record();
      expect(await session.answer('kept=here; cd /usr/lib; echo $kept')).toBe('here\n');
      await sandbox.ok(`PATCH ${session.path}`, { cols: 111, rows: 22 });
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();

      const expected = { pid, backend, cols: 111, rows: 22, working_dir: '/usr/lib', status: 'ready' };
      expect(await session.record()).toMatchObject(expected);
      expect(await session.answer('echo $kept; stty size')).toBe('here\n22 111\n');
      await sandbox.ok(`PATCH ${session.path}`, { cols: 70 });
      // tmux delays a resize that follows another one quickly.
      await until('it has the size', async () => (await session.answer('stty size')) === '22 70\n');
      await session.type('exit 9');
      expect(await session.becomes('terminated')).toMatchObject({ exit_code: 9 });
    },
    { args, expectedWarnings: ['started again by init'] },
  );

  test(
    `TERM-17 a name is in every record, also after the daemon was killed, and everybody may change it (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox, { id: 'named', name: 'Build <b>“main”</b> 漢字' });
      const unnamed = await Session.start(sandbox);
      const die = async () => {
        process.kill(sandbox.daemonPid, 'SIGKILL');
        await sandbox.served();
      };
      await die();
      expect([(await session.record())['name'], (await unnamed.record())['name']]).toEqual([
        'Build <b>“main”</b> 漢字',
        null,
      ]);
      expect(await sandbox.ok(`PATCH ${session.path}`, { name: 'x'.repeat(100) })).toMatchObject({ cols: 80 });
      await die();
      const { sessions } = await sandbox.ok('GET /v2/pty/sessions');
      expect((sessions as JsonObject)['named']).toMatchObject({ name: 'x'.repeat(100) });
      const again = await sandbox.request('POST /v2/pty/sessions', { id: 'named', name: 'Other' });
      expect(again.body).toMatchObject({
        data: { created: false, name: 'x'.repeat(100) },
        hint: expect.stringContaining('PATCH'),
      });
      await sandbox.ok(`PATCH ${session.path}`, { cols: 90 });
      expect((await session.record())['name']).toBe('x'.repeat(100));
      expect(await sandbox.ok(`PATCH ${session.path}`, { name: null })).toMatchObject({ name: null });
    },
    { args, expectedWarnings: ['started again by init'] },
  );

  test(
    `TERM-1 sessions created concurrently all outlive the daemon (${backend})`,
    async ({ sandbox }) => {
      const ids = ['a', 'b', 'c', 'd', 'e'];
      const made = await Promise.all(ids.map((id) => Session.start(sandbox, { id })));
      const pids = await Promise.all(made.map(async (session) => (await session.record())['pid'] as number));
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      const { sessions } = await sandbox.ok('GET /v2/pty/sessions');
      expect(Object.keys(sessions as object).toSorted()).toEqual(ids);
      expect(ids.map((id) => (sessions as JsonObject)[id].pid as number)).toEqual(pids);
    },
    { args, expectedWarnings: ['started again by init'] },
  );

  test(
    `TERM-3 TERM-5 a session whose keeper is killed is reported as ended, without an exit code, and leaves nothing (${backend})`,
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      await session.type('sleep 654');
      await until('it runs', async () => (await session.record())['current_command'] === 'sleep 654');
      for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
      expect(await session.becomes('terminated')).toMatchObject({ exit_code: null, pid: null });
      await until('nothing is left', () => running(sandbox, 'sleep 654').length === 0);
      await until('nor of tmux', () => running(sandbox, Bun.which('tmux') ?? 'tmux').length === 0);
    },
    { args },
  );
}

/** Options for a daemon whose PATH has an `rm` that needs longer than a session has to end. */
const withSlowRemoval = {
  args: ['--shell-backend', 'tmux'],
  env: ({ directory }: Sandbox) => ({ PATH: `${directory}/bin:${process.env['PATH'] ?? ''}` }),
  prepare({ directory }: Sandbox) {
    mkdirSync(join(directory, 'bin'));
    writeFileSync(join(directory, 'bin/rm'), `#!/bin/sh\nsleep 1\nexec ${Bun.which('rm')} "$@"\n`, { mode: 0o755 });
  },
};

if (terminalBackends.includes('tmux'))
  test(
    'TERM-1 a closed session of tmux leaves no directory behind, however slow the machine is',
    async ({ sandbox }) => {
      const session = await Session.start(sandbox);
      const places = () => readdirSync(join(sandbox.directory, 'tmp'));
      expect(places()).toEqual([expect.stringMatching(/^boxkeep-pty_/)]);
      await sandbox.ok(`DELETE ${session.path}`);
      expect(places()).toEqual([]);
    },
    withSlowRemoval,
  );

/** Options that hide tmux from the daemon and from everything the daemon starts. */
function withoutTmux(args: readonly string[]) {
  const launcher = ['unshare', '--mount', 'sh', '-c', 'mount --bind ./nothing "$0" && exec "$@"'];
  return {
    args,
    launcher: terminalBackends.includes('tmux') ? [...launcher, ensureTmux()] : [],
    prepare: (sandbox: Sandbox) => writeFileSync(join(sandbox.directory, 'nothing'), '', { mode: 0o644 }),
  };
}

test('FACT-3 terminals are native, also where tmux is on PATH', async ({ sandbox }) => {
  const tmux = terminalBackends.includes('tmux');
  expect((await sandbox.ok('GET /v1/capabilities'))['exec']).toMatchObject({ backend: 'native', tmux });
  expect(await sandbox.ok('POST /v2/pty/sessions', {})).toMatchObject({ backend: 'native' });
});

test(
  'FACT-3 a requested tmux that cannot be used is named, with the reason',
  async ({ sandbox }) => {
    expect(await sandbox.request('POST /v2/pty/sessions', { id: 'a' })).toMatchObject({
      status: 503,
      body: {
        message: 'tmux could not be started: invalid option: extended-keys',
        hint: expect.stringContaining('SVC_SHELL_BACKEND=native'),
      },
    });
    expect((await sandbox.request('GET /v2/pty/sessions/a')).status).toBe(404);
  },
  {
    args: ['--shell-backend', 'tmux'],
    env: ({ directory }) => ({ PATH: `${directory}/bin:${process.env['PATH']}` }),
    prepare: ({ directory }) => {
      mkdirSync(join(directory, 'bin'));
      // As a tmux older than 3.2 does.
      const script = '#!/bin/sh\necho "invalid option: extended-keys" >&2; exit 1\n';
      writeFileSync(join(directory, 'bin/tmux'), script, { mode: 0o755 });
    },
  },
);

test(
  'FACT-3 without tmux there are still terminals',
  async ({ sandbox }) => {
    expect(await sandbox.ok('POST /v2/pty/sessions', {})).toMatchObject({ backend: 'native' });
    expect((await sandbox.ok('GET /v1/capabilities'))['exec']).toMatchObject({ backend: 'native', tmux: false });
  },
  withoutTmux([]),
);

test(
  'FACT-3 a requested tmux that is not installed is reported, with the next step',
  async ({ sandbox }) => {
    expect(await sandbox.request('POST /v2/pty/sessions', { id: 'a' })).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('tmux is not on PATH'), hint: expect.stringContaining('Install tmux') },
    });
    expect((await sandbox.request('GET /v2/pty/sessions/a')).status).toBe(404);
    expect((await sandbox.ok('GET /v1/capabilities'))['exec']).toMatchObject({ status: 'degraded', backend: null });
  },
  withoutTmux(['--shell-backend', 'tmux']),
);

programTest('an unknown backend stops the start with one line', () => {
  const { exitCode, stderr } = Bun.spawnSync(
    [...launchCommand(), 'start', '--port', '0', '--shell-backend', 'screen'],
    {
      cwd: '/',
      env: programEnvironment(),
    },
  );
  expect(exitCode).not.toBe(0);
  expect(stderr.toString()).toMatch(/^[^\n]*--shell-backend: "screen" is not valid[^\n]*\n$/);
});

test(
  'TERM-1 TERM-6 root without CAP_SYS_PTRACE, as in a container, sees the directory and the prompt of shells of other accounts',
  async ({ sandbox }) => {
    const { id } = await sandbox.ok('POST /v2/pty/sessions', {});
    await sandbox.ok(`POST /v2/pty/sessions/${id}/exec`, { command: 'cd /usr/lib' });
    expect(await sandbox.ok(`GET /v2/pty/sessions/${id}`)).toMatchObject({ working_dir: '/usr/lib' });
    // Without a look at the shell, each command waits for a second of silence before it is typed.
    const started = performance.now();
    for (let round = 0; round < 5; round++) await sandbox.ok(`POST /v2/pty/sessions/${id}/exec`, { command: 'true' });
    expect(performance.now() - started).toBeLessThan(4000);
  },
  withPlainAccount({ launcher: ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'] }),
);
