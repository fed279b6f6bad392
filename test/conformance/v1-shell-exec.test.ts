/** Shell commands for 1.x clients: while they run, while they are quiet, and at their end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { isShort } from '../harness/counts.ts';
import { expect, programTest, Sandbox, test, type JsonObject } from '../harness/sandbox.ts';
import { sseMessages } from '../harness/sse.ts';
import { until } from '../harness/until.ts';
import { ShellRoutes, withPlainShell } from '../harness/v1-shell.ts';

/** The wait of more than two minutes runs in parallel with the other tests. */
const longest: { sandbox: Sandbox | null; answers: Promise<JsonObject[]> } = {
  sandbox: null,
  answers: Promise.resolve([]),
};

beforeAll(async () => {
  if (isShort) return; // The last test is left out.
  longest.sandbox = await Sandbox.start(withPlainShell());
  const shell = new ShellRoutes(longest.sandbox);
  const command = 'sleep 130; echo done';
  longest.answers = Promise.all([
    shell.exec(command, { id: 'patient', timeout: 220 }),
    shell.exec(command, { id: 'stopped', hard_timeout: 220 }),
    shell.exec(command, { id: 'usual' }),
  ]);
  longest.answers.catch(() => null); // The last test reports the error.
});

/** For runs without the last test. */
afterAll(() => longest.sandbox?.dispose());

test(
  'V1SHELL-4 a command that ends its shell has ended, and the session gets a new shell',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    expect(await shell.exec('echo x; exit 0', { id: 'it' })).toMatchObject({
      status: 'completed',
      output: 'x\n',
      exit_code: 0,
    });
    expect(await shell.exec('exit 3', { id: 'it' })).toMatchObject({ status: 'completed', exit_code: 3 });
    expect(await shell.exec('kill -9 $$', { id: 'it' })).toMatchObject({ status: 'terminated', exit_code: null });
    expect(await shell.exec('echo back', { id: 'it' })).toMatchObject({ status: 'completed', output: 'back\n' });
    expect(await shell.exec('echo "unfinished', { id: 'it' })).toMatchObject({ status: 'completed' });
    expect(await shell.output('it', 'echo still here')).toBe('still here\n');
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 a caller that reaches its timeout is answered, and the command continues',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const running = await shell.answer('exec', { id: 'it', command: 'echo begun; sleep 4; echo done', timeout: 2 });
    expect(running).toMatchObject({
      status: 200,
      body: { success: true, message: 'The command runs', data: { status: 'running', exit_code: null } },
    });
    expect(running.body.data['output']).toBe('begun\n');
    expect(running.body.hint).toContain('continues');
    expect(await shell.ask('wait', { id: 'it', seconds: 0 })).toEqual({ status: 'running' });
    expect(await shell.ask('view', { id: 'it' })).toMatchObject({
      status: 'running',
      command: 'echo begun; sleep 4; echo done',
      exit_code: null,
      console: [{ output: 'begun\n' }],
    });
    expect(await shell.ask('wait', { id: 'it', seconds: 60, max_wait_seconds: 30 })).toEqual({ status: 'completed' });
    const seen = await shell.ask('view', { id: 'it' });
    expect(seen).toMatchObject({ status: 'completed', exit_code: 0, console: [{ output: 'begun\ndone\n' }] });
    // The screen ends the last line when the prompt appears, which is after the end of the command.
    const screen = async () => (await shell.ask('view', { id: 'it' }))['output'] as string;
    await until('the prompt is back', async () => (await screen()).includes('begun\ndone\n'));

    for (const more of [{ async_mode: true }, { async_mode: true, timeout: 60 }, { timeout: 0 }]) {
      expect(await shell.exec('sleep 0.3; echo later', { id: 'it', ...more })).toMatchObject({
        status: 'running',
        output: '',
        exit_code: null,
      });
      expect(await shell.ask('wait', { id: 'it' })).toEqual({ status: 'completed' });
      expect((await shell.ask('view', { id: 'it' }))['console'].at(-1).output).toBe('later\n');
    }
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 a command is stopped after hard_timeout with all its processes, whatever signals they ignore',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const command = `sh -c 'trap "" INT TERM; echo begun; sleep 1001 & sleep 1002'`;
    const answer = await shell.answer('exec', { id: 'it', command, hard_timeout: 1.5, timeout: 60 });
    expect(answer.body).toMatchObject({
      message: 'The command was stopped after 1.5 s',
      data: { status: 'hard_timeout', output: expect.stringMatching(/^begun\n/), exit_code: null },
    });
    const left = () => sandbox.processes().filter(({ command: line }) => line.startsWith('sleep 100'));
    await until('nothing of it is left', () => left().length === 0);
    expect(await shell.output('it', 'echo free')).toBe('free\n');
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 output of a stopped command is returned as printed',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    for (const [command, output] of [
      ['echo begun; sleep 1000', 'begun\n'],
      ['printf begun; sleep 1000', 'begun'],
      ['sleep 1000', ''],
    ] as const) {
      const stopped = await shell.exec(command, { id: 'it', hard_timeout: 0.3 });
      expect(stopped).toMatchObject({ status: 'hard_timeout', output });
      expect(stopped['console'].at(-1)).toMatchObject({ command, output });
    }
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 a command that is quiet for too long continues, and the session reports the running command',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.ask('sessions/create', { id: 'it', no_change_timeout: 1 });
    const quiet = await shell.answer('exec', { id: 'it', command: 'echo begun; sleep 1000; echo done' });
    expect(quiet.body).toMatchObject({
      success: true,
      message: 'The command has printed nothing for 1 s, and continues',
      data: { status: 'no_change_timeout', output: 'begun\n', exit_code: null },
    });
    const busy = await shell.answer('exec', { id: 'it', command: 'echo next' });
    expect(busy).toMatchObject({ status: 409, body: { data: { current_command: expect.stringContaining('sleep') } } });
    expect(busy.body.hint).toContain('kill');
    expect(await shell.ask('sessions/update', { id: 'it', no_change_timeout: 30 })).toMatchObject({
      no_change_timeout: 30,
    });
    const next = shell.exec('echo next', { id: 'it' });
    await shell.ask('kill', { id: 'it' });
    expect(await next).toMatchObject({ status: 'completed', output: 'next\n' });
    expect(await shell.exec('sleep 1.5', { id: 'it' })).toMatchObject({ status: 'completed' });
    expect(await shell.exec('sleep 1.5', { id: 'it', no_change_timeout: 1 })).toMatchObject({
      status: 'no_change_timeout',
    });
    expect(await shell.ask('sessions/update', { id: 'it' })).toMatchObject({ no_change_timeout: 30 });
    expect(await shell.ask('sessions/update', { id: 'it', no_change_timeout: null })).toMatchObject({
      no_change_timeout: null,
    });
  },
  withPlainShell(),
);

