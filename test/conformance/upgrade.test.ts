/** An upgrade as clients see it: only the version changes. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { KeptConnection } from '../harness/kept-connection.ts';
import { nextProgram, nextVersion } from '../harness/next-version.ts';
import { expect, clientCommand, programTest, test, type Json, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const upgrades = 3;
const keptClients = 16;
const newClients = 4;
const followers = 20;
const lines = 3000;
const inputBytes = 2 * 1024 * 1024;
const inputPieceBytes = 8192;
/** The pause of a client between two requests, so that the machine is busy but not overloaded. */
const pauseMs = 40;
/** The number of requests of each client before the first upgrade, which measure this machine. */
const requestsBefore = 5;
/**
 * For a small machine; the promise of 100 ms is about the time that requests are held. On one on which other things run
 * too, a request may take so many times what the slowest one took before.
 */
const maxMs = 2000;
const maxFactor = 5;

interface Load {
  isOver: boolean;
  slowestMs: number;
  requests: number;
  readonly failures: string[];
}

/** Makes one request after the other until the load is over, and keeps every failure. */
async function repeat(load: Load, what: string, everyMs: number, once: () => Promise<number>): Promise<void> {
  while (!load.isOver) {
    try {
      load.slowestMs = Math.max(load.slowestMs, await once());
      load.requests += 1;
    } catch (error) {
      load.failures.push(`${what}: ${String(error)}`);
    }
    await Bun.sleep(everyMs);
  }
}

async function runsCommands(sandbox: Sandbox, load: Load, index: number): Promise<void> {
  using connection = new KeptConnection(sandbox.url);
  await repeat(load, 'a command on a kept connection', pauseMs, async () => {
    const { status, body, ms } = await connection.request('POST /v2/commands', { command: `echo ${index}; exit 7` });
    const { data } = JSON.parse(body) as { data: Json };
    if (status !== 200 || data.exit_code !== 7 || data.stdout !== `${index}\n`) throw new Error(`${status} ${body}`);
    return ms;
  });
}

