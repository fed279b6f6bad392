/** Upgrades that fail: whatever stalls or dies, and at whatever moment, one daemon serves everything afterwards. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run as runCell, valueOf } from '../harness/code-client.ts';
import { nextProgram } from '../harness/next-version.ts';
import { expect, test, type Reply, type EnvelopeBody, type Sandbox, type Upgrade } from '../harness/sandbox.ts';
import { cpuTicks, until } from '../harness/until.ts';

const noHandover = 'boxkeep: upgrade: the daemon that serves did not hand over in time\n';
/** More than a keeper takes before its command reads. */
const inputBytes = 2 * 1024 * 1024;
/** The daemon that is stopped does not answer within the time that init gives it. */
const stalls = 2;
/** How long after the request for an upgrade the new daemon is killed. The last one is after the whole upgrade. */
const killedAfterMs = [0, 60, 120, 180, 240, 300, 400, 600];

/** State of each plane, which a daemon that has taken something back must still have. */
async function open(sandbox: Sandbox): Promise<void> {
  await sandbox.ok('POST /v2/pty/sessions', { id: 'kept', env: { HOME: sandbox.directory } });
  await sandbox.ok('POST /v2/pty/sessions/kept/exec', { command: 'kept=terminal' });
  await runCell(sandbox, { language: 'javascript', session_id: 'kept', code: 'globalThis.kept = "code"' });
}

async function servesEverything(sandbox: Sandbox): Promise<void> {
  expect(await sandbox.ok('GET /health')).toMatchObject({ status: 'healthy' });
  expect(await sandbox.run({ command: 'echo out; exit 3' })).toMatchObject({ stdout: 'out\n', exit_code: 3 });
  const typed = await sandbox.ok('POST /v2/pty/sessions/kept/exec', { command: 'echo "$kept"' });
  expect(typed).toMatchObject({ output: 'terminal\n', exit_code: 0 });
  expect(valueOf(await runCell(sandbox, { language: 'javascript', session_id: 'kept', code: 'kept' }))).toBe("'code'");
  const path = join(sandbox.directory, 'file');
  await sandbox.ok('POST /v2/fs/write', { path, content: 'whole' });
  expect(readFileSync(path, 'utf8')).toBe('whole');
}

async function upgradesNow(sandbox: Sandbox): Promise<void> {
  const served = sandbox.served();
  expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
  await served;
  await servesEverything(sandbox);
}

/** The daemons among the children of init: the one that serves, those that are leaving, and the new one. */
function daemons(sandbox: Sandbox): number[] {
  const children = readProcess(`${sandbox.initPid}/task/${sandbox.initPid}`, 'children').trim().split(' ');
  // A process that has ended has no command line. Init and the keepers have titles.
  return children.filter((pid) => /^(?!boxkeep: )./.test(readProcess(pid, 'cmdline'))).map(Number);
}

/** Begins an upgrade. Resolves when the new daemon runs. */
async function beginUpgrade(sandbox: Sandbox): Promise<{ readonly pid: number; readonly upgraded: Promise<Upgrade> }> {
  const before = daemons(sandbox);
  const upgraded = sandbox.upgrade();
  let pid: number | undefined;
  await until('the new daemon has started', () => {
    pid = daemons(sandbox).find((each) => !before.includes(each));
    return pid !== undefined;
  });
  return { pid: pid!, upgraded };
}

function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // The process has ended.
  }
}

test('RUN-UPGRADE-FAILED a daemon that stalls during upgrades serves everything when it continues', async ({
  sandbox,
}) => {
  await open(sandbox);
  const streaming = await sandbox.start({ command: 'for i in $(seq 400); do echo $i; sleep 0.02; done; exit 5' });
  const old = sandbox.daemonPid;
  for (let stall = 0; stall < stalls; stall++) {
    process.kill(old, 'SIGSTOP');
    expect(await sandbox.upgrade()).toEqual({ code: 1, stdout: '', stderr: noHandover });
    process.kill(old, 'SIGCONT');
    await servesEverything(sandbox);
  }
  const before = cpuTicks(sandbox);
  await Bun.sleep(1000); // A daemon that repeats requests for ever uses all of this second.
  expect(cpuTicks(sandbox) - before).toBeLessThan(50);
  expect(sandbox.daemonPid).toBe(old);
  expect(await sandbox.ended(streaming)).toMatchObject({ exit_code: 5 });
  sandbox.stderr = '';
  await upgradesNow(sandbox);
});