test(
  'V1SHELL-5 V1SHELL-6 V1SHELL-7 a running program receives input, is inspected and is killed',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const program = 'while read line; do echo "<$line>"; done';
    await shell.exec(program, { id: 'it', async_mode: true });
    expect(await shell.ask('write', { id: 'it', input: 'one', press_enter: true })).toEqual({ status: 'running' });
    expect(await shell.ask('write', { id: 'it', input: 'two\n', press_enter: false })).toEqual({ status: 'running' });
    await until('it has answered', async () => {
      const { output } = await shell.ask('view', { id: 'it' });
      return (output as string).includes('<one>') && (output as string).includes('<two>');
    });
    const waiting = shell.ask('wait', { id: 'it', seconds: 60 });
    expect(await shell.ask('kill', { id: 'it' })).toEqual({ status: 'terminated', exit_code: 130, returncode: 130 });
    expect(await waiting).toEqual({ status: 'terminated' });
    expect(await shell.ask('view', { id: 'it' })).toMatchObject({
      session_id: 'it',
      status: 'terminated',
      command: program,
      console: [{ command: program, output: expect.stringContaining('<two>') }],
    });
    expect(await shell.ask('kill', { id: 'it' })).toMatchObject({ status: 'terminated' });
    expect(await shell.output('it', 'echo on')).toBe('on\n');
    expect(await shell.ask('kill', { id: 'it' })).toEqual({ status: 'completed', exit_code: 0, returncode: 0 });

    // The same holds for a command that a person typed at the prompt.
    await shell.ask('write', { id: 'it', input: 'sleep 1003', press_enter: true });
    // Between fork and exec, the command line of the new process is that of the shell.
    await until('it runs', async () => (await shell.ask('view', { id: 'it' }))['command'] === 'sleep 1003');
    expect(await shell.ask('view', { id: 'it' })).toMatchObject({ status: 'running', exit_code: null });
    expect(await shell.ask('kill', { id: 'it' })).toMatchObject({ status: 'terminated' });
    expect(await shell.ask('view', { id: 'it' })).not.toMatchObject({ status: 'running' });
  },
  withPlainShell(),
);

