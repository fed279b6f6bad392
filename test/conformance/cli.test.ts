/** The subcommands that are clients, exec, ps, kill and logs, as a shell sees them. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { client, Client, type Ended } from '../harness/cli-client.ts';
import { expect, clientCommand, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };
const mebibyte = 1024 * 1024;
const key = `canary-${randomUUID()}`;

function exec(sandbox: Sandbox, ...command: string[]): Promise<Ended> {
  return client(sandbox, ['exec', sandbox.url, '--', ...command]);
}

/** A script that prints that it is ready, then waits for a signal. */
function waiting(trap: string): string[] {
  return ['sh', '-c', `${trap}; echo ready; while :; do sleep 0.05; done`];
}

function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function newestId(sandbox: Sandbox): Promise<string> {
  const { commands } = await sandbox.ok('GET /v2/commands');
  return commands.at(-1).command_id;
}

test('CLI-EXIT exec exits with the code of the command, and with 128 + n after signal n', async ({ sandbox }) => {
  for (const code of [0, 1, 2, 77, 124, 125, 126, 127, 128, 200, 255]) {
    expect(await exec(sandbox, 'sh', '-c', `exit ${code}`)).toEqual({ code, stdout: Buffer.alloc(0), stderr: '' });
  }
  for (const [signal, code] of [
    ['HUP', 129],
    ['INT', 130],
    ['ABRT', 134],
    ['KILL', 137],
    ['SEGV', 139],
    ['TERM', 143],
  ] as const) {
    expect((await exec(sandbox, 'sh', '-c', `ulimit -c 0; kill -${signal} $$`)).code).toBe(code);
  }
});

test('CLI-FAILED a command that cannot start exits with 127 or 126, as in a shell, and one that is not permitted with 125', async ({
  sandbox,
}) => {
  const plain = join(sandbox.directory, 'plain');
  writeFileSync(plain, 'no program\n', { mode: 0o644 });

  expect(await exec(sandbox, 'no-such-program')).toMatchObject({
    code: 127,
    stderr: 'boxkeep: exec: cannot run no-such-program: no such file or directory\n',
  });
  expect(await exec(sandbox, plain)).toMatchObject({
    code: 126,
    stderr: `boxkeep: exec: cannot run ${plain}: permission denied\n`,
  });
  const nowhere = await client(sandbox, ['exec', sandbox.url, '--cwd', '/nowhere', '--', 'true']);
  expect(nowhere).toMatchObject({ code: 125, stderr: expect.stringMatching(/^boxkeep: exec: cwd \/nowhere.*\n$/) });
});

test('CLI-STREAMS stdout and stderr stay separate, byte for byte', async ({ sandbox }) => {
  const [out, err] = [randomBytes(300_000), randomBytes(200_000)];
  const [outPath, errPath] = [join(sandbox.directory, 'out'), join(sandbox.directory, 'err')];
  writeFileSync(outPath, out);
  writeFileSync(errPath, err);
  const streams = join(sandbox.directory, 'stderr-of-client');
  const [program = '', ...before] = clientCommand();
  const args = [...before, 'exec', sandbox.url, '--', 'sh', '-c', 'cat "$0"; cat "$1" >&2', outPath, errPath];
  const descriptor = openSync(streams, 'w');
  const run = spawn(program, args, {
    stdio: ['ignore', 'pipe', descriptor],
    env: { PATH: process.env['PATH'], TMPDIR: join(sandbox.directory, 'tmp') },
  });
  closeSync(descriptor);
  const pieces: Buffer[] = [];
  run.stdout?.on('data', (bytes: Buffer) => pieces.push(bytes));
  await once(run, 'close');

  expect(run.exitCode).toBe(0);
  expect(Buffer.concat(pieces).equals(out)).toBe(true);
  expect(readFileSync(streams).equals(err)).toBe(true);
});

