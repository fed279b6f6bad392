/** Clients beside one fault after another, in 256 MiB. `npm run soak -- chaos` takes 20 minutes. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Sandbox as Box, type BoxError } from '../../clients/typescript/src/index.ts';
import { loops } from '../clients/typescript/kills-loops.mjs';
import { jump, withClock } from '../harness/clock.ts';
import { inControlGroup } from '../harness/control-group.ts';
import { withFewDescriptors } from '../harness/descriptors.ts';
import { inRoom, otherDisk } from '../harness/disks.ts';
import { showFigures } from '../harness/figures.ts';
import { fillFileSystem } from '../harness/full-disk.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';
import { doneTwice } from '../harness/while-killed.ts';

const seconds = Number(process.env['BOXKEEP_CHAOS_SECONDS'] ?? 60);
const memoryBytes = 256 * 1024 * 1024;
/** How long a fault lasts that ends by itself, and how long the daemon then has for its clients alone. */
const [faultMs, pauseMs] = [1500, 1500];

const daySeconds = 86_400;

/** Each leaves the sandbox as it was. Throws when an answer tells of something else than the fault. */
const faults: Readonly<Record<string, (sandbox: Sandbox, turn: number) => Promise<void>>> = {
  async 'the daemon is killed'(sandbox) {
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
  },
  async 'the keepers that wait are killed'(sandbox) {
    const found = sandbox.spareKeepers();
    for (const pid of found) process.kill(pid, 'SIGSTOP');
    await until('they are stopped', () => found.every((pid) => statusOf(pid, 'State') === 'T'));
    // One that was handed a command meanwhile does not wait any more: without it the command is lost.
    const waiting = sandbox.spareKeepers();
    for (const pid of found) process.kill(pid, waiting.includes(pid) ? 'SIGKILL' : 'SIGCONT');
  },
  async 'the daemon is frozen'(sandbox) {
    const pid = sandbox.daemonPid;
    process.kill(pid, 'SIGSTOP');
    await Bun.sleep(faultMs); // The length of the fault.
    process.kill(pid, 'SIGCONT');
  },
  async 'the clock jumps'(sandbox, turn) {
    jump(sandbox, (turn % 3) * daySeconds - daySeconds);
  },
  async 'the disk is full'(sandbox, turn) {
    const path = join(sandbox.directory, 'disk', 'kept');
    const kept = { path, content: `kept ${turn}\n` };
    await sandbox.ok('POST /v2/fs/write', kept);
    fillFileSystem(otherDisk(sandbox, 'filler'));
    const refused = await sandbox.request('POST /v2/fs/write', { path, content: 'x'.repeat(100_000) });
    expect(refused.status).toBe(507);
    rmSync(otherDisk(sandbox, 'filler'));
    expect(readFileSync(otherDisk(sandbox, 'kept'), 'utf8')).toBe(kept.content);
  },
  async 'no descriptor is left'(sandbox) {
    using _few = withFewDescriptors(sandbox, 0);
    await Bun.sleep(faultMs); // The length of the fault.
  },
  async 'a command is killed'(sandbox, turn) {
    const { id, pid } = await sleeper(sandbox, turn);
    process.kill(pid, 'SIGKILL');
    expect(await sandbox.ended(id)).toMatchObject({ status: 'killed', exit_code: 137, signal: 'SIGKILL' });
  },
  async 'a keeper is killed'(sandbox, turn) {
    const { id, pid } = await sleeper(sandbox, turn);
    process.kill(Number(statusOf(pid, 'PPid')), 'SIGKILL');
    expect(await sandbox.ended(id)).toMatchObject({ status: 'lost', exit_code: null });
  },
  async 'an interpreter is killed'(sandbox) {
    const cell = { language: 'python', code: 'import os; os.kill(os.getpid(), 9)' };
    const { body } = await sandbox.request('POST /v2/code/execute', cell);
    expect(body).toMatchObject({ data: { status: 'error', exit_code: null } });
  },
};

test(
  'CLIENT-CHAOS beside every fault in turn, in 256 MiB, clients lose nothing, and nothing is done twice',
  async ({ sandbox }) => {
    const directories = ['one', 'two'].map((name) => join(sandbox.directory, name));
    const work = directories.map(async (directory) => {
      mkdirSync(directory);
      return await loops(
        await Box.connect(sandbox.url, null, { retryMs: 30_000, fetch: unkept }),
        directory,
        seconds,
        isRefused,
      );
    });
    const isOver = Promise.allSettled(work).then(() => true);
    const counts: Record<string, number> = {};
    for (let turn = 0; !(await Promise.race([isOver, Bun.sleep(pauseMs)])); turn++) {
      const names = Object.keys(faults);
      const name = names[turn % names.length]!;
      await faults[name]!(sandbox, turn).catch((error: unknown) => {
        throw new Error(`${name}, turn ${turn}: ${String(error)}`, { cause: error });
      });
      counts[name] = (counts[name] ?? 0) + 1;
    }
    const done = await Promise.all(work);
    console.log(JSON.stringify({ seconds, done, counts }));
    showFigures({
      tasks: sum(done.flatMap((of) => Object.values(of))),
      faults: sum(Object.values(counts)),
      'kinds of faults': Object.keys(counts).length,
    });
    for (const name of Object.keys(faults)) expect([name, counts[name]]).toEqual([name, expect.any(Number)]);
    for (const of of done)
      for (const [task, count] of Object.entries(of)) expect([task, count > 0]).toEqual([task, true]);
    for (const directory of directories) expect(doneTwice(directory)).toEqual([]);
    await until('the daemon answers', async () => (await sandbox.request('GET /health')).status === 200);
  },
  {
    ...inControlGroup({ memoryBytes }, inRoom(4, withClock())),
    // Ended commands are kept for longer while no descriptor is left.
    expectedWarnings: ['started again by init', 'the runtime directory'],
    timeoutMs: (seconds + 120) * 1000,
  },
);

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

/** An idle connection counts as one that the daemon has left open. */
const unkept = (input: string | URL | Request, init?: RequestInit) => fetch(input, { ...init, keepalive: false });

/** What the daemon says while it has no room for a call. */
function isRefused({ status, isMaybeDone }: BoxError): boolean {
  return (status === 429 || status === 503) && !isMaybeDone;
}

/** A command that sleeps, and the pid of its process. */
async function sleeper(sandbox: Sandbox, turn: number): Promise<{ readonly id: string; readonly pid: number }> {
  const id = await sandbox.start({ command: 'sleep', shell: 'none', args: [`${1_000_000 + turn}`] });
  const find = () => sandbox.processes().find(({ command }) => command === `sleep ${1_000_000 + turn}`);
  await until('the command runs', () => find() !== undefined);
  return { id, pid: find()!.pid };
}

/** The first word of a field of proc(5), for example T for the state of a stopped process. */
function statusOf(pid: number, field: string): string | undefined {
  return new RegExp(`^${field}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}
