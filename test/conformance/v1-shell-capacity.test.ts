/** Unnamed shell sessions of 1.x: which of them are evicted for a new one, and which stay. */
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { ShellClient } from '../harness/shell-client.ts';
import { until } from '../harness/until.ts';
import { ShellRoutes, withPlainShell } from '../harness/v1-shell.ts';

const most = (count: number) => withPlainShell({ env: { MAX_SHELL_SESSIONS: `${count}` } });

test(
  'V1SHELL-9 a hundred commands in a row without a session use five sessions and never get 429',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    for (let n = 0; n < 100; n++) {
      expect(await shell.exec(`echo ${n}`)).toMatchObject({ status: 'completed', output: `${n}\n` });
    }
    const { total_sessions: total, max_sessions: max } = await sandbox.ok('GET /v1/shell/sessions/stats');
    expect([total, max]).toEqual([5, 5]);
  },
  most(5),
);

test(
  'V1SHELL-9 thirteen agents with their own sessions work beside a lead without one, in fourteen sessions',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const agents = Array.from({ length: 13 }, (_, n) => `agent-${n}`);
    const rounds = [0, 1, 2, 3, 4];
    const work = agents.map(async (id) => {
      const answers: unknown[] = [];
      for (const round of rounds) answers.push((await shell.exec(`N=$((N + 1)); echo $N ${round}`, { id }))['output']);
      return answers;
    });
    const lead = async () => {
      for (const round of rounds) expect(await shell.output('', `echo ${round}`)).toBe(`${round}\n`);
    };
    // Its concurrent calls share one session.
    await Promise.all([lead(), lead(), lead(), ...work]);
    expect(await Promise.all(work)).toEqual(agents.map(() => rounds.map((round) => `${round + 1} ${round}\n`)));
    expect(Object.keys(await shell.list())).toEqual(expect.arrayContaining(agents));
  },
  most(14),
);

test(
  'V1SHELL-9 thirty concurrent commands without a session run in two, each in one of its own',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => shell.exec(`M="$M"${n}; echo $M`)));
    expect(answers.map(({ output }) => output)).toEqual(numbers.map((n) => `${n}\n`));
  },
  most(2),
);

test(
  'V1SHELL-9 the least recently used unnamed session is closed; busy, attached and named sessions stay',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.exec('export ME=named', { id: 'named' });
    const opened = async (command: string, more: object = {}) =>
      (await shell.exec(command, more))['session_id'] as string;
    const running = await opened('sleep 1000', { async_mode: true });
    const background = await opened('sleep 1001 & true');
    const socket = await ShellClient.open(sandbox);
    const [first, second] = [await opened('export ME=first'), await opened('export ME=second')];
    expect(await shell.output(first, 'echo $ME')).toBe('first\n');
    const third = await opened('export ME=third');
    const ids = async () => Object.keys(await shell.list()).toSorted();
    expect(await ids()).toEqual(['named', running, background, socket.sessionId, first, third].toSorted());
    expect(await shell.output(first, 'echo $ME')).toBe('first\n');

    // A socket evicts unnamed sessions, and a named session takes the slot of an unnamed one. A GET evicts nothing.
    const other = await ShellClient.open(sandbox);
    expect(await ids()).not.toContain(third);
    await other.close();
    const before = await ids();
    expect((await sandbox.request('GET /v1/shell/terminal-url')).status).toBe(429);
    expect(await ids()).toEqual(before);
    for (const id of ['fifth', 'sixth']) await shell.exec('true', { id });
    expect(await ids()).toEqual(['fifth', 'named', running, background, socket.sessionId, 'sixth'].toSorted());
    expect(second).not.toBe(first);
    const refused = await shell.answer('exec', { command: 'true' });
    expect(refused).toMatchObject({ status: 429, body: { message: expect.stringContaining('6') } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await socket.close();
    await until('the socket is gone', async () => (await shell.answer('exec', { command: 'true' })).status === 200);
    const left = sandbox.processes().filter(({ command }) => command.startsWith('sleep 100'));
    expect(left.map(({ command }) => command).toSorted()).toEqual(['sleep 1000', 'sleep 1001']);
  },
  most(6),
);

test(
  'V1SHELL-9 TERM-12 a v2 terminal is not closed for another session, even without a name',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const { id } = await sandbox.ok('POST /v2/pty/sessions', {});
    expect((await shell.answer('exec', { command: 'true' })).status).toBe(429);
    await sandbox.ok(`DELETE /v2/pty/sessions/${id}`);
    await shell.exec('true');
    await sandbox.ok('POST /v2/pty/sessions', {});
    expect(Object.keys((await sandbox.ok('GET /v2/pty/sessions'))['sessions'] as JsonObject)).toHaveLength(1);
  },
  most(1),
);

test(
  'V1SHELL-9 an unnamed session stays unnamed after a daemon restart',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.exec('true');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await shell.exec('echo on')).toMatchObject({ output: 'on\n' });
    expect(Object.keys(await shell.list())).toHaveLength(1);
  },
  withPlainShell({ env: { MAX_SHELL_SESSIONS: '1' }, expectedWarnings: ['started again by init'] }),
);

test(
  'V1SHELL-9 a client that disconnects before its events begin does not keep a session open',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    for (let n = 0; n < 10; n++) {
      const gone = new AbortController();
      const body = JSON.stringify({ command: 'true' });
      const asked = fetch(`${sandbox.url}/v1/shell/exec`, { method: 'POST', headers, body, signal: gone.signal });
      await until('its session is there', async () => Object.keys(await shell.list()).length > 0);
      gone.abort();
      await asked.catch(() => null); // The test aborts this request.
    }
    await until('there is room', async () => (await shell.answer('exec', { command: 'true' })).status === 200);
  },
  most(1),
);