test('CLI-FLAGS flags set directory, account, environment, session, script and timeout', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 'build', env: { FROM: 'session' } });
  const flags = ['--cwd', '/usr', '--user', '1', '--env', 'A=1=2', '--env=B=', '--env', 'HERE', '--session', 'build'];
  const script = ['--shell', '--', 'pwd; id -u;', 'echo "$A,$B,$HERE,$FROM"'];

  const run = await client(sandbox, ['exec', ...flags, sandbox.url, ...script], { HERE: 'there' });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout.toString()).toBe('/usr\n1\n1=2,,there,session\n');
  expect(await client(sandbox, ['exec', sandbox.url, '--timeout', '0.2', '--', 'sleep', '1000'])).toMatchObject({
    code: 124,
    stderr: 'boxkeep: exec: the command was ended by --timeout\n',
  });
  expect((await exec(sandbox, 'printf', '[%s]', 'a b', '$HOME', '--api-key', '')).stdout.toString()).toBe(
    '[a b][$HOME][--api-key][]',
  );
});

test('CLI-FLAGS exec needs no --, and takes each word from the first of the command on as it is', async ({
  sandbox,
}) => {
  const printed = async (...args: string[]) => (await client(sandbox, ['exec', ...args])).stdout.toString();
  const print = ['printf', '[%s]', '--cwd', '--help', '-x'];
  expect(await printed(sandbox.url, ...print)).toBe('[--cwd][--help][-x]');
  expect(await printed(sandbox.url, ...print, '--', '--')).toBe('[--cwd][--help][-x][--][--]');
  expect(await printed('--cwd', '/usr', sandbox.url, '--no-stdin', 'pwd', '-P')).toBe('/usr\n');
  expect(await printed(sandbox.url, '--shell', 'cd /usr && pwd')).toBe('/usr\n');
});

test('CLI-URL the address comes from BOXKEEP_URL, and one with a scheme or a port wins', async ({ sandbox }) => {
  await sandbox.start({ command: 'echo hello; sleep 1000', command_id: 'greets' });
  await until('it has greeted', async () => (await sandbox.ok('GET /v2/commands/greets'))['stdout'] === 'hello\n');
  const bare = sandbox.url.replace('http://', '');
  const nowhere = 'http://127.0.0.1:1';
  for (const [usual, address] of [
    [sandbox.url, []],
    [nowhere, [sandbox.url]],
    [nowhere, [bare]],
  ] as const) {
    const run = async (verb: string, ...args: string[]) => {
      const { code, stdout, stderr } = await client(sandbox, [verb, ...address, ...args], { BOXKEEP_URL: usual });
      return [code, stdout.toString(), stderr];
    };
    expect(await run('exec', '--', 'echo', 'a')).toEqual([0, 'a\n', '']);
    expect(await run('exec', 'echo', 'a')).toEqual([0, 'a\n', '']);
    expect(await run('logs', 'greets')).toEqual([0, 'hello\n', '']);
    expect(await run('ps')).toEqual([0, expect.stringContaining('greets'), '']);
    expect(await run('kill', 'greets', '--signal', 'CONT')).toEqual([0, expect.stringContaining('greets'), '']);
    expect(await run('attach', 'absent', '--read-only')).toEqual([
      125,
      '',
      'boxkeep: attach: there is no session absent\n',
    ]);
  }
  const refused = await client(sandbox, ['ps', 'box'], { BOXKEEP_URL: sandbox.url });
  expect(refused.stderr).toContain('unexpected argument; BOXKEEP_URL is set, so an address needs a port or http://');
  expect((await client(sandbox, ['ps', sandbox.url], { BOXKEEP_URL: '' })).code).toBe(0);
});

test('CLI-STDIN standard input is streamed to the command, with its end', async ({ sandbox }) => {
  const bytes = randomBytes(mebibyte);
  const digest = new Client(sandbox, ['exec', sandbox.url, '--', 'sha256sum']);
  digest.process.stdin.end(bytes);
  expect((await digest.ended()).stdout.toString()).toBe(`${sha256(bytes)}  -\n`);

  const echo = new Client(sandbox, ['exec', sandbox.url, '--', 'cat']);
  for (const word of ['one\n', 'two\n']) {
    echo.process.stdin.write(word);
    await echo.says(word);
  }
  echo.process.stdin.end();
  expect(await echo.ended()).toEqual({ code: 0, stdout: Buffer.from('one\ntwo\n'), stderr: '' });

  // A command that exits without reading ends the client, whatever input is still to come.
  const open = new Client(sandbox, ['exec', sandbox.url, '--', 'sh', '-c', 'exit 4']);
  open.process.stdin.write(bytes);
  expect((await open.ended()).code).toBe(4);
  const none = new Client(sandbox, ['exec', sandbox.url, '--no-stdin', '--', 'cat']);
  expect(await none.ended()).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
});

