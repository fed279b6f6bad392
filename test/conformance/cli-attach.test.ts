/** `boxkeep attach`: a terminal session at a local terminal, which tmux provides, and in a pipe. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { client, Client } from '../harness/cli-client.ts';
import { clientCommand, expect, test, type Sandbox } from '../harness/sandbox.ts';
import { needPrograms } from '../harness/programs.ts';
import { Tmux, type Keys, type Pane } from '../harness/tmux.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };
const mebibyte = 1024 * 1024;
const enter = { key: 'Enter' };
const detachKeys: readonly Keys[] = [{ key: 'C-\\' }, 'd'];
const prompt = /[$#] *$/;

/** A proxy to the daemon whose connections a test can cut and block. */
class BlockableProxy implements Disposable {
  readonly #sockets = new Set<Socket>();
  isBlocked = false;

  private constructor(
    private readonly server: Server,
    private readonly port: () => number,
  ) {
    server.on('connection', (near) => this.#pass(near));
  }

  static async to(sandbox: Sandbox): Promise<BlockableProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new BlockableProxy(server, () => Number(new URL(sandbox.url).port));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  [Symbol.dispose](): void {
    this.cut();
    this.server.close();
  }

  #pass(near: Socket): void {
    near.on('error', () => null); // The proxy cuts the connection on purpose.
    if (this.isBlocked) {
      near.destroy();
      return;
    }
    const far = connect(this.port(), '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => null); // The proxy cuts the connection on purpose.
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

/** A tmux server of the test. */
function tmuxOf(sandbox: Sandbox): Tmux {
  needPrograms('tmux');
  return new Tmux(sandbox.directory);
}

/** A new shell finds no settings of the account, because the machine's settings may take long. */
function attachArguments(url: string, ...args: readonly string[]): string[] {
  return ['attach', url, ...args, '--env', 'HOME=/'];
}

function attachCommand(url: string, ...args: readonly string[]): string[] {
  return [...clientCommand(), ...attachArguments(url, ...args)];
}

function paneOf(sandbox: Sandbox, tmux: Tmux, command: readonly string[], env: Record<string, string> = {}): Pane {
  const variables = { TERM: 'xterm-256color', LANG: 'C.UTF-8', BOXKEEP_TEST_ID: sandbox.id, ...env };
  return tmux.pane({ command, cwd: sandbox.directory, env: variables });
}

/** A pane with an attached session that waits for a line. */
async function attached(sandbox: Sandbox, tmux: Tmux, ...args: readonly string[]): Promise<Pane> {
  const pane = paneOf(sandbox, tmux, attachCommand(sandbox.url, ...args));
  await pane.ends(prompt);
  return pane;
}

/** The same program at a local terminal and at the terminal of a session. */
class SideBySide {
  private constructor(
    readonly here: Pane,
    readonly there: Pane,
  ) {}

  static async start(sandbox: Sandbox, tmux: Tmux, url: string, script: string): Promise<SideBySide> {
    const { directory } = sandbox;
    const run = join(directory, 'run.sh');
    const variables = `TERM=xterm-256color LANG=C.UTF-8 HOME=${directory} PATH=${process.env['PATH']}`;
    writeFileSync(run, `cd ${directory}\nexec env -i ${variables} ${script}\n`);
    const there = paneOf(sandbox, tmux, attachCommand(url, 'side', '--cwd', directory));
    await there.ends(prompt);
    there.type(`exec sh ${run}`, enter);
    const here = paneOf(sandbox, tmux, ['sh', run]);
    return new SideBySide(here, there);
  }

  type(...keys: readonly Keys[]): void {
    for (const pane of [this.here, this.there]) pane.type(...keys);
  }

  resize(cols: number, rows: number): void {
    for (const pane of [this.here, this.there]) pane.resize(cols, rows);
  }

  /** Compares every cell with its colours, the cursor and the modes, once this text is on the screen. */
  async same(text: string | RegExp): Promise<void> {
    const { here, there } = this;
    await here.shows(text);
    const isSame = () => here.cells === there.cells && here.state === there.state;
    await until('both terminals show the same', isSame).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${here.state}\n${there.state}\n${difference(here.cells, there.cells)}`);
    });
  }

  /** Presses a key that changes the screen. */
  async press(key: string): Promise<void> {
    const { here, there } = this;
    const [hereBefore, thereBefore] = [here.cells, there.cells];
    this.type(key);
    await until(`${key} is seen`, () => here.cells !== hereBefore && there.cells !== thereBefore);
    await this.same('');
  }

  async ended(): Promise<void> {
    expect(await this.there.ended()).toBe(await this.here.ended());
  }
}

/** The rows that differ. */
function difference(here: string, there: string): string {
  const [left, right] = [here.split('\n'), there.split('\n')];
  const rows = left.map((row, at) => (row === right[at] ? [] : [at, JSON.stringify(row), JSON.stringify(right[at])]));
  return rows.flat().join('\n');
}

const story = Array.from({ length: 400 }, (_, at) => {
  const words = ['while (true) {', '/* 世界, größer */', '"emoji 👍🏽 🇫🇷"', '\ttab', `int line_${at} = ${at * at};`, '}'];
  return `${words[at % words.length]} ${'x'.repeat((at * 7) % 90)} line ${at}`;
}).join('\n');

function killDaemon(sandbox: Sandbox): void {
  process.kill(sandbox.daemonPid, 'SIGKILL');
}

async function sideBySide(
  sandbox: Sandbox,
  script: string,
  body: (both: SideBySide, way: { readonly proxy: BlockableProxy }) => Promise<void>,
): Promise<void> {
  needPrograms('vim', 'less', 'top', 'htop');
  await using tmux = tmuxOf(sandbox);
  using proxy = await BlockableProxy.to(sandbox);
  writeFileSync(join(sandbox.directory, 'story.c'), story);
  // The status line always shows the size that the editor knows.
  const status = 'set laststatus=2 statusline=%f\\ %{&columns}x%{&lines}\\ %l,%c\\ %P';
  writeFileSync(join(sandbox.directory, 'settings.vim'), `set number hlsearch mouse=a\n${status}\n`);
  const both = await SideBySide.start(sandbox, tmux, proxy.url, script);
  await body(both, { proxy });
  await both.ended();
}

test(
  'TERM-10 vim looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts',
  async ({ sandbox }) => {
    const vim = "vim -u NONE -i NONE -n -N -c 'syntax on' -S settings.vim story.c";
    await sideBySide(sandbox, vim, async (both, { proxy }) => {
      await both.same('Top');
      both.type('/while', enter, 'n', 'itext 世界', { key: 'Escape' });
      await both.same('text 世界');
      proxy.cut();
      both.type(':split', enter, { key: 'C-w' }, 'j', 'G');
      await both.same('Bot');
      both.resize(100, 33);
      await both.same('100x33');
      both.type(':set list', enter);
      await both.same('^I');
      killDaemon(sandbox);
      both.type('gg', 'V', '3j', ':s/x/yy/g', enter);
      await both.same('substitutions');
      both.resize(61, 19);
      await both.same('61x19');
      both.type(':cq', enter);
    });
  },
  restarted,
);

test(
  'TERM-10 less looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts',
  async ({ sandbox }) => {
    await sideBySide(sandbox, 'less -M story.c', async (both, { proxy }) => {
      await both.same('lines 1-');
      both.type('100g');
      await both.same('lines 100-');
      proxy.cut();
      both.type('200g', 'k', 'k');
      await both.same('lines 198-');
      both.type('/emoji', enter);
      await both.same('lines 201-');
      both.resize(50, 40);
      await both.same(/\n(?:.*\n){38}.*lines 201-/);
      both.type('G');
      await both.same('(END)');
      killDaemon(sandbox);
      both.type('-S', enter, 'g');
      await both.same('lines 1-39');
      both.type('q');
    });
  },
  restarted,
);

/** A frozen copy of /proc for the system and some processes, so that a monitor's screen does not change. */
function frozenProc(sandbox: Sandbox): string {
  const frozen = join(sandbox.directory, 'proc');
  const system = ['stat', 'uptime', 'loadavg', 'meminfo', 'vmstat', 'cpuinfo', 'version', 'filesystems', 'sys/kernel'];
  const kept = (path: string) => {
    const source = join('/proc', path);
    if (!existsSync(source)) return;
    mkdirSync(join(frozen, path, '..'), { recursive: true });
    writeFileSync(join(frozen, path), readFileSync(source));
  };
  for (const path of system.slice(0, -1)) kept(path);
  for (const name of ['pid_max', 'osrelease']) kept(`sys/kernel/${name}`);
  for (const pid of [1, process.pid]) {
    const files = ['stat', 'statm', 'status', 'cmdline', 'comm', 'cgroup', 'oom_score', 'wchan'];
    for (const file of files) for (const place of ['', `task/${pid}/`]) kept(`${pid}/${place}${file}`);
  }
  for (const pid of [1, process.pid]) {
    for (const place of ['', `task/${pid}/`])
      writeFileSync(join(frozen, `${pid}/${place}cmdline`), `frozen-${pid}\0--now\0`);
  }
  symlinkSync(String(process.pid), join(frozen, 'self'));
  return frozen;
}

function monitor(sandbox: Sandbox, program: string): string {
  return `unshare --mount sh -c 'mount --bind ${frozenProc(sandbox)} /proc && exec ${program}'`;
}

test(
  'TERM-10 top looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts',
  async ({ sandbox }) => {
    await sideBySide(sandbox, monitor(sandbox, 'top -d 1 -o PID'), async (both, { proxy }) => {
      await both.here.shows('PID USER');
      await both.there.shows('PID USER');
      both.type('l'); // Hides the line with the time of day.
      await both.same(/^Tasks/);
      for (const key of ['z', 'x', '1']) await both.press(key);
      proxy.cut();
      for (const key of ['V', 'c']) await both.press(key);
      await both.same('frozen-1 +');
      both.resize(120, 20);
      await both.press('t');
      killDaemon(sandbox);
      await both.press('?');
      await both.same('to continue');
      await both.press('q');
      both.type('q');
    });
  },
  restarted,
);

test(
  'TERM-10 htop looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts',
  async ({ sandbox }) => {
    await sideBySide(sandbox, monitor(sandbox, 'htop -d 10 --sort-key PID'), async (both, { proxy }) => {
      await both.same('F10Quit');
      both.type('t', { key: 'Down' });
      await both.same('F5List');
      proxy.cut();
      both.type({ key: 'F6' });
      await both.same('Sort by');
      both.type({ key: 'Escape' });
      await both.same('F5List');
      both.resize(110, 31);
      await both.same(/\n(?:.*\n){29}.*F10Quit/);
      killDaemon(sandbox);
      both.type({ key: 'F1' });
      await both.same('Press any key to return');
      both.type('q');
      await both.same('F10Quit');
      both.type({ key: 'F10' });
    });
  },
  restarted,
);

/** Runs a command at the terminal and reports the terminal's settings before and after. */
function framed(sandbox: Sandbox, ...args: readonly string[]): string[] {
  const stty = (name: string) => `stty -a > ${join(sandbox.directory, name)}`;
  const script = `${stty('before')}; "$@"; code=$?; ${stty('after')}; echo "code $code"; cat`;
  return ['sh', '-c', script, 'sh', ...attachCommand(sandbox.url, ...args)];
}

function expectRestored(sandbox: Sandbox): void {
  const [before, after] = ['before', 'after'].map((name) => readFileSync(join(sandbox.directory, name), 'utf8'));
  expect(after).toBe(before ?? '');
  expect(before).toContain(' icanon');
}

test('TERM-10 the detach keys leave the session running and restore the local terminal', async ({ sandbox }) => {
  await using tmux = tmuxOf(sandbox);
  const pane = paneOf(sandbox, tmux, framed(sandbox, 'work'));
  await pane.shows(/\[new session work; Ctrl-\\ d detaches\]/);
  await pane.ends(prompt);
  const before = pane.state.replace(/^.*cursor_flag/, '');
  // An editor's screen, mouse, keys and cursor.
  pane.type("printf '\\033[?1049h\\033[?1002;1006h\\033[?1h\\033=\\033[?25l\\033[5;9rinside'; x=kept; cat", enter);
  await until('the program has the screen', () => pane.state.includes('alternate_on=1'));
  pane.type(...detachKeys);
  await pane.shows(`[detached from work; boxkeep attach ${sandbox.url} work returns]`);
  await pane.shows('code 0');
  expectRestored(sandbox);
  expect(pane.state.replace(/^.*cursor_flag/, '')).toBe(before);

  expect(await sandbox.ok('GET /v2/pty/sessions/work')).toMatchObject({ status: 'running', retention: 'persistent' });
  const again = paneOf(sandbox, tmux, attachCommand(sandbox.url, 'work', '--detach-key', 'ctrl-p,ctrl-q'));
  await again.shows('inside');
  expect(again.state).toContain('alternate_on=1');
  again.type({ key: 'C-c' });
  await again.ends(prompt);
  again.type("printf '\\033[?1049l\\033[r'; echo $x $((1+1))", enter);
  await again.shows('kept 2');
  again.type({ key: 'C-p' }, { key: 'C-q' });
  expect(await again.ended()).toBe(0);
  // The editor's screen has covered the line meanwhile.
  expect(again.history).toContain('[session work; Ctrl-P Ctrl-Q detaches]');
});

test('TERM-10 an incomplete detach sequence, Ctrl-C and Ctrl-Z are sent to the session', async ({ sandbox }) => {
  await using tmux = tmuxOf(sandbox);
  const pane = await attached(sandbox, tmux, 'keys');
  pane.type('stty raw -echo; od -An -c -w1 -N 5', enter);
  await until('od reads', async () =>
    String((await sandbox.ok('GET /v2/pty/sessions/keys'))['current_command']).startsWith('od'),
  );
  pane.type({ key: 'C-\\' }, 'x', { key: 'C-c' }, { key: 'C-z' }, { key: 'C-\\' });
  await pane.shows(/034\s+x\s+003\s+032\s+034/);
  pane.type('stty sane; exit 0', enter);
  expect(await pane.ended()).toBe(0);
});

test('TERM-10 when the shell exits, attach exits with its code and restores the local terminal', async ({
  sandbox,
}) => {
  await using tmux = tmuxOf(sandbox);
  const pane = paneOf(sandbox, tmux, framed(sandbox, 'one'));
  await pane.ends(prompt);
  pane.type('exit 7', enter);
  await pane.shows('code 7');
  expectRestored(sandbox);
  const killed = await attached(sandbox, tmux, 'two');
  killed.type('kill -KILL $$', enter);
  expect(await killed.ended()).toBe(137);
});

test('TERM-10 a signal to attach detaches and restores the local terminal', async ({ sandbox }) => {
  await using tmux = tmuxOf(sandbox);
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    const pane = paneOf(sandbox, tmux, framed(sandbox, signal));
    await pane.ends(prompt);
    process.kill(clientPid(pane), signal);
    await pane.shows(`code ${code}`);
    expectRestored(sandbox);
    expect(await sandbox.ok(`GET /v2/pty/sessions/${signal}`)).toMatchObject({ status: 'ready' });
  }
});

test(
  'TERM-10 PROMISE-1 input typed while the daemon is away is kept and sent once',
  async ({ sandbox }) => {
    await using tmux = tmuxOf(sandbox);
    using proxy = await BlockableProxy.to(sandbox);
    const marks = join(sandbox.directory, 'marks');
    const pane = paneOf(sandbox, tmux, attachCommand(proxy.url, 'typed'));
    await pane.ends(prompt);
    for (let round = 0; round < 5; round++) {
      proxy.isBlocked = true;
      if (round % 2 === 0) proxy.cut();
      else killDaemon(sandbox);
      for (const part of ['a', 'b', 'c']) pane.type(`echo ${round}${part} >> ${marks}`, enter);
      proxy.isBlocked = false;
      await until(
        'the last line was run',
        () => existsSync(marks) && readFileSync(marks, 'utf8').includes(`${round}c`),
      );
    }
    const expected = [0, 1, 2, 3, 4].flatMap((round) => ['a', 'b', 'c'].map((part) => `${round}${part}\n`)).join('');
    expect(readFileSync(marks, 'utf8')).toBe(expected);
    pane.type(...detachKeys);
    expect(await pane.ended()).toBe(0);
  },
  restarted,
);

test('TERM-10 a long outage is shown over the screen, and the screen is whole again after it', async ({ sandbox }) => {
  await using tmux = tmuxOf(sandbox);
  using proxy = await BlockableProxy.to(sandbox);
  const pane = paneOf(sandbox, tmux, attachCommand(proxy.url, 'away'));
  await pane.ends(prompt);
  pane.type('echo be""fore', enter);
  await pane.shows('before\n');
  proxy.isBlocked = true;
  proxy.cut();
  await pane.shows('is not reachable; attach keeps your input');
  pane.type('echo af""ter', enter);
  proxy.isBlocked = false;
  await pane.shows('after\n');
  expect(pane.cells).not.toContain('is not reachable');
  expect(pane.cells).toContain('before');
  pane.type(...detachKeys);
  expect(await pane.ended()).toBe(0);
});

test(
  'TERM-10 PROMISE-1 input typed while the daemon is killed or the connection is cut arrives once and in order',
  async ({ sandbox }) => {
    using proxy = await BlockableProxy.to(sandbox);
    const typed = join(sandbox.directory, 'typed');
    const run = new Client(sandbox, attachArguments(proxy.url, 'lines'));
    run.process.stdin.write(`stty raw -echo; : > ${typed}; echo rea''dy; head -c 300000 >> ${typed}; exit 6\n`);
    await run.says('ready');
    const bytes = Buffer.from(randomBytes(150_000).toString('hex'));
    for (let round = 0; round < 30; round++) {
      for (let part = 0; part < 20; part++) {
        const at = (round * 20 + part) * 500;
        run.process.stdin.write(bytes.subarray(at, at + 500));
        if (part % 5 === 0) await until('some of it is typed', () => statSync(typed).size >= at - 20_000);
      }
      if (round % 10 === 5) {
        killDaemon(sandbox);
        await sandbox.served();
      } else {
        proxy.cut();
      }
    }
    const { code, stderr } = await run.ended();
    expect([code, stderr]).toEqual([6, '[new session lines]\n']);
    expect(sha256(readFileSync(typed))).toBe(sha256(bytes));
  },
  restarted,
);

test(
  'TERM-10 PROMISE-1 a pipe loses and repeats no output byte when the daemon is killed and the connection is cut',
  async ({ sandbox }) => {
    using proxy = await BlockableProxy.to(sandbox);
    const bytes = randomBytes(10 * mebibyte);
    const file = join(sandbox.directory, 'bytes');
    writeFileSync(file, bytes);
    const run = new Client(sandbox, attachArguments(proxy.url, 'flood'));
    const [begin, end] = [randomUUID(), randomUUID()];
    // The echoed line does not contain the mark.
    const half = (text: string) => `${text.slice(0, 9)}''${text.slice(9)}`;
    run.process.stdin.write(`stty raw -echo; printf '${half(begin)}'; cat ${file}; printf '${half(end)}'; exit 7\n`);
    for (const at of [2, 5, 8]) {
      await until('more has come', () => run.stdoutBytes > at * mebibyte);
      if (at === 5) proxy.cut();
      else {
        killDaemon(sandbox);
        await sandbox.served();
      }
    }
    const { code, stdout, stderr } = await run.ended();

    expect(code).toBe(7);
    const from = stdout.indexOf(begin) + begin.length;
    const shown = stdout.subarray(from, stdout.indexOf(end, from));
    expect([shown.length, sha256(shown)], `attach reported: ${stderr}`).toEqual([bytes.length, sha256(bytes)]);
  },
  restarted,
);

test('TERM-10 from a pipe all input is typed unchanged, its end detaches, and --read-only sends no input', async ({
  sandbox,
}) => {
  const marks = join(sandbox.directory, 'marks');
  const run = new Client(sandbox, attachArguments(sandbox.url, 'piped'));
  const lines = Array.from({ length: 200 }, (_, at) => `echo ${at} >> ${marks}\n`);
  run.process.stdin.end(lines.join(''));
  expect(await run.ended()).toMatchObject({
    code: 0,
    stderr: `[new session piped]\n[detached from piped; boxkeep attach ${sandbox.url} piped returns]\n`,
  });
  await until('all of it was run', () => existsSync(marks) && readFileSync(marks, 'utf8').endsWith('\n199\n'));
  expect(readFileSync(marks, 'utf8')).toBe(lines.map((_, at) => `${at}\n`).join(''));

  const withoutInput = (...flags: string[]) => {
    const [program = '', ...args] = attachCommand(sandbox.url, 'piped', ...flags);
    const env = { PATH: process.env['PATH'], TMPDIR: join(sandbox.directory, 'tmp') };
    return Bun.spawn([program, ...args], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env });
  };
  const ended = withoutInput();
  expect(await ended.stderr.text()).toBe(
    `[the session existed already: --env had no effect]\n[detached from piped; boxkeep attach ${sandbox.url} piped returns]\n`,
  );
  expect(await ended.exited).toBe(0);

  const reader = withoutInput('--read-only', '--offset', '0');
  await until(
    'a read-only client is attached',
    async () => (await sandbox.ok('GET /v2/pty/sessions/piped'))['attached'] === 1,
  );
  await sandbox.ok('POST /v2/pty/sessions/piped/input', { input: 'exit 9', press_enter: true });
  const shown = await reader.stdout.text();
  expect(await reader.exited).toBe(9);
  expect(shown).toContain('echo 0 >>');
  expect(shown).toContain('exit 9');
});

test('TERM-10 --read-only begins with the current screen where stdout is not a terminal', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/pty/sessions', { id: 'looked-at' });
  await sandbox.ok('POST /v2/pty/sessions/looked-at/input', { input: 'echo before-$((40 + 2))', press_enter: true });
  await until('the shell has answered', async () =>
    JSON.stringify(await sandbox.ok('GET /v2/pty/sessions/looked-at/screen')).includes('before-42'),
  );
  // A first durable socket gets all output in any case.
  const first = new Client(sandbox, attachArguments(sandbox.url, 'looked-at', '--read-only'));
  await first.says('before-42');
  const reader = new Client(sandbox, attachArguments(sandbox.url, 'looked-at', '--read-only', '--cwd', '/usr'));
  await reader.says('before-42');
  await sandbox.ok('POST /v2/pty/sessions/looked-at/input', { input: 'exit 9', press_enter: true });
  for (const each of [first, reader]) {
    const { code, stdout } = await each.ended();
    expect(code).toBe(9);
    expect(stdout.toString().split('before-42')).toHaveLength(2);
  }
  expect((await reader.ended()).stderr).toContain('--cwd and --env had no effect');
});

test('TERM-10 --read-only shows the text of a session in a window with fewer rows', async ({ sandbox }) => {
  await using tmux = tmuxOf(sandbox);
  await sandbox.ok('POST /v2/pty/sessions', { id: 'tall', env: { HOME: '/' }, rows: 40 });
  await sandbox.ok('POST /v2/pty/sessions/tall/exec', { command: 'echo shown-$((40 + 2))' });
  const command = attachCommand(sandbox.url, 'tall', '--read-only');
  const env = { TERM: 'xterm-256color', LANG: 'C.UTF-8', BOXKEEP_TEST_ID: sandbox.id };
  const reader = tmux.pane({ command, cwd: sandbox.directory, env, rows: 8 });
  await reader.shows('shown-42');
  reader.type(...detachKeys);
  expect(await reader.ended()).toBe(0);
});

test('TERM-10 without a name attach creates a session that expires; --read-only types nothing and keeps the size', async ({
  sandbox,
}) => {
  await using tmux = tmuxOf(sandbox);
  const pane = paneOf(sandbox, tmux, attachCommand(sandbox.url, '--env', 'GREETING=salut', '--cwd', '/usr'));
  await pane.shows('[new session attach-');
  await pane.ends(prompt);
  const { sessions } = await sandbox.ok('GET /v2/pty/sessions');
  const [id = ''] = Object.keys(sessions);
  expect(sessions[id]).toMatchObject({ retention: 'expiring', cols: 80, rows: 24, working_dir: '/usr' });

  const reader = paneOf(sandbox, tmux, attachCommand(sandbox.url, id, '--read-only'));
  // The screen of the session scrolls this line off the top.
  await until('the reader names the session', () => reader.history.includes(`[session ${id}`));
  reader.resize(120, 40);
  await until('both are at it', async () => (await sandbox.ok(`GET /v2/pty/sessions/${id}`))['attached'] === 2);
  reader.type('echo no', enter);
  pane.type('echo $GREETING', enter);
  await reader.shows(/^salut/m);
  expect(reader.text).not.toContain('echo no');
  expect(await sandbox.ok(`GET /v2/pty/sessions/${id}`)).toMatchObject({ cols: 80, rows: 24 });
  pane.resize(100, 30);
  await until('the size is that of the terminal', async () => {
    const { cols, rows } = await sandbox.ok(`GET /v2/pty/sessions/${id}`);
    return cols === 100 && rows === 30;
  });
  reader.type(...detachKeys);
  expect(await reader.ended()).toBe(0);
  const other = paneOf(sandbox, tmux, attachCommand(sandbox.url, id, '--read-only'));
  await until('it tells the two sizes', () =>
    other.history.includes(`[session ${id}, which has 100 columns and 30 rows; this terminal has 80 and 24; `),
  );
  // The line stands there before the terminal is raw.
  await until('both are at it again', async () => (await sandbox.ok(`GET /v2/pty/sessions/${id}`))['attached'] === 2);
  other.type(...detachKeys);
  expect(await other.ended()).toBe(0);
  pane.type('exit', enter);
  expect(await pane.ended()).toBe(0);
});

const key = `canary-${randomUUID()}`;

test(
  'TERM-10 a usage error is one line, and the key comes only from the environment',
  async ({ sandbox }) => {
    const { url } = sandbox;
    const wrong = [
      [[], 'the address of a daemon is missing'],
      [[url, 'a', 'b'], 'unexpected argument'],
      [[url, '--read-only'], '--read-only needs a session to look at'],
      [[url, 'none', '--read-only'], 'there is no session none'],
      [[url, '--detach-key', 'escape'], '--detach-key takes keys as '],
      [[url, '--colour=secret'], 'unknown flag --colour'],
      [[url, '--api-key', key], 'a key in the arguments can be seen'],
      [[url, 'x', '--cwd', '/nowhere'], 'cwd /nowhere'],
      [[url, '../x'], ''],
      [['127.0.0.1:1'], 'cannot reach http://127.0.0.1:1: connection refused'],
    ] as const;
    for (const [args, line] of wrong) {
      const { code, stdout, stderr } = await client(sandbox, ['attach', ...args], { SVC_API_KEY: key });
      expect([code, stdout.length, stderr]).toEqual([125, 0, expect.stringMatching(/^[^\n]+\n$/)]);
      expect(stderr).toStartWith(`boxkeep: attach: ${line}`);
      expect(stderr).not.toContain(key);
    }
    expect((await client(sandbox, ['attach', url])).stderr).toBe(
      `boxkeep: attach: ${url} needs a key (Set SVC_API_KEY to the key of the daemon.)\n`,
    );
    const help = await client(sandbox, ['attach', '--help']);
    expect(help.stdout.toString()).toContain('SVC_API_KEY');
    const run = new Client(sandbox, attachArguments(url, 'keyed'), { SVC_API_KEY: key });
    run.process.stdin.write('env; exit 3\n');
    const { code, stdout } = await run.ended();
    expect([code, stdout.includes(key)]).toEqual([3, false]);
  },
  { env: { SVC_API_KEY: key } },
);

test('TERM-10 attach ends with one line when the session is closed or the daemon stops', async ({ sandbox }) => {
  const closed = new Client(sandbox, attachArguments(sandbox.url, 'closed'));
  await until('it is attached', () => closed.stdoutBytes > 0);
  await sandbox.ok('DELETE /v2/pty/sessions/closed');
  const { code } = await closed.ended();
  expect(code).toBeGreaterThan(127);

  const left = new Client(sandbox, attachArguments(sandbox.url, 'left', '--reconnect', '1'));
  await until('it is attached', () => left.stdoutBytes > 0);
  await sandbox.stop();
  const outcome = await left.ended();
  expect(outcome.code).toBeGreaterThan(124);
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The attach process at a pane, below the shell that started it. */
function clientPid(pane: Pane): number {
  const children = (pid: number): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const descendants = (pid: number): number[] => children(pid).flatMap((child) => [child, ...descendants(child)]);
  return descendants(pane.pid).at(-1) ?? 0;
}