test('RUN-UPGRADE-FAILED a daemon that reads two requests to hand over and one to return hands over once', async ({
  sandbox,
}) => {
  await open(sandbox);
  const old = sandbox.daemonPid;
  process.kill(old, 'SIGSTOP');
  expect((await sandbox.upgrade()).stderr).toBe(noHandover);
  sandbox.stderr = '';
  const served = sandbox.served();
  const { upgraded } = await beginUpgrade(sandbox);
  await Bun.sleep(500); // The daemon continues while the second upgrade waits for it, or a little before.
  process.kill(old, 'SIGCONT');
  expect(await upgraded).toMatchObject({ code: 0, stderr: '' });
  await served;
  await servesEverything(sandbox);
});

test('RUN-UPGRADE-FAILED a new daemon that dies at any step gives everything back', async ({ sandbox }) => {
  await open(sandbox);
  const counting = `while [ ! -e ${join(sandbox.directory, 'go')} ]; do sleep 0.05; done; wc -c`;
  const reading = await sandbox.start({ command: counting, stdin: { data: 'x'.repeat(inputBytes) } });
  const stepFile = join(sandbox.directory, 'step');
  const broken = await nextProgram(sandbox, 'dies', (main) =>
    main
      .replace("import { writeSync } from 'node:fs';", "import { readFileSync, writeSync } from 'node:fs';")
      .replace('await daemon.warmUp();', "dieAt('warm'); await daemon.warmUp();")
      .replace('init.standBy(version);', "dieAt('standing by'); init.standBy(version); dieAt('taking');")
      .replace('const { isOver }', "dieAt('listening');\n  const { isOver }").concat(`function dieAt(step) {
        if (readFileSync(process.env['TMPDIR'] + '/../step', 'utf8') === step) process.exit(9);
      }`),
  );
  for (const step of ['warm', 'standing by', 'taking', 'listening']) {
    writeFileSync(stepFile, step);
    const { code, stderr } = await sandbox.upgrade(broken);
    expect([step, code, stderr]).toEqual([step, 1, expect.stringContaining('the new daemon ended with 9')]);
    await servesEverything(sandbox);
  }
  writeFileSync(join(sandbox.directory, 'go'), '');
  expect(await sandbox.ended(reading)).toMatchObject({ exit_code: 0 });
  expect((await sandbox.ok(`GET /v2/commands/${reading}`))['stdout']).toBe(`${inputBytes}\n`);
  sandbox.stderr = '';
  await upgradesNow(sandbox);
});

test(
  'RUN-UPGRADE-FAILED a new daemon that is killed at any moment leaves one that serves everything',
  async ({ sandbox }) => {
    await open(sandbox);
    for (const ms of killedAfterMs) {
      const { pid, upgraded } = await beginUpgrade(sandbox);
      await Bun.sleep(ms);
      process.kill(pid, 'SIGKILL');
      await upgraded;
      await until('a daemon serves', async () => (await sandbox.fetch('GET /health').catch(() => null))?.ok === true);
      await servesEverything(sandbox);
    }
    sandbox.stderr = '';
  },
  { expectedWarnings: ['started again by init'] },
);

test('RUN-UPGRADE-FAILED while a handover takes long, health reports the upgrade, and other requests are answered after it', async ({
  sandbox,
}) => {
  await open(sandbox);
  const slow = await nextProgram(sandbox, 'slow', (main) =>
    main.replace('init.standBy(version);', 'init.standBy(version); await Bun.sleep(4000);'),
  );
  const served = sandbox.served();
  const upgraded = sandbox.upgrade(slow);
  let late: Reply<EnvelopeBody> | null = null;
  await until('health reports the upgrade', async () => {
    const reply = await sandbox.request('GET /health');
    if (reply.status === 503) late = reply;
    return reply.status !== 200;
  });
  expect(late!.body.message).toMatch(/^an upgrade of the daemon has held requests for [234] s$/);
  const held = sandbox.run({ command: 'echo held' });
  expect(await upgraded).toMatchObject({ code: 0, stderr: '' });
  await served;
  expect(await held).toMatchObject({ stdout: 'held\n' });
  await servesEverything(sandbox);
});