test(
  'CLI-STDIN standard input stays whole across daemon crashes',
  async ({ sandbox }) => {
    const bytes = randomBytes(8 * mebibyte);
    const copy = new Client(sandbox, ['exec', sandbox.url, '--', 'cat']);
    for (let from = 0; from < bytes.length; from += 2 * mebibyte) {
      copy.process.stdin.write(bytes.subarray(from, from + 2 * mebibyte));
      await until('a part of it has passed', () => copy.stdoutBytes > from);
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
    }
    copy.process.stdin.end();

    const { code, stdout, stderr } = await copy.ended();
    expect([code, stderr, sha256(stdout)]).toEqual([0, '', sha256(bytes)]);
  },
  restarted,
);

test('CLI-SIGNALS Ctrl-C interrupts the tree, a second Ctrl-C kills it, and SIGTERM is forwarded', async ({
  sandbox,
}) => {
  const polite = new Client(sandbox, ['exec', sandbox.url, '--', ...waiting('trap "echo int; exit 9" INT')]);
  await polite.says('ready');
  polite.process.kill('SIGINT');
  expect(await polite.ended()).toEqual({ code: 9, stdout: Buffer.from('ready\nint\n'), stderr: '' });

  const stubborn = new Client(sandbox, ['exec', sandbox.url, '--', ...waiting('trap "echo int" INT')]);
  await stubborn.says('ready');
  stubborn.process.kill('SIGINT');
  await stubborn.says('int');
  stubborn.process.kill('SIGINT');
  expect((await stubborn.ended()).code).toBe(137);

  const stopped = new Client(sandbox, ['exec', sandbox.url, '--', ...waiting('trap "exit 5" TERM')]);
  await stopped.says('ready');
  stopped.process.kill('SIGTERM');
  expect((await stopped.ended()).code).toBe(5);

  // A shell that replaces itself by its last command can lose a SIGINT; one with a loop does not.
  const plain = new Client(sandbox, ['exec', sandbox.url, '--', ...waiting(':')]);
  await plain.says('ready');
  plain.process.kill('SIGINT');
  expect((await plain.ended()).code).toBe(130);
  const hungUp = new Client(sandbox, ['exec', sandbox.url, '--', 'sh', '-c', 'echo ready; sleep 1000']);
  await hungUp.says('ready');
  hungUp.process.kill('SIGHUP');
  expect((await hungUp.ended()).code).toBe(129);
  expect(await sandbox.ended(await newestId(sandbox))).toMatchObject({ signal: 'SIGHUP' });
});

test(
  'CLI-RECONNECT PROMISE-1 the daemon is killed three times during 20 MiB, and the digest and the code are exact',
  async ({ sandbox }) => {
    const script = 'for i in 1 2 3 4 5 6 7 8 9 10; do seq 1 320000; sleep 0.05; done; exit 3';
    const run = new Client(sandbox, ['exec', sandbox.url, '--', 'sh', '-c', script]);
    for (const from of [2, 7, 12]) {
      await until(`${from} MiB have come`, () => run.stdoutBytes > from * mebibyte);
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
    }

    const { code, stdout, stderr } = await run.ended();
    const once = Array.from({ length: 320_000 }, (_, n) => `${n + 1}\n`).join('');
    expect(stdout.length).toBeGreaterThan(20 * mebibyte);
    expect([code, stderr, sha256(stdout)]).toEqual([3, '', sha256(once.repeat(10))]);
  },
  restarted,
);

test('CLI-GONE the client waits for a stopped daemon, then reports where to resume', async ({ sandbox }) => {
  const args = ['exec', sandbox.url, '--reconnect', '0.5', '--', 'sh', '-c', 'echo hello; echo no >&2; sleep 1000'];
  const run = new Client(sandbox, args);
  await run.says('hello');
  await until('stderr has come', () => run.stderr === 'no\n');
  const id = await newestId(sandbox);
  expect(await sandbox.stop()).toBe(0);

  const { code, stdout, stderr } = await run.ended();
  const advice = `to go on: boxkeep logs ${sandbox.url} ${id} -f --offset 6 --stderr-offset 3`;
  expect([code, stdout.toString()]).toEqual([125, 'hello\n']);
  const away = `the daemon was away for 0.5 s: cannot reach ${sandbox.url}: connection refused`;
  expect(stderr).toBe(`no\nboxkeep: exec: ${away}; ${advice}\n`);
});

