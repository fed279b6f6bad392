/** The behavior of commands in the shell of a terminal session. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasKeys } from '../harness/foreground.ts';
import { hasProgram } from '../harness/root.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { shellNames, withShellAccounts, type ShellName } from '../harness/shell-accounts.ts';
import { until } from '../harness/until.ts';

/** For tests that work with any shell. */
const anyShell = hasProgram('bash') ? 'bash' : 'ash';

class Shell {
  private constructor(
    readonly sandbox: Sandbox,
    readonly id: string,
  ) {}

  static async open(sandbox: Sandbox, name: ShellName = anyShell): Promise<Shell> {
    const session = await sandbox.ok('POST /v2/pty/sessions', { user: `sbx-${name}`, cwd: '~' });
    return new Shell(sandbox, session['id'] as string);
  }

  exec(command: string, more: Record<string, unknown> = {}): Promise<JsonObject> {
    return this.sandbox.ok(`POST /v2/pty/sessions/${this.id}/exec`, { command, timeout: 20, ...more });
  }

  async refusal(command: string, more: Record<string, unknown> = {}): Promise<number> {
    return (await this.sandbox.request(`POST /v2/pty/sessions/${this.id}/exec`, { command, ...more })).status;
  }

  /** Status, exit code and output of a command. */
  async outcome(command: string, more: Record<string, unknown> = {}): Promise<unknown[]> {
    const { status, exit_code, output } = await this.exec(command, more);
    return [status, exit_code, output];
  }

  type(input: string): Promise<JsonObject> {
    return this.sandbox.ok(`POST /v2/pty/sessions/${this.id}/input`, { input });
  }

  record(): Promise<JsonObject> {
    return this.sandbox.ok(`GET /v2/pty/sessions/${this.id}`);
  }

  async until(what: string, isSo: (record: JsonObject) => boolean): Promise<void> {
    await until(what, async () => isSo(await this.record()));
  }
}

/** Each test has its own title, so that a root without the shell can skip it. */
const titles: Readonly<Record<ShellName, readonly [string, string, string]>> = {
  bash: [
    'TERM-6 bash runs commands in one shell and reports output, exit code and state',
    'TERM-6 bash continues after a syntax error, and is replaced after its exit',
    'TERM-6 TERM-8 bash reports an interrupted command, and one stopped by its timeout',
  ],
  dash: [
    'TERM-6 dash runs commands in one shell and reports output, exit code and state',
    'TERM-6 dash continues after a syntax error, and is replaced after its exit',
    'TERM-6 TERM-8 dash reports an interrupted command, and one stopped by its timeout',
  ],
  zsh: [
    'TERM-6 zsh runs commands in one shell and reports output, exit code and state',
    'TERM-6 zsh continues after a syntax error, and is replaced after its exit',
    'TERM-6 TERM-8 zsh reports an interrupted command, and one stopped by its timeout',
  ],
  fish: [
    'TERM-6 fish runs commands in one shell and reports output, exit code and state',
    'TERM-6 fish continues after a syntax error, and is replaced after its exit',
    'TERM-6 TERM-8 fish reports an interrupted command, and one stopped by its timeout',
  ],
  ash: [
    'TERM-6 ash runs commands in one shell and reports output, exit code and state',
    'TERM-6 ash continues after a syntax error, and is replaced after its exit',
    'TERM-6 TERM-8 ash reports an interrupted command, and one stopped by its timeout',
  ],
};