async function reconnects(sandbox: Sandbox, load: Load, everyMs = pauseMs): Promise<void> {
  await repeat(load, 'a new connection', everyMs, async () => {
    const start = performance.now();
    const response = await sandbox.fetch('GET /v2/commands/sessions');
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${body}`);
    return performance.now() - start;
  });
}

/** Follows a stream once, from its start to its one last line. */
async function follows(sandbox: Sandbox, commandId: string): Promise<string> {
  const hash = createHash('sha256');
  let next = 0;
  let last = '';
  for await (const line of sandbox.lines(`/v2/commands/${commandId}?stream=true`)) {
    last = `${line['type']} ${line['exit_code']}`;
    if (line['type'] !== 'stdout') continue;
    expect(line['offset']).toBe(next);
    next = line['next'];
    hash.update(line['data'] as string);
  }
  return `${last} ${hash.digest('hex')}`;
}

async function writes(sandbox: Sandbox, commandId: string, input: Buffer): Promise<void> {
  using connection = new KeptConnection(sandbox.url);
  for (let at = 0; at < input.length;) {
    const piece = input.subarray(at, at + inputPieceBytes);
    const { status, body } = await connection.request(`POST /v2/commands/${commandId}/stdin`, {
      input_base64: piece.toString('base64'),
    });
    if (status !== 200) throw new Error(`${status} ${body}`);
    const { data } = JSON.parse(body) as { data: Json };
    expect(data.accepted_bytes).toBe(piece.length);
    at += piece.length;
    expect(data.offset).toBe(at);
  }
  await connection.request(`POST /v2/commands/${commandId}/stdin`, { eof: true });
}

function digest(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Runs several upgrades in a row, and collects what the clients saw. */
async function upgradeUnderLoad(sandbox: Sandbox, load: Load): Promise<void> {
  const heldMs: number[] = [];
  for (let index = 0; index < upgrades; index++) {
    const served = sandbox.served();
    const { code, stdout, stderr } = await sandbox.upgrade(undefined, ['--json']);
    expect([code, stderr]).toEqual([0, '']);
    heldMs.push((JSON.parse(stdout) as { held_ms: number }).held_ms);
    await served;
  }
  console.log(
    `${upgrades} upgrades, held ${heldMs.join(', ')} ms; the slowest request ${load.slowestMs.toFixed(0)} ms`,
  );
}

test('RUN-UPGRADE under load no request fails, nothing is lost and no request waits for long', async ({ sandbox }) => {
  const load: Load = { isOver: false, slowestMs: 0, requests: 0, failures: [] };
  const init = sandbox.initPid;
  const script = `i=0; while [ $i -lt ${lines} ]; do echo "line $i"; i=$((i+1)); sleep 0.002; done; exit 5`;
  const streaming = await sandbox.start({ command: script });
  const reading = await sandbox.start({ command: 'sha256sum | cut -d" " -f1', stdin: 'pipe' });
  const input = randomBytes(inputBytes);

  const followed = Array.from({ length: followers }, () => follows(sandbox, streaming));
  const waited = sandbox.run({ command: 'sleep 6; echo waited; exit 9' });
  const written = writes(sandbox, reading, input);
  const clients = [
    ...Array.from({ length: keptClients }, (_, index) => runsCommands(sandbox, load, index)),
    ...Array.from({ length: newClients }, () => reconnects(sandbox, load)),
  ];
  written.catch(() => null); // Awaited below; an earlier failure is reported first.
  await until('every client has an answer', () => load.requests >= requestsBefore * clients.length);
  const usualMs = load.slowestMs;
  await upgradeUnderLoad(sandbox, load);
  load.isOver = true;
  await Promise.all(clients);

  expect(load.failures).toEqual([]);
  expect(load.slowestMs).toBeLessThan(Math.max(maxMs, maxFactor * usualMs));
  const printed = Array.from({ length: lines }, (_, index) => `line ${index}\n`).join('');
  expect(new Set(await Promise.all(followed))).toEqual(new Set([`exit 5 ${digest(printed)}`]));
  expect(await waited).toMatchObject({ stdout: 'waited\n', exit_code: 9 });
  await written;
  expect((await sandbox.ended(reading))['exit_code']).toBe(0);
  expect((await sandbox.ok(`GET /v2/commands/${reading}`))['stdout']).toBe(`${digest(input)}\n`);
  expect(sandbox.initPid).toBe(init);
});

test('RUN-UPGRADE the new version answers, the old process is gone, and the port is never closed', async ({
  sandbox,
}) => {
  const old = sandbox.daemonPid;
  const session = (await sandbox.ok('POST /v2/commands/sessions', { env: { KEPT: 'yes' } }))['session_id'];
  const id = await sandbox.start({ command: 'read line; echo "$KEPT $line"', stdin: 'pipe', session });
  const before = (await sandbox.ok('GET /v2/sandbox'))['version'] as string;
  const next = await nextProgram(sandbox);
  const served = sandbox.served();
  const outcome = await sandbox.upgrade(next);
  await served;

  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(outcome.stdout).toStartWith(`boxkeep ${before} is now ${nextVersion}, after `);
  expect((await sandbox.ok('GET /v2/sandbox'))['version']).toBe(nextVersion);
  await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: 'read\n', eof: true });
  await sandbox.ended(id);
  expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('yes read\n');
  await until('the old daemon is gone', () => !existsSync(`/proc/${old}`));
  expect(() => Bun.serve({ hostname: '127.0.0.1', port: Number(new URL(sandbox.url).port), fetch: echo })).toThrow();
});

test('RUN-UPGRADE a daemon that cannot take over is reported in one line, and the old one keeps serving', async ({
  sandbox,
}) => {
  const old = sandbox.daemonPid;
  const refused = await sandbox.upgrade(undefined, ['--file', '/bin/false']);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  // A busybox applet does not know the name it runs under, prints that, and exits with 127.
  expect(refused.stderr).toMatch(/^boxkeep: upgrade: the new daemon ended with (1|127) before it served[^\n]*\n$/);
  expect(await sandbox.run({ command: 'echo still' })).toMatchObject({ stdout: 'still\n' });
  expect(sandbox.daemonPid).toBe(old);
  expect(sandbox.stderr).toEndWith(
    `boxkeep: the upgrade was called off: ${refused.stderr.slice('boxkeep: upgrade: '.length)}`,
  );
  sandbox.stderr = '';
});

test('RUN-UPGRADE a new daemon that exits during the takeover gives everything back', async ({ sandbox }) => {
  const load: Load = { isOver: false, slowestMs: 0, requests: 0, failures: [] };
  const broken = await nextProgram(sandbox, 'broken', (main) =>
    main.replace('init.standBy(version);', 'init.standBy(version); process.exit(9);'),
  );
  const old = sandbox.daemonPid;
  const streaming = await sandbox.start({ command: 'for i in $(seq 300); do echo $i; sleep 0.005; done; exit 5' });
  const reading = await sandbox.start({ command: 'cat', stdin: 'pipe' });
  const followed = follows(sandbox, streaming);
  const waited = sandbox.run({ command: 'sleep 2; echo waited; exit 9' });
  const clients = Array.from({ length: 4 }, (_, index) => runsCommands(sandbox, load, index));

  for (let index = 0; index < 2; index++) {
    const { code, stderr } = await sandbox.upgrade(broken);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the new daemon ended with 9')]);
  }
  load.isOver = true;
  await Promise.all(clients);
  expect(load.failures).toEqual([]);
  expect(await followed).toStartWith('exit 5 ');
  expect(await waited).toMatchObject({ stdout: 'waited\n', exit_code: 9 });
  await sandbox.ok(`POST /v2/commands/${reading}/stdin`, { input: 'still here', eof: true });
  expect(await sandbox.ended(reading)).toMatchObject({ exit_code: 0 });
  expect((await sandbox.ok(`GET /v2/commands/${reading}`))['stdout']).toBe('still here');
  expect(sandbox.daemonPid).toBe(old);
  sandbox.stderr = '';
});

test('RUN-UPGRADE a full queue of new connections loses none of them', async ({ sandbox }) => {
  const load: Load = { isOver: false, slowestMs: 0, requests: 0, failures: [] };
  const clients = Array.from({ length: 64 }, () => reconnects(sandbox, load, 0));
  const served = sandbox.served();
  expect((await sandbox.upgrade()).code).toBe(0);
  await served;
  load.isOver = true;
  await Promise.all(clients);
  expect(load.failures).toEqual([]);
});

async function upgradesAndRuns({ sandbox }: { sandbox: Sandbox }): Promise<void> {
  const id = await sandbox.start({ command: 'sleep 1; echo over; exit 3' });
  const served = sandbox.served();
  expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
  await served;
  expect(await sandbox.ended(id)).toMatchObject({ exit_code: 3 });
  expect(await sandbox.run({ command: 'exit 4' })).toMatchObject({ exit_code: 4 });
}

test('RUN-UPGRADE an upgrade as PID 1 keeps init as PID 1', upgradesAndRuns, {
  launcher: ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
});

programTest('RUN-UPGRADE without a running daemon, an upgrade fails with one line', () => {
  const { exitCode, stderr } = Bun.spawnSync([...clientCommand(), 'upgrade', '--runtime-dir', '/nowhere'], {
    env: { PATH: process.env['PATH'] },
  });
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toBe(
    'boxkeep: upgrade: no running boxkeep was found in /nowhere; pass the --port or --runtime-dir of its start\n',
  );
});

function echo(): Response {
  return new Response('another daemon');
}
