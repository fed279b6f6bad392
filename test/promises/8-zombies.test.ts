/** Promise 8: no zombie outlives a second, whether or not the daemon is PID 1. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const orphans = 'for n in 1 2 3 4 5 6 7 8 9 10; do (setsid sleep 0.0$n &); (true &); done; exit 0';
const longestMs = 1000;

/** The unreaped dead processes among the descendants of init. */
function zombies(sandbox: Sandbox): string[] {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readStat)
    .filter((stat) => stat !== null);
  const parents = new Map(stats.map((stat) => [stat.pid, stat.parent]));
  const isOurs = (pid: number): boolean =>
    pid === sandbox.initPid || (parents.has(pid) && isOurs(parents.get(pid) ?? 0));
  return stats.filter((stat) => stat.state === 'Z' && isOurs(stat.pid)).map((stat) => stat.line);
}

function readStat(pid: string) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), state, parent: Number(parent), line };
  } catch {
    return null; // The process ended during the read.
  }
}

async function leavesNone({ sandbox }: { sandbox: Sandbox }): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 10 }, () => sandbox.run({ command: orphans })));
    await until('every zombie is reaped', () => zombies(sandbox).length === 0, longestMs);
  }
  // Orphans of a running command go to its keeper, all others to init.
  const running = await sandbox.start({ command: `(${orphans}); echo left; read line` });
  await until('they were left', async () => (await sandbox.ok(`GET /v2/commands/${running}`))['stdout'] === 'left\n');
  await until('every zombie is reaped', () => zombies(sandbox).length === 0, longestMs);
  await sandbox.ok(`DELETE /v2/commands/${running}`);
  await sandbox.run({ command: 'kill -9 $$' });
  await until('every zombie is reaped', () => zombies(sandbox).length === 0, longestMs);
}

test('PROMISE-8 orphans are reaped when the daemon is an ordinary process', leavesNone);

test(
  'PROMISE-8 orphans are reaped when the daemon is PID 1',
  async ({ sandbox }) => {
    expect((await sandbox.run({ command: 'cat /proc/1/comm' }))['stdout']).toBe('boxkeep-init\n');
    await leavesNone({ sandbox });
  },
  { launcher: ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] },
);