for (const name of shellNames) {
  const [runs, survives, reports] = titles[name];
  const status = name === 'fish' ? '$status' : '$?';
  const exported = name === 'fish' ? 'set -gx FOO bar' : 'export FOO=bar';

  test(
    runs,
    async ({ sandbox }) => {
      const shell = await Shell.open(sandbox, name);
      expect(await shell.exec('echo hello')).toEqual({
        session_id: shell.id,
        command: 'echo hello',
        status: 'completed',
        output: 'hello\n',
        console: [{ ps1: expect.any(String), command: 'echo hello', output: 'hello\n' }],
        exit_code: 0,
        truncated: false,
      });
      expect(await shell.outcome('false')).toEqual(['completed', 1, '']);
      expect(await shell.outcome(`echo ${status}`)).toEqual(['completed', 0, '1\n']);
      expect(await shell.outcome('printf nothing-behind')).toEqual(['completed', 0, 'nothing-behind']);
      expect(await shell.outcome('sh -c "echo out; echo err >&2; exit 7"')).toEqual(['completed', 7, 'out\nerr\n']);
      await shell.exec(`mkdir new && cd new\n${exported}\nalias greet='echo hey'`);
      expect((await shell.record())['working_dir']).toBe(join(sandbox.directory, name, 'new'));
      expect(await shell.outcome('pwd; echo $FOO; greet')).toEqual([
        'completed',
        0,
        `${join(sandbox.directory, name, 'new')}\nbar\nhey\n`,
      ]);
      expect(await shell.outcome('id -un')).toEqual(['completed', 0, `sbx-${name}\n`]);
      expect(await shell.outcome('stty -a | grep -o "rows [0-9]*"; tty >/dev/null && echo tty')).toEqual([
        'completed',
        0,
        'rows 24\ntty\n',
      ]);
    },
    withShellAccounts(),
  );

  test(
    survives,
    async ({ sandbox }) => {
      const shell = await Shell.open(sandbox, name);
      for (const wrong of ['echo "unterminated', 'if ) then fi (', "echo 'a\nb"]) {
        const { status: how, exit_code } = await shell.exec(wrong);
        expect([wrong, how]).toEqual([wrong, 'completed']);
        expect(exit_code).toBeGreaterThan(0);
      }
      expect(await shell.outcome('echo right')).toEqual(['completed', 0, 'right\n']);

      const { pid } = await shell.record();
      expect(await shell.outcome('exit 5')).toMatchObject(['completed', 5, expect.any(String)]);
      const execute = async (command: string) =>
        (await sandbox.request(`POST /v2/pty/sessions/${shell.id}/exec`, { command })).body;
      const anew = await execute('echo anew');
      expect([anew.data['output'], anew.hint]).toEqual(['anew\n', expect.stringContaining('a new one has started')]);
      expect((await execute('echo anew')).hint).toBeNull();
      expect((await shell.record())['pid']).not.toBe(pid);
      const killed = await shell.exec(name === 'fish' ? 'kill -9 $fish_pid' : 'kill -9 $$');
      expect([killed['status'], killed['exit_code']]).toEqual(['terminated', null]);
      expect(await shell.outcome('echo anew')).toEqual(['completed', 0, 'anew\n']);
      if (name !== 'fish') {
        expect(await shell.outcome('set -e; false')).toMatchObject(['completed', 1, expect.any(String)]);
        expect(await shell.outcome('echo anew')).toEqual(['completed', 0, 'anew\n']);
      }
      expect(output(sandbox)).toContain('[the shell ended with exit code 5; this is a new one]');
    },
    withShellAccounts(),
  );

  test(
    reports,
    async ({ sandbox }) => {
      const shell = await Shell.open(sandbox, name);
      const interrupted = shell.exec('sleep 30');
      await shell.until('it runs', (record) => String(record['current_command']).startsWith('sleep'));
      await until('the foreground is its own', () => sleepers(sandbox) > 0);
      await shell.type('\x03');
      expect(await interrupted).toMatchObject({ status: 'completed', exit_code: 130 });

      expect(await shell.exec('sleep 30', { hard_timeout: 0.1 })).toMatchObject({
        status: 'hard_timeout',
        exit_code: null,
      });
      expect(sleepers(sandbox)).toBe(0);
      expect(await shell.exec(`sh -c 'trap "" INT; echo deaf; sleep 30'`, { hard_timeout: 1.5 })).toMatchObject({
        status: 'hard_timeout',
        output: expect.stringContaining('deaf\n'),
      });
      await until('no sleep is left', () => sleepers(sandbox) === 0);
      expect(await shell.outcome('echo here')).toEqual(['completed', 0, 'here\n']);
    },
    withShellAccounts(),
  );
}

