/** A daemon with no more than a few free descriptors. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, type Sandbox } from './sandbox.ts';

/** Leaves the daemon so many descriptors, until the result is disposed of. */
export function withFewDescriptors(sandbox: Sandbox, free: number): Disposable {
  const pid = sandbox.daemonPid;
  const usual = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? '1024';
  limit(pid, limitThatLeaves(pid, free));
  return { [Symbol.dispose]: () => limit(pid, Number(usual)) };
}

/** The limit is the number that the next descriptor must stay below; the daemon keeps those that it has. */
function limitThatLeaves(pid: number, free: number): number {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let count = 0;
  for (let left = free; left > 0; count++) if (!used.has(count)) left -= 1;
  return count;
}

function limit(pid: number, count: number): void {
  const { exitCode } = Bun.spawnSync(['prlimit', '--pid', String(pid), `--nofile=${count}:`]);
  expect(exitCode).toBe(0);
}