test('CLI-GONE CLI-SIGNALS a second Ctrl-C while the daemon is away returns the prompt', async ({ sandbox }) => {
  const run = new Client(sandbox, ['exec', sandbox.url, '--', 'sh', '-c', 'echo hello; sleep 1000']);
  await run.says('hello');
  const id = await newestId(sandbox);
  expect(await sandbox.stop()).toBe(0);
  run.process.kill('SIGINT');
  await until('the client has taken it', () => !isSignalPending(run.pid));
  run.process.kill('SIGINT');

  const { code, stderr } = await run.ended();
  const line = `SIGKILL could not be sent, and ${id} may run on: cannot reach ${sandbox.url}: connection refused`;
  expect([code, stderr]).toEqual([130, `boxkeep: exec: ${line}\n`]);
});

/** Two equal signals become one while the first is pending. */
function isSignalPending(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return /^(?:SigPnd|ShdPnd):\s*0*[1-9a-f]/m.test(status);
}

test('CLI-REFUSED an unknown host, or one that does not listen, gives one line at once', async ({ sandbox }) => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');

  const lines = [
    ['no-such-host.invalid', 'cannot reach http://no-such-host.invalid:18091: the host is not known'],
    [`127.0.0.1:${port}`, `cannot reach http://127.0.0.1:${port}: connection refused`],
    ['ftp://127.0.0.1', 'the address of a daemon begins with http:// or https://, not ftp://'],
    ['http://:1', 'the address of a daemon is not a URL (Write http://host:port, or host:port.)'],
    [`${sandbox.url}/elsewhere`, 'no route POST /elsewhere/v2/commands'],
  ] as const;
  for (const [address, line] of lines) {
    const { code, stderr } = await client(sandbox, ['exec', address, '--', 'true']);
    expect([code, stderr]).toEqual([125, expect.stringMatching(/^[^\n]*\n$/)]);
    expect(stderr).toStartWith(`boxkeep: exec: ${line}`);
  }
});

test('CLI-USAGE RUN-VERBS a usage error is one line, and each verb has a help page', async ({ sandbox }) => {
  const wrong = [
    [['exec'], 'the address of a daemon is missing; write it first, or set BOXKEEP_URL'],
    [['exec', sandbox.url], 'the command is missing'],
    [['exec', sandbox.url, '--'], 'the command is missing'],
    [['exec', sandbox.url, '--cwd', '--', 'true'], '--cwd needs a value'],
    [['exec', sandbox.url, '--colour=secret', '--', 'true'], 'unknown flag --colour'],
    [['exec', sandbox.url, '--timeout', 'secret', '--', 'true'], '--timeout needs a number of at least 0.001'],
    [['exec', sandbox.url, '--env', 'NOT_HERE', '--', 'true'], '--env NOT_HERE: there is no such variable here'],
    [['exec', sandbox.url, '--tmeout=1', 'true'], 'unknown flag --tmeout (did you mean --timeout?)'],
    [['ps', sandbox.url, 'more'], 'unexpected argument'],
    [['kill', sandbox.url], 'the id of a command is missing'],
    [['kill', sandbox.url, 'x', '--signal', 'TIRED'], 'no signal is named TIRED'],
    [['logs', sandbox.url, 'x', '--stdout-only', '--stderr-only'], '--stdout-only and --stderr-only leave nothing'],
  ] as const;
  for (const [args, line] of wrong) {
    const { code, stdout, stderr } = await client(sandbox, args);
    expect([code, stdout.length, stderr]).toEqual([125, 0, `boxkeep: ${args[0]}: ${line}\n`]);
  }
  const all = (await client(sandbox, ['--help'])).stdout.toString();
  for (const verb of ['exec', 'ps', 'kill', 'logs']) {
    expect(all).toContain(`boxkeep ${verb} [url]`);
    const page = await client(sandbox, [verb, '--help']);
    expect(page).toMatchObject({ code: 0, stderr: '' });
    expect(page.stdout.toString()).toContain('SVC_API_KEY');
  }
  const codes = (await client(sandbox, ['help', 'exit-codes'])).stdout.toString();
  expect(codes).toMatch(/^  125 +boxkeep itself failed/m);
  expect(codes).toMatch(/^  kill +0 when .* 1\n? *when some live on/m);
});