test(
  'TERM-6 a shell that is replaced by another one, or loses its prompt, is recognized again',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox, 'bash');
    expect(await shell.outcome("PS1='$ ' PROMPT_COMMAND=")).toEqual(['completed', 0, '']);
    expect(await shell.outcome('unset PS1 PROMPT_COMMAND; echo bare')).toEqual(['completed', 0, 'bare\n']);
    const interrupted = shell.exec('unset PROMPT_COMMAND; sleep 30');
    await until('it sleeps', () => sleepers(sandbox) > 0);
    await shell.type('\x03');
    expect(await interrupted).toMatchObject({ status: 'completed', exit_code: null });
    for (const next of ['zsh -f', 'fish --no-config', 'dash', 'bash --norc']) {
      expect(await shell.exec(`exec ${next}`)).toMatchObject({ status: 'completed', exit_code: null });
      expect(await shell.outcome(`echo ${next}`)).toEqual(['completed', 0, `${next}\n`]);
    }
    expect(await shell.outcome('exec echo last')).toEqual(['completed', 0, 'last\n']);
    expect(await shell.outcome('echo anew')).toEqual(['completed', 0, 'anew\n']);
  },
  withShellAccounts(),
);

test(
  'TERM-6 a shell that exits between two commands is replaced, and no command is lost with it',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox, 'bash');
    for (const command of ["PROMPT_COMMAND='exit 3'", "PS1='$(kill -9 $$)'"]) {
      expect(await shell.outcome(command)).toEqual(['completed', 0, '']);
      expect(await shell.outcome('echo anew')).toEqual(['completed', 0, 'anew\n']);
    }
    // This shell exits when it receives the next command.
    await shell.exec(`trap '[[ $BASH_COMMAND == .* ]] && exit 6' DEBUG`);
    const { pid } = await shell.record();
    expect(await shell.outcome('echo $$ anew')).toEqual(['completed', 0, expect.stringMatching(/^\d+ anew\n$/)]);
    expect((await shell.record())['pid']).not.toBe(pid);
    expect(output(sandbox)).toContain('[the shell ended with exit code 6; this is a new one]');
    // And also when its start-up files make it exit.
    writeFileSync(join(sandbox.directory, 'bash', '.bashrc'), `trap '[[ $BASH_COMMAND == .* ]] && exit 7' DEBUG\n`);
    await shell.outcome('exit');
    expect(await shell.refusal('echo never')).toBe(503);
  },
  withShellAccounts(),
);

/** Changes after which a shell still runs commands. */
const changedWays: readonly (readonly [ShellName, string])[] = [
  ['bash', 'readonly PROMPT_COMMAND=:'],
  ['bash', 'readonly PS1'],
  ['bash', 'alias builtin=false eval=false printf=false'],
  ['bash', 'set -euo pipefail'],
  ['bash', 'set -o vi; IFS=x; PATH=/none'],
  ['bash', 'stty raw -echo'],
  ['dash', 'exec 0</dev/tty 1>&- 2>&1'],
  ['dash', "trap '' INT"],
  ['zsh', 'exec </dev/null; setopt ksharrays shwordsplit; alias builtin=false'],
];

test(
  'TERM-6 a shell with changed options still runs commands and reports their codes',
  async ({ sandbox }) => {
    const runs = async ([name, change]: readonly [ShellName, string]) => {
      const shell = await Shell.open(sandbox, name);
      await shell.exec(change);
      const { status, exit_code, output } = await shell.exec('echo changed >/dev/tty; (exit 7)');
      expect([change, status, exit_code, output]).toEqual([change, 'completed', 7, 'changed\n']);
    };
    await Promise.all(changedWays.map(runs));
  },
  withShellAccounts(),
);

