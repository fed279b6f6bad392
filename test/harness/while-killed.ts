/** Work beside a daemon that is killed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './sandbox.ts';

/** init gives up on a daemon that dies again and again within its first second. */
const shortestMs = 1100;

/** Does the work while the daemon is killed again and again. Returns what the work returns, and the kills. */
export async function whileKilled<T>(
  sandbox: Sandbox,
  work: () => Promise<T>,
  everyMs = shortestMs,
): Promise<readonly [T, number]> {
  let isDone = false;
  let kills = 0;
  const ending = Promise.withResolvers<void>();
  const killer = async (): Promise<void> => {
    for (;;) {
      await Promise.race([Bun.sleep(everyMs), ending.promise]); // The pause is what is asked for.
      if (isDone) return;
      process.kill(sandbox.daemonPid, 'SIGKILL');
      kills++;
      await sandbox.served();
    }
  };
  const killing = killer();
  try {
    return [await work(), kills] as const;
  } finally {
    isDone = true;
    ending.resolve();
    await killing;
  }
}

/** The files that work of `kills-loops.mjs` has left, and that show that it was done more than once. */
export function doneTwice(directory: string): string[] {
  return readdirSync(directory).filter(
    (name) => name.startsWith('once-') && readFileSync(join(directory, name), 'utf8') !== `${name}\n`,
  );
}
