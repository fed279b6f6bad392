/** init: the daemon's life, shutdown, the lock, secrets, orphans. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Init,
  isAlive,
  isRoot,
  isSanitized,
  program,
  readJournal,
  readLog,
  readProc,
  memoryHolds,
  rootTest,
  sendStdin,
  signal,
  Stage,
  statFields,
  until,
  waitForLog,
} from './harness.ts';
import { flag, scope, type } from './keeper-client.ts';

async function daemonPid(init: Init): Promise<number> {
  const line = init.lines.findLast(({ event }) => event === 'boot') ?? (await init.line({ event: 'boot' }));
  return Number(line.pid);
}

/** For programs that start without a stage: no leak report at the end. */
const quiet = { ASAN_OPTIONS: 'detect_leaks=0' };

/* ---- the program's arguments ---- */

test('without a daemon, init prints one line and exits with code 2', () => {
  const { status, stderr } = spawnSync(program, ['start'], { encoding: 'utf8', env: quiet });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^boxkeep: no daemon: [^\n]+\n$/);
});

test('a daemon that cannot be executed is reported in one line', () => {
  const missing = spawnSync(program, ['--daemon=/nowhere/daemon', 'start'], { encoding: 'utf8', env: quiet });
  expect(missing).toMatchObject({
    status: 127,
    stderr: 'boxkeep: cannot run the daemon /nowhere/daemon: No such file or directory\n',
  });
  const denied = spawnSync(program, ['--daemon=/etc/passwd', 'start'], { encoding: 'utf8', env: quiet });
  expect(denied).toMatchObject({
    status: 126,
    stderr: 'boxkeep: cannot run the daemon /etc/passwd: Permission denied\n',
  });
  expect(spawnSync(program, ['--daemon=/nowhere/daemon', 'version'], { encoding: 'utf8', env: quiet }).status).toBe(
    127,
  );
});

test('other subcommands run the daemon with keys and without loader variables', () => {
  const env = {
    ...quiet,
    PATH: '/usr/bin:/bin',
    SVC_API_KEY: 'key',
    LD_LIBRARY_PATH: '/x',
    BUN_OPTIONS: '--x',
    NODE_OPTIONS: '--y',
    BUNDLE: 'stays',
  };
  const { stdout, status } = spawnSync(program, ['--daemon=/usr/bin/env', '--daemon=sh', '-c', 'env; exit 5'], {
    encoding: 'utf8',
    env,
  });
  expect(status).toBe(5);
  expect(stdout).toContain('SVC_API_KEY=key\n');
  expect(stdout).toContain('BUNDLE=stays\n');
  expect(stdout).not.toMatch(/LD_LIBRARY_PATH|BUN_OPTIONS|NODE_OPTIONS/);
});

/* ---- the daemon ---- */

test('the daemon gets its arguments, its directory and BOOT; LISTEN may repeat, for one directory', async () => {
  await using here = await Stage.start({ arguments: ['--port', '8080'], cwd: '/usr' });
  const boot = here.init.lines.find(({ event }) => event === 'boot');
  expect(boot).toMatchObject({
    version: 3,
    restarts: 0,
    secrets: [],
    arguments: ['start', '--port', '8080', here.init.runtime],
  });
  expect(here.init.lines.find(({ event }) => event === 'listening')).toMatchObject({
    stage: 0,
    errno: 0,
    again: { stage: 0, errno: 0 },
    elsewhere: { stage: 1, errno: 16 },
  });
  const pid = await daemonPid(here.init);
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/usr');
  // The runtime blocks signals for a moment whenever it starts a thread.
  await until('no signal is blocked', () => /SigBlk:\s+0{16}\n/.test(readProc(pid, 'status')));
});

test('no descriptor of the starting process or of init is open in the daemon, a keeper or a command', async () => {
  await using here = await Stage.start({ wrapper: ['/bin/sh', '-c', 'exec 7</etc/passwd; "$@"', 'sh'] });
  // It stays a shell: a program that is being loaded has its libraries open.
  const running = await here.shell('echo up; read line', { flags: flag.stdin });
  await waitForLog(running, 'up');
  const open = (pid: number): string[] =>
    readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  expect(
    open(await daemonPid(here.init)).filter((target) => target.includes('passwd') || target.includes('lock')),
  ).toEqual([]);
  // An unprivileged test cannot inspect init, which holds the keys.
  if (isRoot) expect(open(here.init.pid).filter((target) => target.includes('passwd'))).toEqual([]);
  const keeper = open(running.status.keeper);
  expect(keeper.filter((target) => target.includes('lock') || target.includes('passwd'))).toEqual([]);
  expect(keeper.slice(0, 3)).toEqual(['/dev/null', '/dev/null', '/dev/null']);
  expect(readdirSync(`/proc/${running.status.pid}/fd`)).toEqual(['0', '1', '2']);
});