test(
  'TERM-6 a caller that does not want to wait is not refused for a prompt that is still to come',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox, 'bash');
    await shell.exec("PROMPT_COMMAND='sleep 0.2'");
    for (let n = 0; n < 5; n++) {
      expect(await shell.outcome(`echo ${n}`, { on_busy: 'fail' })).toEqual(['completed', 0, `${n}\n`]);
    }
  },
  withShellAccounts(),
);

test(
  'TERM-6 the three timeouts work as their names say',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    expect(await shell.outcome('true')).toEqual(['completed', 0, '']);
    expect(await shell.outcome('echo begun; sleep 3; echo done', { timeout: 1 })).toEqual(['running', null, 'begun\n']);
    expect((await shell.record())['status']).toBe('running');
    expect(await shell.outcome('echo next')).toEqual(['completed', 0, 'next\n']);

    expect(await shell.outcome('echo quiet; sleep 1', { no_change_timeout: 0.3 })).toEqual([
      'no_change_timeout',
      null,
      'quiet\n',
    ]);
    expect((await shell.record())['current_command']).toContain('sleep 1');
    await sandbox.ok(`PATCH /v2/pty/sessions/${shell.id}`, { no_change_timeout: 1 });
    expect(await shell.exec('sleep 2')).toMatchObject({ status: 'no_change_timeout' });
    expect(await shell.exec('sleep 1.5', { no_change_timeout: null })).toMatchObject({
      status: 'completed',
      exit_code: 0,
    });
    expect(await shell.exec('for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done')).toMatchObject({
      status: 'completed',
    });

    expect(await shell.exec('sleep 30; true', { async: true })).toMatchObject({ status: 'running', exit_code: null });
    expect(await shell.refusal('true', { timeout: 0.2 })).toBe(409);
    await until('it sleeps', () => sleepers(sandbox) > 0);
    await sandbox.ok(`POST /v2/pty/sessions/${shell.id}/signal`, { signal: 'SIGINT' });
    expect(await shell.outcome('echo after')).toEqual(['completed', 0, 'after\n']);
    expect(await shell.exec('while :; do :; done', { hard_timeout: 0.1 })).toMatchObject({ status: 'hard_timeout' });
    // While it is being ended, the limit for silence does not count.
    const stubborn = `sh -c "trap '' INT TERM; while :; do sleep 0.1; done"`;
    const limits = { hard_timeout: 0.1, no_change_timeout: 0.5 };
    expect(await shell.exec(stubborn, limits)).toMatchObject({ status: 'hard_timeout' });
    expect(await shell.outcome('echo still')).toEqual(['completed', 0, 'still\n']);
  },
  withShellAccounts(),
);

test(
  'TERM-6 commands of several callers run one after another, and a busy session is reported as busy',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    await shell.exec('n=0');
    const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
    const answers = await Promise.all(
      numbers.map((number) => shell.exec(`echo ${number}; n=$((n+1)); sleep 0.05; echo $n`)),
    );
    // Requests on several connections arrive in any order.
    const lines = answers.map(({ output }) => (output as string).split('\n').map(Number));
    expect(lines.map(([number]) => number)).toEqual(numbers);
    expect(lines.map(([, turn]) => turn).toSorted()).toEqual(numbers);
    // Here each one has arrived before the next one is sent.
    for (const number of numbers) await shell.exec(`order="$order ${number}"; sleep 0.02`, { async: true });
    expect(await shell.outcome('echo $order')).toEqual(['completed', 0, `${numbers.join(' ')}\n`]);

    const waiting = shell.exec('cat');
    await shell.until('it runs', ({ current_command }) => current_command === 'cat');
    expect(await shell.refusal('true', { on_busy: 'fail' })).toBe(409);
    await until('cat has the keys', () => hasKeys(sandbox, 'cat'));
    await shell.type('typed\r\x04');
    expect(await waiting).toMatchObject({ status: 'completed', exit_code: 0, output: 'typed\ntyped\n' });

    // A person's program is in the foreground.
    await shell.type('cat\r');
    await shell.until('it runs', ({ current_command }) => current_command === 'cat');
    expect(await shell.refusal('true', { on_busy: 'fail' })).toBe(409);
    const next = shell.exec('echo mine');
    await shell.type('\x04');
    expect(await next).toMatchObject({ status: 'completed', output: 'mine\n' });
    // A half-typed line is discarded.
    await shell.type('echo "half of a');
    expect(await shell.outcome('echo whole')).toEqual(['completed', 0, 'whole\n']);
  },
  withShellAccounts(),
);