test(
  'CLI-KEY PROMISE-9 AUTH-1 the key comes from the environment, and a key in the arguments is refused',
  async ({ sandbox }) => {
    for (const env of [
      { SVC_API_KEY: key },
      { SANDBOX_API_KEY: key },
      { SVC_API_KEY: key, SANDBOX_API_KEY: 'other' },
    ]) {
      expect(await client(sandbox, ['exec', sandbox.url, '--', 'true'], env)).toMatchObject({ code: 0, stderr: '' });
    }
    const run = new Client(sandbox, ['exec', sandbox.url, '--', 'sh', '-c', 'env; read line'], { SVC_API_KEY: key });
    await run.says('PATH=');
    expect(readFileSync(`/proc/${run.pid}/cmdline`, 'utf8').includes(key)).toBe(false);
    run.process.stdin.end('\n');
    expect((await run.ended()).stdout.includes(key)).toBe(false);

    const port = new URL(sandbox.url).port;
    for (const args of [
      ['--api-key', key, sandbox.url],
      [`--api-key=${key}`, sandbox.url],
      [`http://u:${key}@127.0.0.1:${port}`],
      [`http://${key}@127.0.0.1:${port}`],
      [`${sandbox.url}?api_key=${key}`],
    ]) {
      const { code, stderr } = await client(sandbox, ['exec', ...args, '--', 'true'], { SVC_API_KEY: key });
      expect(code).toBe(125);
      expect(stderr).toMatch(/^boxkeep: exec: [^\n]*a key in the arguments [^\n]* SVC_API_KEY[^\n]*\n$/i);
      expect(stderr.includes(key)).toBe(false);
    }
    const [none, wrong] = [
      await exec(sandbox, 'true'),
      await client(sandbox, ['ps', sandbox.url], { SVC_API_KEY: 'no' }),
    ];
    const hint = '(Set SVC_API_KEY to the key of the daemon.)';
    expect(none).toMatchObject({ code: 125, stderr: `boxkeep: exec: ${sandbox.url} needs a key ${hint}\n` });
    expect(wrong).toMatchObject({
      code: 125,
      stderr: `boxkeep: ps: ${sandbox.url} does not accept the key ${hint}\n`,
    });
  },
  { env: { SVC_API_KEY: key } },
);

/** Forwards connections, but cuts the first one when an answer begins. */
async function losesFirstAnswer(sandbox: Sandbox): Promise<{ url: string; close: () => void }> {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const isFirst = sockets.length === 0;
    const far = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => null); // The proxy cuts the connection on purpose.
    near.pipe(far);
    if (isFirst) far.once('data', () => sockets.forEach((socket) => socket.destroy()));
    else far.pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

test('CLI-ONCE PROMISE-3 a start whose answer is lost is requested again, and runs once', async ({ sandbox }) => {
  const marks = join(sandbox.directory, 'marks');
  const proxy = await losesFirstAnswer(sandbox);

  const script = 'echo x >> "$0"; echo done; exit 6';
  const run = await client(sandbox, ['exec', proxy.url, '--', 'sh', '-c', script, marks]);
  proxy.close();
  expect(run).toEqual({ code: 6, stdout: Buffer.from('done\n'), stderr: '' });
  expect(readFileSync(marks, 'utf8')).toBe('x\n');
});

