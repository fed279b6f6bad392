/** `boxkeep doctor` reports what a daemon would miss on this machine, and changes nothing. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import { freeFixedPort } from '../harness/free-port.ts';
import { barePython, needPython } from '../harness/interpreters.ts';
import { McpServerProcess } from '../harness/mcp-servers.ts';
import { enter, type Ids } from '../harness/root.ts';
import { expect, launchCommand, program, test } from '../harness/sandbox.ts';

interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly advice: string | null;
}

const everyCheck = [
  ...['settings', 'key', 'default user', 'runtime directory', 'port', 'browser', 'desktop', 'mcp servers', 'skills'],
  ...['proc', 'accounts', 'shell', 'tmux', 'python3', 'node', 'ffmpeg', 'ipykernel'],
];

function doctor(args: readonly string[], env: Record<string, string> = {}, account: Ids | null = null) {
  const run = Bun.spawnSync([...enter(account), ...program(), 'doctor', ...args], {
    env: programEnvironment({ TMPDIR: tmpdir(), ...env }),
  });
  expect(run.stderr.toString()).toBe('');
  return { exitCode: run.exitCode, output: run.stdout.toString() };
}

function findings(args: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, output } = doctor(['--json', ...args], env);
  const list = (JSON.parse(output) as { findings: Finding[] }).findings;
  return { exitCode, list, of: (check: string) => list.find((finding) => finding.check === check) };
}

test('OPS-DOCTOR RUN-VERBS doctor checks everything, prints JSON or text, and exits 0', async ({ sandbox }) => {
  const directory = join(sandbox.directory, 'other');
  const args = ['--runtime-dir', directory, '--port', '0'];
  const { exitCode, list } = findings(args);

  expect(exitCode).toBe(0);
  expect(list.map(({ check }) => check)).toEqual(everyCheck);
  for (const { check, status, message, advice } of list) {
    expect([check, status === 'ok', message !== '']).toEqual([check, advice === null, true]);
  }
  const { output } = doctor(args);
  for (const check of everyCheck) expect(output).toMatch(new RegExp(`^(ok  |warn|fail)  ${check}: `, 'm'));
  expect(existsSync(directory)).toBe(false);
});

test('OPS-DOCTOR doctor recognizes a running daemon, and a port taken by another program', async ({ sandbox }) => {
  const { port } = new URL(sandbox.url);

  const own = findings(['--runtime-dir', sandbox.runtimeDirectory, '--port', port]);
  expect([own.exitCode, own.of('port')]).toEqual([
    0,
    {
      check: 'port',
      status: 'ok',
      message: `${port} is served by a daemon of this runtime directory, and its init answers`,
      advice: null,
    },
  ]);
  const other = findings(['--runtime-dir', join(sandbox.directory, 'other'), '--port', port]);
  expect([other.exitCode, other.of('port')]).toEqual([
    1,
    {
      check: 'port',
      status: 'fail',
      message: `${port} cannot be bound: EADDRINUSE`,
      advice: 'Stop the program that listens there, or choose another --port.',
    },
  ]);
  const free = () => String(freeFixedPort());
  const e2b = ['--e2b', 'on', '--e2b-port', free(), '--e2b-code-port', port, '--e2b-api-port', free()];
  const { list } = findings(['--runtime-dir', join(sandbox.directory, 'other'), '--port', free(), ...e2b]);
  const taken = list.filter(({ check }) => check === 'port').map(({ status, advice }) => [status, advice]);
  const advice = 'Stop the program that listens there, or choose another --e2b-code-port.';
  expect(taken).toEqual([
    ['ok', null],
    ['ok', null],
    ['fail', advice],
    ['ok', null],
  ]);
  expect((await sandbox.request('GET /health')).status).toBe(200);
});

test('OPS-DOCTOR a problem that would stop the daemon fails, with the action to take', async ({ sandbox }) => {
  const open = join(sandbox.directory, 'open');
  mkdirSync(open);
  chmodSync(open, 0o755);
  const cases: [string[], Record<string, string>, string, string, string][] = [
    [
      ['--port', 'many'],
      {},
      'settings',
      '--port: "many" is not valid: must be a whole number from 0 to 65535',
      'Correct the setting; the daemon refuses to start with it.',
    ],
    [
      ['--port', '0', '--runtime-dir', open],
      {},
      'runtime directory',
      `${open}: ${open} is open to others (chmod 700 it)`,
      'Give a directory of the daemon’s own with --runtime-dir.',
    ],
    [
      ['--port', '0', '--default-user', 'nobody-here'],
      {},
      'default user',
      'nobody-here does not exist',
      'Create the account, or set another SVC_DEFAULT_USER.',
    ],
  ];
  for (const [args, env, check, message, advice] of cases) {
    const { exitCode, of } = findings(args, env);
    expect([args, exitCode, of(check)]).toEqual([args, 1, { check, status: 'fail', message, advice }]);
  }
});

test('OPS-DOCTOR doctor without root accepts the own account as default, by name and uid, and refuses any other', async () => {
  const idOf = (flag: string) => Number(Bun.spawnSync(['id', flag, 'nobody']).stdout.toString());
  const nobody = { uid: idOf('-u'), gid: idOf('-g') };
  for (const [user, status] of [
    ['nobody', 'ok'],
    [`${nobody.uid}`, 'ok'],
    ['root', 'fail'],
    ['0', 'fail'],
  ] as const) {
    const { exitCode, output } = doctor(['--port', '0', '--default-user', user], {}, nobody);
    expect([user, exitCode]).toEqual([user, status === 'ok' ? 0 : 1]);
    expect(output).toMatch(new RegExp(`^${status} +default user: `, 'm'));
  }
});

test('OPS-DOCTOR a problem that would not stop the daemon is a warning', async ({ sandbox }) => {
  const args = ['--port', '0', '--runtime-dir', join(sandbox.directory, 'other')];

  const open = findings([...args, '--host', '0.0.0.0'], { TICKET_TTL_SECONDS: '30' });
  expect(open.exitCode).toBe(0);
  expect(open.of('key')).toMatchObject({ status: 'warn', message: 'no key is set, and the daemon listens on 0.0.0.0' });
  expect(open.list.filter(({ check }) => check === 'settings')[1]).toMatchObject({
    status: 'warn',
    advice: 'Unset the variable.',
  });
  const keyed = findings([...args, '--host', '0.0.0.0'], { SVC_API_KEY: 'canary-key-19c4' });
  expect(keyed.of('key')).toMatchObject({ status: 'ok' });
  expect(JSON.stringify(keyed.list)).not.toContain('canary-key-19c4');
  const bare = findings(args, { PATH: sandbox.directory });
  expect(bare.exitCode).toBe(0);
  expect(bare.list.filter(({ status }) => status === 'warn').map(({ check }) => check)).toEqual([
    ...['browser', 'desktop'],
    ...['shell', 'tmux', 'python3', 'node', 'ffmpeg', 'ipykernel'],
  ]);
});

test('OPS-DOCTOR doctor finds ipykernel behind the shim of a version manager, and names the use of ffmpeg', async ({
  sandbox,
}) => {
  const environment = needPython('code');
  const args = ['--port', '0', '--runtime-dir', join(sandbox.directory, 'other')];
  const shim = join(sandbox.directory, 'python3');
  const withShim = (script: string) => {
    writeFileSync(shim, `#!/bin/sh\n${script}\n`);
    chmodSync(shim, 0o755);
    return findings(args, { PATH: sandbox.directory }).of('ipykernel');
  };

  expect(withShim(`exec ${environment}/bin/python3 "$@"`)).toEqual({
    check: 'ipykernel',
    status: 'ok',
    message: `7.4.0 is installed for ${environment}/bin/python3`,
    advice: null,
  });
  const bare = join(barePython(sandbox), 'python3');
  expect(withShim(`exec ${bare} "$@"`)).toMatchObject({ status: 'warn', message: `is not installed for ${bare}` });
  expect(withShim('exit 127')).toMatchObject({ status: 'warn', message: `${shim} cannot be run` });
  expect(findings(args, { PATH: sandbox.directory }).of('ffmpeg')).toMatchObject({
    advice: 'Install it if it is wanted: only recordings of a desktop need it.',
  });
});

test('BROWSER-20 OPS-DOCTOR doctor names the browser that answers, or the address where none does', async () => {
  const browser = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      Response.json({ Browser: 'Chrome/1.2', 'User-Agent': 'x', webSocketDebuggerUrl: 'ws://x/devtools/browser/1' }),
  });
  const port = String(browser.port);
  const found = await findingsLater('browser', ['--browser-port', port]);
  expect(found).toMatchObject({ status: 'ok', message: `Chrome/1.2 answers at 127.0.0.1:${port}` });
  await browser.stop(true);
  expect(await findingsLater('browser', ['--browser-port', port])).toMatchObject({
    status: 'warn',
    message: `no browser answers at 127.0.0.1:${port}`,
  });
});

test('DESK-WORKER OPS-DOCTOR doctor names the display of the worker that answers, or how to start one', async () => {
  const screen_resolution = { width: 800, height: 600 };
  const worker = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ data: { available: true, display: ':7', screen_resolution } }),
  });
  const args = ['--computer-use-url', `http://127.0.0.1:${worker.port}`];
  expect(await findingsLater('desktop', args)).toMatchObject({
    status: 'ok',
    message: `a computer-use worker answers at ${args[1]}, for :7 (800x600)`,
  });
  await worker.stop(true);
  expect(await findingsLater('desktop', args)).toMatchObject({
    status: 'warn',
    message: `no computer-use worker answers at ${args[1]}`,
    advice: expect.stringContaining('Run boxkeep computer-use'),
  });
});

/** One finding. Does not block this process, which serves what is found. */
async function findingsLater(check: string, args: readonly string[]): Promise<Finding | undefined> {
  const run = Bun.spawn([...launchCommand(), 'doctor', '--json', '--port', '0', ...args], {
    env: programEnvironment({ TMPDIR: tmpdir() }),
    stdout: 'pipe',
  });
  const { findings: list } = JSON.parse(await run.stdout.text()) as { findings: Finding[] };
  return list.find((finding) => finding.check === check);
}