test(
  'TERM-6 a shell that stands still for a while reads the line later, and nothing is typed behind it',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    const { output } = await shell.exec('echo $$');
    const signal = (name: string): unknown => sandbox.ok('POST /v2/commands', { command: `kill -${name} ${output}` });
    await signal('STOP');
    const running = shell.outcome('echo once');
    await Bun.sleep(2500); // Longer than a shell that runs takes to read the line.
    await signal('CONT');
    expect(await running).toEqual(['completed', 0, 'once\n']);
    const { lines } = await sandbox.ok(`GET /v2/pty/sessions/${shell.id}/screen`);
    expect((lines as string[]).join('\n')).not.toContain('^C');
  },
  withShellAccounts(),
);

test(
  'TERM-6 a full-screen program keeps running until a client ends it',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox, 'bash');
    for (const [command, keys] of [
      ['vim -u NONE -N', '\x1b:q!\r'],
      ['printf "%s\\n" {1..200} | less', 'q'],
    ] as const) {
      expect(await shell.exec(command, { timeout: 1 })).toMatchObject({ status: 'running', exit_code: null });
      await shell.type(keys);
      await shell.until('it has ended', ({ current_command }) => current_command === null);
      expect(await shell.outcome('echo back')).toEqual(['completed', 0, 'back\n']);
    }
  },
  withShellAccounts(),
);

test(
  'TERM-6 a shell that waits for a child process is not mistaken for one that waits for input',
  async ({ sandbox }) => {
    const waits = async (name: ShellName) => {
      const shell = await Shell.open(sandbox, name);
      expect(await shell.outcome('x=$(sleep 2; echo inner); echo $x')).toEqual(['completed', 0, 'inner\n']);
      expect(await shell.outcome('sleep 2 & wait; echo waited')).toMatchObject([
        'completed',
        0,
        expect.stringContaining('waited'),
      ]);
      const reading = shell.exec('read line; echo "read $line"');
      await shell.until('it runs', ({ current_command }) => String(current_command).startsWith('read'));
      expect((await shell.exec('true', { timeout: 1.5, on_busy: 'wait' }).catch(() => null)) ?? 'busy').toBe('busy');
      await shell.type('typed\r');
      expect(await reading).toMatchObject({ status: 'completed', exit_code: 0, output: 'typed\nread typed\n' });
    };
    await Promise.all((['bash', 'dash', 'zsh'] as const).map(waits));
  },
  withShellAccounts(),
);

test(
  'TERM-6 output of any kind and size is returned, and marked where it is cut',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    const long = await shell.exec('yes 0123456789 | head -c 100000');
    expect(long).toMatchObject({ status: 'completed', exit_code: 0, truncated: true });
    expect(long['output'].length).toBeLessThanOrEqual(30_000);
    expect(long['output'].slice(0, 22)).toBe('0123456789\n0123456789\n');
    const whole = await shell.exec('yes 0123456789 | head -c 100000', { truncate: false });
    expect([whole['output'].length, whole['truncated']]).toEqual([100_000, false]);

    expect(await shell.exec('head -c 300000 /dev/urandom; exit_code=3; (exit $exit_code)')).toMatchObject({
      status: 'completed',
      exit_code: 3,
    });
    await shell.exec('stty sane');
    expect(await shell.outcome(`printf '\\033[31mred\\033[0m \\033]0;title\\007plain\\r\\n'`)).toEqual([
      'completed',
      0,
      'red plain\r\n',
    ]);
    expect(await shell.outcome(`printf '\\033]7717;D;0123456789abcdef0123456789abcdef;9\\007'; echo on`)).toMatchObject(
      ['completed', 0, 'on\n'],
    );
    expect(await shell.outcome('(sleep 0.3; echo late) & echo early')).toMatchObject([
      'completed',
      0,
      expect.any(String),
    ]);
    expect(await shell.outcome('wait; echo done')).toMatchObject(['completed', 0, expect.stringContaining('done\n')]);
  },
  withShellAccounts(),
);