test(
  'V1SHELL-6 a caller waiting for a command that another client kills gets its output and the kill',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const stubborn = `trap 'echo no' INT; sh -c 'trap "" INT TERM; echo begun; sleep 1004'`;
    const command = shell.exec(stubborn, { id: 'it' });
    const begun = async () => ((await shell.ask('view', { id: 'it' }))['output'] as string).includes('\nbegun');
    await until('it has begun', async () => (await shell.list())['it'] !== undefined && (await begun()));
    expect(await shell.ask('kill', { id: 'it' })).toMatchObject({ status: 'terminated' });
    expect(await command).toMatchObject({
      status: 'terminated',
      output: expect.stringContaining('begun'),
      exit_code: null,
    });
    expect(sandbox.processes().filter(({ command: line }) => line === 'sleep 1004')).toEqual([]);
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 commands for one session run one after another, each with its own output',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.ask('sessions/create', { id: 'it' });
    const numbers = Array.from({ length: 12 }, (_, n) => n);
    const answers = await Promise.all(
      numbers.map((n) => shell.exec(`echo begin ${n}; sleep 0.05; echo end ${n}`, { id: 'it' })),
    );
    expect(answers.map(({ output }) => output)).toEqual(numbers.map((n) => `begin ${n}\nend ${n}\n`));
    const { console: records } = await shell.ask('view', { id: 'it' });
    expect(new Set((records as JsonObject[]).map(({ output }) => output)).size).toBe(12);
    // Here each one has arrived before the next one is sent.
    for (const n of numbers) await shell.exec(`order="$order "${n}; sleep 0.02`, { id: 'it', async_mode: true });
    expect(await shell.exec('echo $order', { id: 'it' })).toMatchObject({ output: `${numbers.join(' ')}\n` });
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 V1SHELL-7 V1SHELL-12 an answer is limited in characters, or complete on request',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    writeFileSync(join(sandbox.directory, 'long'), Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join(''));
    const command = `cat ${join(sandbox.directory, 'long')}`;
    const cut = (await shell.exec(command, { id: 'it' }))['output'] as string;
    expect(cut.length).toBeLessThanOrEqual(30_000);
    expect(cut).toStartWith('line 0\nline 1\n');
    expect(cut).toEndWith('line 19999\n');
    expect(cut).toContain('bytes left out');
    const whole = await shell.exec(command, { id: 'it', truncate: false });
    expect(whole['output']).toHaveLength(20_000 * 'line '.length + 108_890);
    const { output, console: records } = await shell.ask('view', { id: 'it' });
    expect((output as string).split('line 0\n')).toHaveLength(3);
    expect(output).toContain(readFileSync(join(sandbox.directory, 'long'), 'utf8'));
    expect(output).toStartWith(whole['console'][0].ps1);
    // A line longer than a row stays one line, and text that a program erased is gone.
    await shell.exec(`printf '%0300d\\n' $(seq 3000)`, { id: 'it' });
    const wrapped = (await shell.ask('view', { id: 'it' }))['output'] as string;
    expect(wrapped).toContain(Array.from({ length: 3000 }, (_, n) => `${n + 1}`.padStart(300, '0')).join('\n'));
    await shell.exec(`printf '\\033[3J'; seq 3000`, { id: 'it' });
    // The answer may come before the next prompt, and the text has no empty line at its end.
    const erased = (await shell.ask('view', { id: 'it' }))['output'] as string;
    expect([erased.includes('line 19999'), erased.includes('\n1\n2\n'), erased.includes('\n2999\n3000')]).toEqual([
      false,
      true,
      true,
    ]);
    expect((records as JsonObject[]).map((one) => (one['output'] as string).length <= 30_000)).toEqual([true, true]);
  },
  withPlainShell(),
);