test('OPS-DOCTOR MCP-6 doctor says which MCP servers are served, skipped or silent, and which skills cannot be loaded', async ({
  sandbox,
}) => {
  await using plain = await McpServerProcess.start('plain', 'echo', 'sum');
  await using sessions = await McpServerProcess.start('sessions');
  const skills = join(sandbox.directory, 'skills');
  mkdirSync(join(skills, 'broken'), { recursive: true });
  const EXTRA_MCP_SERVERS = JSON.stringify({
    plain: { url: plain.url, hidden: true },
    sessions: { url: sessions.url },
    gone: { url: 'http://127.0.0.1:9/mcp' },
    browser: { url: 'http://127.0.0.1:7/mcp' },
    remote: { url: 'https://example.com/mcp' },
  });
  const env = { EXTRA_MCP_SERVERS, SVC_SKILLS_PATH: skills, SVC_BROWSER_MCP_PORT: '7' };
  const { exitCode, list, of } = findings(['--port', '0'], env);

  expect(exitCode).toBe(0);
  const servers = list.filter(({ check }) => check === 'mcp servers');
  expect(servers.map(({ status, message }) => `${status} ${message}`)).toEqual([
    expect.stringMatching(/^warn MCP servers are skipped: remote \(its url is not on loopback over http\)\. /),
    'warn Fields of MCP servers have no effect: plain.hidden.',
    `ok plain at ${plain.url} has 2 tools`,
    `warn sessions at ${sessions.url} does not list its tools: it needs a session, and the hub serves only stateless servers`,
    'warn gone at http://127.0.0.1:9/mcp does not list its tools: nothing listens there',
    'ok browser at http://127.0.0.1:7/mcp is SVC_BROWSER_MCP_PORT, which the daemon opens when it starts',
  ]);
  expect(of('skills')).toMatchObject({ status: 'warn', message: expect.stringContaining('broken (') });
  const absent = findings(['--port', '0'], { SVC_SKILLS_PATH: join(skills, 'none') });
  expect(absent.of('skills')).toMatchObject({ status: 'warn', message: expect.stringContaining('(ENOENT)') });
});