test(
  'TERM-6 a hundred megabytes of output end at the exact offset',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    const line = `yes ${'0123456789'.repeat(100)}`;
    const command = `${line} | head -c 100000000; echo; echo the end; (exit 9)`;
    const { status, exit_code, output, truncated } = await shell.exec(command, { timeout: 55, truncate: false });
    expect([status, exit_code, truncated]).toEqual(['completed', 9, true]);
    expect(output.length).toBeLessThan(9 * 1024 * 1024);
    expect(output.startsWith('0123456789')).toBe(true);
    expect(output.endsWith('\nthe end\n')).toBe(true);
  },
  withShellAccounts(),
);

test(
  'TERM-6 a command may be long and have many lines, and other accounts cannot read it',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox, 'dash');
    const heredoc = `cat <<'END'\nit's "quoted" $HOME \\ \`x\`\nEND\ncat <<END\n$((1+1))\nEND`;
    expect(await shell.outcome(heredoc)).toEqual(['completed', 0, `it's "quoted" $HOME \\ \`x\`\n2\n`]);
    const long = `x='${'long '.repeat(200_000)}'; echo \${#x}`;
    expect(await shell.outcome(long)).toEqual(['completed', 0, '1000000\n']);
    expect(await shell.refusal('echo \0')).toBe(422);
    expect(await shell.refusal('')).toBe(422);

    const scripts = join(sandbox.directory, 'tmp');
    const [place = ''] = readdirSync(scripts);
    expect(readdirSync(join(scripts, place))).toEqual([]);
    expect(await shell.outcome(`stat -c %a ${scripts}/.boxkeep-*`)).toEqual(['completed', 0, '711\n']);
  },
  withShellAccounts(),
);

test(
  'TERM-6 a command continues while the daemon crashes and restarts',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    const go = join(sandbox.directory, 'go');
    await shell.exec(`echo before; until test -e ${go}; do sleep 0.05; done; echo behind; (exit 4)`, { timeout: 0.5 });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await shell.record()).toMatchObject({
      status: 'running',
      current_command: expect.stringContaining('until'),
    });
    const next = shell.exec('echo $?');
    writeFileSync(go, '');
    expect(await next).toMatchObject({ status: 'completed', output: '4\n', exit_code: 0 });
    expect(output(sandbox)).toContain('behind');
  },
  withShellAccounts({ expectedWarnings: ['started again by init'] }),
);

test(
  'TERM-6 commands continue through an upgrade: a caller that waits for one, or in the queue, is answered',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    for (const round of ['first', 'second']) {
      const go = join(sandbox.directory, round);
      const running = shell.exec(`echo before; until test -e ${go}; do sleep 0.05; done; echo behind; (exit 4)`);
      await shell.until('it runs', ({ current_command }) => String(current_command).includes('until'));
      const waiting = shell.exec(`echo $? ${round}`);
      const served = sandbox.served();
      expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
      await served;
      expect(await shell.record()).toMatchObject({
        status: 'running',
        current_command: expect.stringContaining('until'),
      });
      writeFileSync(go, '');
      expect(await running).toMatchObject({ status: 'completed', exit_code: 4, output: 'before\nbehind\n' });
      expect(await waiting).toMatchObject({ status: 'completed', exit_code: 0, output: `4 ${round}\n` });
    }
  },
  withShellAccounts(),
);