test(
  'V1SHELL-7 the history of a session is bounded, and keeps the newest commands',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    for (let n = 0; n < 12; n++) await shell.exec(`seq 10000; echo ${n}`, { id: 'it' });
    const records = (await shell.ask('view', { id: 'it' }))['console'] as JsonObject[];
    expect(JSON.stringify(records).length).toBeLessThan(400_000);
    expect(records.at(-1)?.['output']).toEndWith('11\n');
    expect(records.length).toBeGreaterThan(5);
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 V1SHELL-7 a client that accepts events receives output as it is printed, and the answer at the end',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.ask('sessions/create', { id: 'it' });
    const command = `printf 'a\\033[31mb\\033[0m\\n'; sleep 0.3; printf 'c\\303'; sleep 0.3; printf '\\244\\n'; false`;
    const events = await Array.fromAsync(sseMessages(sandbox, '/v1/shell/exec', { post: { id: 'it', command } }));
    const texts = events.filter(({ event }) => event === 'output').map(({ data }) => data['output'] as string);
    expect(events[0]).toEqual({ event: 'start', id: null, data: { session_id: 'it', command } });
    expect(texts.join('')).toBe('ab\ncä\n');
    expect(texts.length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({
      event: 'result',
      data: {
        session_id: 'it',
        command,
        status: 'completed',
        output: 'ab\ncä\n',
        exit_code: 1,
        console: [{ command }],
      },
    });

    await shell.exec('read line; echo "<$line>"', { id: 'it', async_mode: true });
    const looks: string[] = [];
    for await (const { event, data } of sseMessages(sandbox, '/v1/shell/view', { post: { id: 'it' } })) {
      looks.push(event);
      if (event === 'snapshot') {
        expect(data).toMatchObject({ status: 'running', command: 'read line; echo "<$line>"' });
        await shell.ask('write', { id: 'it', input: 'typed', press_enter: true });
      }
      if (event === 'result')
        expect(data).toMatchObject({ status: 'completed', output: expect.stringContaining('<typed>') });
    }
    expect(looks.filter((event, n) => event !== looks[n - 1])).toEqual(['snapshot', 'output', 'result']);

    await shell.exec('sleep 1000', { id: 'it', async_mode: true });
    const busy = { id: 'it', command: 'true', timeout: 0.2 };
    const refused = await Array.fromAsync(sseMessages(sandbox, '/v1/shell/exec', { post: busy }));
    expect(refused.at(-1)).toMatchObject({
      event: 'error',
      data: { success: false, message: expect.stringContaining('sleep') },
    });
    const gone = new AbortController();
    for await (const { event } of sseMessages(sandbox, '/v1/shell/view', { post: { id: 'it' }, signal: gone.signal })) {
      if (event === 'snapshot') break;
    }
    gone.abort();
    expect(await shell.ask('view', { id: 'it' })).toMatchObject({ status: 'running' });
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 V1SHELL-6 an upgrade loses no waiting call: each command runs once, and every caller is answered',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.ask('sessions/create', { id: 'it' });
    const go = join(sandbox.directory, 'go');
    const first = shell.exec(`until test -e ${go}; do sleep 0.05; done; echo first >> ran; echo first`, { id: 'it' });
    const isRunning = async () => (await shell.ask('view', { id: 'it' }))['status'] === 'running';
    await until('it runs', isRunning);
    const second = shell.exec('echo second >> ran; echo second', { id: 'it' });
    const waiting = shell.ask('wait', { id: 'it', seconds: 30 });
    expect((await sandbox.upgrade()).code).toBe(0);
    expect(await isRunning()).toBe(true);
    writeFileSync(go, '');
    expect((await first)['output']).toBe('first\n');
    expect((await second)['output']).toBe('second\n');
    expect(await waiting).toEqual({ status: 'completed' });
    expect(await shell.output('it', 'cat ran')).toBe('first\nsecond\n');
    await shell.exec('sleep 1000', { id: 'it', async_mode: true });
    expect(await shell.ask('kill', { id: 'it' })).toMatchObject({ status: 'terminated' });
  },
  withPlainShell(),
);

test(
  'V1SHELL-4 kill ends a command that waits for the prompt after an earlier one',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.exec("PROMPT_COMMAND='for ((i = 0; i < 300000; i++)); do :; done'", { id: 'it' });
    await shell.exec('true', { id: 'it' });
    await shell.exec('sleep 1000', { id: 'it', async_mode: true });
    expect(await shell.ask('kill', { id: 'it' })).toMatchObject({ status: 'terminated' });
    expect((await shell.ask('view', { id: 'it' }))['status']).toBe('terminated');
  },
  withPlainShell({}, 'bash'),
);

programTest(
  'V1SHELL-4 a command quiet for more than two minutes is reported after two minutes, or not at all',
  async () => {
    const [patient, stopped, usual] = await longest.answers;
    expect(patient).toMatchObject({ status: 'completed', output: 'done\n', exit_code: 0 });
    expect(stopped).toMatchObject({ status: 'completed', output: 'done\n', exit_code: 0 });
    expect(usual).toMatchObject({ status: 'no_change_timeout', output: '', exit_code: null });
    const shell = new ShellRoutes(longest.sandbox!);
    expect(await shell.ask('wait', { id: 'usual' })).toEqual({ status: 'completed' });
    expect((await shell.ask('view', { id: 'usual' }))['console']).toMatchObject([{ output: 'done\n' }]);
    const { sandbox } = longest;
    longest.sandbox = null;
    await sandbox?.close();
  },
);