test('a daemon that exits before it is ready ends init with its code', async () => {
  await using here = new Stage();
  const init = here.launchInit({ behaviour: 'exits-before-ready' });
  expect(await init.ended()).toEqual({ code: 23, signal: null });
});

test('a killed daemon is restarted and learns of the restart, and keepers keep running', async () => {
  await using here = await Stage.start();
  const running = await here.shell('read line; echo "$line"; exit 4', { flags: flag.stdin });
  process.kill(await daemonPid(here.init), 'SIGKILL');
  await here.init.line({ event: 'ready' });
  expect(here.init.lines.filter(({ event }) => event === 'boot').at(-1)).toMatchObject({ restarts: 1, secrets: [] });
  await sendStdin(running, 0, 'still here\n');
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 4 });
  expect(readLog(running)).toBe('still here\n');
  const next = await here.shellToEnd('echo served');
  expect(readLog(next)).toBe('served\n');
});

test('a daemon that crashes repeatedly right after its start ends everything with code 70', async () => {
  await using here = new Stage();
  const init = here.launchInit({ behaviour: 'exits-after-ready' });
  expect(await init.ended()).toEqual({ code: 70, signal: null });
  expect(init.stderr).toBe('boxkeep: the daemon died 10 times in a row within a second of its start: giving up\n');
  expect(init.lines.filter(({ event }) => event === 'boot').map(({ restarts }) => restarts)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
});

test('the daemon dies with init, keepers survive, and the next init can take the directory', async () => {
  await using here = await Stage.start();
  const running = await here.shell('read line; exit 6', { flags: flag.stdin });
  const pid = await daemonPid(here.init);
  here.init.kill('SIGKILL');
  await until('the daemon is gone', () => !isAlive(pid));
  expect(isAlive(running.status.keeper)).toBe(true);
  await here.startInit({ directory: here.init.runtime });
  const again = await here.open(join(running.directory, 'control'));
  expect(await again.status(type.status)).toMatchObject({ spawned: true, exited: false });
  await sendStdin({ ...running, connection: again }, 0, 'go\n');
  expect(await again.status(type.exited)).toMatchObject({ exitCode: 6 });
});

test('the lock refuses a second init on the same directory', async () => {
  await using here = await Stage.start();
  const second = here.launchInit({ directory: here.init.runtime });
  expect(await second.line({ event: 'listening' })).toMatchObject({ stage: 2, errno: 11 });
  const { exited } = await here.shellToEnd('exit 0');
  expect(exited.exitCode).toBe(0);
});

test('signals that init does not handle are forwarded to the daemon', async () => {
  await using here = await Stage.start();
  for (const name of ['SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const) {
    here.init.kill(name);
    await here.init.line({ signal: name });
  }
});

/* ---- the end ---- */

test('SIGTERM ends the daemon, then every command, within eight seconds', async () => {
  await using here = await Stage.start();
  const polite = await here.shell('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.01; done');
  const stubborn = await here.shell('trap "" TERM INT HUP; echo up; while :; do sleep 600; done');
  const orphan = await here.shell('(trap "" TERM; setsid sh -c "echo \\$\\$; exec sleep 600" &); exit 0');
  for (const each of [polite, stubborn]) await waitForLog(each, 'up');
  const pid = Number((await waitForLog(orphan, /\d+\n/)).trim());
  here.watchPid(pid);
  const start = performance.now();
  here.init.kill('SIGTERM');
  expect(await here.init.ended()).toEqual({ code: 0, signal: null });
  expect(performance.now() - start).toBeLessThan(8000);
  expect(here.init.lines.at(-1)).toEqual({ signal: 'SIGTERM' });
  expect(readJournal(polite).events[1]).toMatchObject({ cause: 3, exit_code: 0 });
  expect(readJournal(stubborn).events[1]).toMatchObject({ cause: 3, signal: 9 });
  expect(readLog(polite)).toContain('bye');
  expect(isAlive(pid)).toBe(false);
  expect(existsSync(join(here.init.runtime, 'init.sock'))).toBe(false);
});

test('a daemon that ignores SIGTERM delays the end by only two seconds', async () => {
  await using here = await Stage.start({ behaviour: 'ignores-term' });
  const start = performance.now();
  here.init.kill('SIGTERM');
  expect(await here.init.ended()).toEqual({ code: 0, signal: null });
  expect(performance.now() - start).toBeLessThan(4000);
});

test('a second signal kills at once and exits with code 1', async () => {
  await using here = await Stage.start({ behaviour: 'ignores-term' });
  const running = await here.shell('trap "" TERM; echo up; while :; do sleep 600; done');
  await waitForLog(running, 'up');
  const start = performance.now();
  here.init.kill('SIGTERM');
  await here.init.line({ signal: 'SIGTERM' });
  here.init.kill('SIGINT');
  expect(await here.init.ended()).toEqual({ code: 1, signal: null });
  expect(performance.now() - start).toBeLessThan(1900);
  expect(isAlive(running.status.pid)).toBe(false);
  expect(isAlive(running.status.keeper)).toBe(false);
});

test('orphans of a killed keeper become children of init and are reaped', async () => {
  await using here = await Stage.start();
  const running = await here.shell('sleep 0.05 & echo $!; exec sleep 600', { flags: flag.tied });
  const pid = Number((await waitForLog(running, /\d+\n/)).trim());
  process.kill(running.status.keeper, 'SIGKILL');
  await until('no trace is left', () =>
    [pid, running.status.pid, running.status.keeper].every((each) => readProc(each, 'stat') === ''),
  );
});

rootTest('as PID 1 init reaps every orphan, and the exit of init ends all processes', async () => {
  await using here = await Stage.start({ wrapper: ['unshare', '-p', '-f', '--mount-proc'] });
  const { init } = here;
  expect(readProc(init.pid, 'status')).toMatch(/NSpid:\s+\d+\s+1\n/);
  const running = await here.shell(
    'for i in $(seq 20); do (setsid sleep 0.01 &); done; setsid sh -c "echo up; exec sleep 600" & read line',
    { flags: flag.stdin },
  );
  await waitForLog(running, 'up');
  // A line of /proc/<pid>/stat: the pid, the name in parentheses, the state.
  const inside = (): string[] =>
    spawnSync('nsenter', ['-t', String(init.pid), '-p', '-m', 'sh', '-c', 'cat /proc/[0-9]*/stat'], {
      encoding: 'utf8',
    }).stdout.split('\n');
  await until('no zombie is left', () => !inside().some((line) => line.includes(') Z ')));
  expect(inside().filter((line) => line.includes('boxkeep-'))).toHaveLength(2);
  init.kill('SIGTERM');
  expect(await init.ended()).toEqual({ code: 0, signal: null });
  expect(readJournal(running).events[1]).toMatchObject({ cause: 3 });
});

/* ---- secrets and loader variables ---- */

test('keys are passed in BOOT and appear nowhere else', async () => {
  const key = 'very-secret-key-0123456789';
  await using here = await Stage.start({
    env: { SVC_API_KEY: `${key}-a`, SANDBOX_API_KEY: `${key}-b`, SVC_JUPYTER_ENDPOINT: `${key}-e`, VISIBLE: 'yes' },
    arguments: [
      ...['--api-key', `${key}-c`, `--api-key=${key}-d`],
      ...['--jupyter-endpoint', `${key}-f`, `--jupyter-endpoint=${key}-g`],
      '--verbose',
    ],
  });
  const boot = here.init.lines.find(({ event }) => event === 'boot');
  expect(boot?.secrets).toEqual(
    expect.arrayContaining([
      `SVC_API_KEY=${key}-a`,
      `SANDBOX_API_KEY=${key}-b`,
      `--api-key=${key}-c`,
      `--api-key=${key}-d`,
      `SVC_JUPYTER_ENDPOINT=${key}-e`,
      `--jupyter-endpoint=${key}-f`,
      `--jupyter-endpoint=${key}-g`,
    ]),
  );
  expect(boot?.arguments).toEqual(['start', '--verbose', here.init.runtime]);
  expect(boot?.environment).toMatchObject({ VISIBLE: 'yes' });
  const running = await here.shell('echo up; exec sleep 600', { flags: flag.tied });
  await waitForLog(running, 'up');
  for (const pid of [here.init.pid, running.status.keeper, running.status.pid, await daemonPid(here.init)])
    for (const file of ['environ', 'cmdline']) expect(readProc(pid, file)).not.toContain(key);
  expect(readProc(here.init.pid, 'cmdline').replaceAll('\0', '')).toBe('boxkeep: init');
  expect(readProc(running.status.keeper, 'cmdline').replaceAll('\0', '')).toBe('boxkeep: keeper');
  expect(readProc(running.status.keeper, 'comm')).toBe('boxkeep-keeper\n');
  process.kill(await daemonPid(here.init), 'SIGKILL');
  await here.init.line({ event: 'ready' });
  expect(here.init.lines.filter(({ event }) => event === 'boot').at(-1)?.secrets).toEqual(boot?.secrets);
  await signal(running, 9, scope.tree);
});

// The sanitizer keeps a copy of the environment for itself.
test.if(!isSanitized)('a keeper’s memory holds no key', async () => {
  const key = 'needle-in-the-heap-9876543210';
  await using here = await Stage.start({ env: { SVC_API_KEY: key } });
  const running = await here.run({ argv: ['/bin/sleep', '600'] });
  expect(memoryHolds(running.status.keeper, 'boxkeep')).toBe(true);
  expect(memoryHolds(running.status.keeper, key)).toBe(false);
  await signal(running, 9, scope.tree);
});

test('an option without its key is left to the daemon to report', async () => {
  await using here = new Stage();
  const init = here.launchInit({ arguments: ['--api-key'] });
  const boot = await init.line({ event: 'boot' });
  expect(boot.secrets).toEqual([`--api-key=${init.runtime}`]);
  expect(boot.arguments).toEqual(['start']);
});

test('loader variables are removed from the daemon’s environment and passed in BOOT', async () => {
  const taken = {
    LD_LIBRARY_PATH: '/nowhere',
    LD_BIND_NOW: '1',
    BUN_CONFIG_X: '1',
    NODE_OPTIONS: '--max-old-space-size=64',
    DYLD_X: '1',
    JSC_useJIT: '1',
    GLIBC_TUNABLES: 'glibc.malloc.check=0',
    MALLOC_ARENA_MAX: '1',
    OPENSSL_CONF: '/x',
    OPENSSL_MODULES: '/y',
    SSL_CERT_FILE: '/z',
    SSL_CERT_DIR: '/w',
  };
  const left = { LDX: '1', NODEX: '1', SSL_CERT_FILES: '1', OPENSSL_CONFIG: '1' };
  await using here = await Stage.start({ env: { ...taken, ...left } });
  const boot = here.init.lines.find(({ event }) => event === 'boot');
  const scrubbed = boot?.scrubbed as string[];
  expect(scrubbed.toSorted()).toEqual(
    Object.entries(taken)
      .map(([name, value]) => `${name}=${value}`)
      .toSorted(),
  );
  expect(boot?.environment).toMatchObject(left);
  for (const name of Object.keys(taken)) expect(boot?.environment).not.toHaveProperty(name);
});

test('an environment larger than a frame loses loader variables from BOOT, never keys', async () => {
  const env: Record<string, string> = { SVC_API_KEY: 'k'.repeat(1000) };
  for (let index = 0; index < 4; index++) env[`LD_BIG_${index}`] = 'x'.repeat(100_000);
  await using here = await Stage.start({ env });
  const boot = here.init.lines.find(({ event }) => event === 'boot');
  expect(boot?.secrets).toEqual([`SVC_API_KEY=${'k'.repeat(1000)}`]);
  expect(boot?.scrubbed).toHaveLength(2);
});

rootTest('init’s socket refuses another account', async () => {
  await using here = await Stage.start();
  spawnSync('chmod', ['-R', '0777', here.directory]);
  const script = `
    const socket = require('node:net').connect('${join(here.init.runtime, 'init.sock')}');
    socket.on('error', () => undefined);
    socket.on('close', () => console.log('closed'));
  `;
  const { stdout } = spawnSync(
    'setpriv',
    ['--reuid=61234', '--regid=61234', '--clear-groups', process.execPath, '-e', script],
    { encoding: 'utf8', timeout: 10_000 },
  );
  expect(stdout).toBe('closed\n');
  expect(statFields(here.init.pid)[0]).toBe('S');
  expect(readFileSync(`/proc/${here.init.pid}/comm`, 'utf8')).toBe('boxkeep-init\n');
});