test(
  'TERM-6 upgrades under load start every command exactly once',
  async ({ sandbox }) => {
    const shells = await Promise.all([1, 2, 3, 4].map(() => Shell.open(sandbox)));
    let isOver = false;
    const counts = shells.map(async (shell) => {
      let count = 0;
      for (; !isOver; count++)
        expect(await shell.outcome(`n=$((n+1)); echo $n`)).toEqual(['completed', 0, `${count + 1}\n`]);
      return count;
    });
    for (let upgrades = 0; upgrades < 3; upgrades++) {
      const served = sandbox.served();
      expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
      await served;
    }
    isOver = true;
    for (const count of await Promise.all(counts)) expect(count).toBeGreaterThan(3);
  },
  withShellAccounts(),
);

test(
  'TERM-6 a command that was recorded and never typed has ended after a restart',
  async ({ sandbox }) => {
    const shell = await Shell.open(sandbox);
    await shell.exec('true');
    await sandbox.ok(`GET /v2/pty/sessions/${shell.id}/screen?wait_stable_ms=300`); // The shell is at its prompt.
    const { pid } = await shell.record();
    // The shell reads no line while the daemon dies; under tmux the line would stay typed.
    process.kill(Number(pid), 'SIGSTOP');
    const lost = shell.exec('echo lost').catch(() => null);
    await shell.until('it is written down', ({ current_command }) => current_command === 'echo lost');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await Promise.all([lost, sandbox.served()]);
    process.kill(Number(pid), 'SIGCONT');
    expect(await shell.outcome('echo next')).toEqual(['completed', 0, 'next\n']);
    expect(output(sandbox)).not.toContain('lost\r\n');
  },
  withShellAccounts({ expectedWarnings: ['started again by init'], env: { SVC_SHELL_BACKEND: 'native' } }),
);

test(
  'TERM-6 unknown and ended sessions run nothing',
  async ({ sandbox }) => {
    expect((await sandbox.request('POST /v2/pty/sessions/none/exec', { command: 'true' })).status).toBe(404);
    const shell = await Shell.open(sandbox);
    await shell.type('exit\r');
    await shell.until('it has ended', ({ status }) => status === 'terminated');
    expect(await shell.refusal('true')).toBe(409);
    expect(await shell.refusal('true', { timeout: -1 })).toBe(422);
    expect(await shell.refusal('true', { on_busy: 'perhaps' })).toBe(422);
  },
  withShellAccounts(),
);

/** The retained output of all sessions. */
function output(sandbox: Sandbox): string {
  const find = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
      const inside = join(path, entry.name);
      return entry.isDirectory() ? find(inside) : entry.name === 'out' ? [readFileSync(inside, 'latin1')] : [];
    });
  return find(sandbox.runtimeDirectory).join('');
}

function sleepers(sandbox: Sandbox): number {
  return sandbox.processes().filter(({ command }) => command === 'sleep 30').length;
}

test('TERM-6 PROMISE-3 a command whose shell is lost before its start was seen is not run again', async ({
  sandbox,
}) => {
  const ran = join(sandbox.directory, 'ran');
  const exec = (command: string) => sandbox.ok('POST /v2/pty/sessions/lost/exec', { command });
  await sandbox.ok('POST /v2/pty/sessions', { id: 'lost' });
  // The script shows the prompt before the start mark: the keeper stops there, so that it never reads the mark.
  await exec(`PS1='$([ -z "$__sbx_t" ] || kill -STOP $PPID)$ '`);
  const lost = exec(`echo ran >> ${ran}; sleep 1008`);
  await until('the command has written', () => existsSync(ran) && readFileSync(ran, 'utf8') === 'ran\n');
  for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
  expect(await lost).toMatchObject({ status: 'terminated', exit_code: null });
  expect(await exec('echo next')).toMatchObject({ status: 'completed', output: 'next\n' });
  expect(readFileSync(ran, 'utf8')).toBe('ran\n');
});