test(
  'CLI-SLOW a slow reader loses no byte, and the client does not grow',
  async ({ sandbox }) => {
    const run = new Client(sandbox, ['exec', sandbox.url, '--', 'seq', '1', '13000000']);
    run.process.stdout.pause();
    await until('it has started', async () => (await sandbox.ok('GET /v2/commands'))['commands'].length === 1);
    // The command does not wait for its reader; only the client does.
    const id = await newestId(sandbox);
    expect(await sandbox.ended(id)).toMatchObject({ exit_code: 0 });
    const { offset } = await sandbox.ok(`GET /v2/commands/${id}?offset=${Number.MAX_SAFE_INTEGER}`);
    expect(offset).toBeGreaterThan(100_000_000);
    const peak = Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${run.pid}/status`, 'utf8'))?.[1]);
    expect(peak).toBeLessThan(160 * 1024);
    run.process.stdout.resume();

    const { code, stdout } = await run.ended();
    expect([code, stdout.length]).toEqual([0, offset]);
    expect(stdout.subarray(-18).toString()).toBe('12999999\n13000000\n');
  },
  { env: { SVC_STREAM_KEPT_MIB: '256', SVC_TOTAL_KEPT_MIB: '4096' } },
); // More than the default retention in memory.

test('CLI-PIPE when the reader of a pipe closes, the client exits quietly and the command receives a hangup', async ({
  sandbox,
}) => {
  const run = new Client(sandbox, ['exec', sandbox.url, '--', 'yes']);
  await run.says('y\n');
  run.process.stdout.destroy();

  expect(await run.ended()).toMatchObject({ code: 141, stderr: '' });
  expect(await sandbox.ended(await newestId(sandbox))).toMatchObject({ status: 'killed', signal: 'SIGHUP' });
});

/** A shell runs the client, so that the test can redirect its streams and pass bytes that are not UTF-8. */
async function inShell(sandbox: Sandbox, script: string): Promise<Ended> {
  const env = { PATH: process.env['PATH'], TMPDIR: join(sandbox.directory, 'tmp'), URL: sandbox.url };
  const command = ['bash', '-c', script, ...clientCommand()];
  const run = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env });
  const [stdout, stderr, code] = await Promise.all([run.stdout.bytes(), run.stderr.text(), run.exited]);
  return { code, stdout: Buffer.from(stdout), stderr };
}

test('CLI-PIPE CLI-FAILED when a local stream fails, one line gives the error and the command receives a hangup', async ({
  sandbox,
}) => {
  for (const [command, error] of [
    ['sleep 1000 < /', 'cannot read standard input: EISDIR'],
    ['yes > /dev/full', 'cannot write the output: ENOSPC'],
  ] as const) {
    const { code, stderr } = await inShell(sandbox, `"$0" "$@" exec $URL -- ${command}`);
    expect([code, stderr]).toEqual([125, `boxkeep: exec: ${error}\n`]);
    expect(await sandbox.ended(await newestId(sandbox))).toMatchObject({ status: 'killed', signal: 'SIGHUP' });
  }
});

test('CLI-USAGE CLI-FLAGS an argument that is not UTF-8 is refused, and U+FFFD itself is passed', async ({
  sandbox,
}) => {
  const bytes = "$'\\xff\\xfe'";
  for (const args of [`exec $URL -- echo ${bytes}`, `exec $URL --cwd ${bytes} -- pwd`, `logs $URL ${bytes}`]) {
    const { code, stdout, stderr } = await inShell(sandbox, `"$0" "$@" ${args}`);
    expect([code, stdout.length]).toEqual([125, 0]);
    expect(stderr).toMatch(/^boxkeep: (?:exec|logs): arguments must be UTF-8; .* --shell -- 'printf "\\377"'\n$/);
  }
  expect(await exec(sandbox, 'printf', '%s', '\ufffd')).toEqual({ code: 0, stdout: Buffer.from('\ufffd'), stderr: '' });
  const advised = await client(sandbox, ['exec', sandbox.url, '--shell', '--', 'printf "\\377"']);
  expect(advised.stdout).toEqual(Buffer.from([0xff]));
});

test('CLI-PS ps lists running commands, and all commands with --all', async ({ sandbox }) => {
  await sandbox.run({ command: 'exit 3', command_id: 'over' });
  await sandbox.start({ command: 'sleep 1000 #\u001b[2J', command_id: 'runs' });
  await sandbox.run({ command: 'printf', args: ['%s', 'a b'], shell: 'none', command_id: 'program' });
  const rows = async (...flags: string[]) =>
    (await client(sandbox, ['ps', sandbox.url, ...flags])).stdout.toString().trimEnd().split('\n');

  const [head, ...running] = await rows();
  expect(head).toMatch(/^ID +STATUS +CODE +USER +AGE +COMMAND$/);
  expect(running).toEqual([expect.stringMatching(/^runs +running +- +root +\d+s +sleep 1000 # \[2J$/)]);
  expect((await rows('--all')).slice(1)).toEqual([
    expect.stringMatching(/^over +completed +3 +root +\d+s +exit 3$/),
    expect.stringMatching(/^runs /),
    expect.stringMatching(/^program .* printf %s 'a b'$/),
  ]);
  const records = JSON.parse((await rows('--json')).join('\n')) as unknown;
  expect(records).toEqual((await sandbox.ok('GET /v2/commands?status=running'))['commands']);
});

test('CLI-KILL PROMISE-4 kill ends a tree, or names the survivors', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'trap "" TERM; trap "echo usr" USR1; echo ready; while :; do :; done' });
  const output = async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'];
  await until('it is ready', async () => (await output()) === 'ready\n');
  const { pid } = (await sandbox.ok(`GET /v2/commands/${id}`))['command'];
  const kill = (...flags: string[]) => client(sandbox, ['kill', sandbox.url, id, ...flags]);

  expect(await kill()).toMatchObject({
    code: 1,
    stderr: `boxkeep: kill: still living after SIGTERM: ${pid}; --signal KILL ends them\n`,
  });
  expect(await kill('--signal', 'usr1', '--no-tree')).toMatchObject({
    code: 0,
    stdout: Buffer.from(`sent SIGUSR1 to 1 process of ${id}\n`),
  });
  await until('the output has arrived', async () => (await output()) === 'ready\nusr\n');
  const result = { command_id: id, signal: 'SIGTERM', signalled: 1, survivors: [pid] };
  expect(await kill('--json')).toEqual({ code: 1, stdout: Buffer.from(`${JSON.stringify(result)}\n`), stderr: '' });
  expect(await kill('--signal', '9')).toMatchObject({ code: 0, stderr: '' });
  const late = JSON.parse((await kill('--json')).stdout.toString()) as unknown;
  expect(late).toEqual({ ...result, signalled: null, survivors: [] });
  expect(await kill()).toMatchObject({ code: 0, stdout: Buffer.from(`${id} has ended\n`) });
  expect(await client(sandbox, ['kill', sandbox.url, 'absent'])).toMatchObject({
    code: 125,
    stderr: expect.stringMatching(/^boxkeep: kill: no command has the id absent .*\n$/),
  });
});

test('CLI-LOGS logs prints the retained output, and follows with -f', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'printf one; printf two >&2; read line; printf three; exit 8' });
  await until('both have come', async () => {
    const { stdout, stderr } = await sandbox.ok(`GET /v2/commands/${id}`);
    return stdout === 'one' && stderr === 'two';
  });
  const logs = async (...flags: string[]) => {
    const { code, stdout, stderr } = await client(sandbox, ['logs', sandbox.url, id, ...flags]);
    return [code, stdout.toString(), stderr];
  };

  expect(await logs()).toEqual([0, 'one', 'two']);
  expect(await logs('--stdout-only')).toEqual([0, 'one', '']);
  expect(await logs('--stderr-only')).toEqual([0, '', 'two']);
  expect(await logs('--offset', '1', '--stderr-offset', '3')).toEqual([0, 'ne', '']);
  const followed = new Client(sandbox, ['logs', sandbox.url, id, '-f', '--stdout-only', '--exit-code']);
  await followed.says('one');
  await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });
  expect(await followed.ended()).toEqual({ code: 8, stdout: Buffer.from('onethree'), stderr: '' });
  expect(await logs('-f')).toEqual([0, 'onethree', 'two']);
  const [, lines] = await logs('-f', '--json', '--stdout-only', '--offset', '1');
  const events = String(lines).trimEnd().split('\n');
  const records = events.map((line) => JSON.parse(line) as { type: string; offset: number; data: string });
  expect(records.pop()).toEqual({ type: 'exit', status: 'completed', exit_code: 8, signal: null } as never);
  expect(records[0]).toMatchObject({ type: 'stdout', offset: 1 });
  expect(records.map(({ data }) => data).join('')).toBe('nethree');
});

test(
  'CLI-GAPS PROMISE-1 output that is no longer kept is announced in one line',
  async ({ sandbox }) => {
    const { command_id: id, offset } = await sandbox.run({ command: 'seq 1 800000', max_output_length: 10 });
    const { code, stdout, stderr } = await client(sandbox, ['logs', sandbox.url, id]);

    expect(code).toBe(0);
    const missing = offset - stdout.length;
    expect(stderr).toBe(
      `boxkeep: ${missing} bytes of stdout are missing here, 0 to ${missing}: they are no longer kept\n`,
    );
    expect(stdout.subarray(-14).toString()).toBe('799999\n800000\n');
  },
  { env: { SVC_STREAM_KEPT_MIB: '1' } },
);
