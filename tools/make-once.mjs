/** Makes a cached directory once, while other processes that need it wait. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 200;

/** Calls `make` unless the directory was made with the same word before. `make` starts with the directory absent. */
export async function makeOnce(directory, word, make) {
  const stamp = join(directory, '.installed-requirements');
  const isMade = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === word;
  if (isMade()) return;
  const lock = await takeLock(directory);
  try {
    if (isMade()) return;
    mkdirSync(dirname(directory), { recursive: true });
    rmSync(directory, { recursive: true, force: true });
    make();
    writeFileSync(stamp, word);
  } finally {
    lock.close();
  }
}

/** The lock is a socket address that only one process can bind and that is free again when that process is killed. */
async function takeLock(directory) {
  const address = `\0boxkeep-make-${createHash('sha256').update(directory).digest('hex').slice(0, 40)}`;
  for (;;) {
    const server = createServer();
    const outcome = await new Promise((resolve) => {
      server.once('error', resolve);
      server.listen(address, () => resolve('taken'));
    });
    if (outcome === 'taken') return server;
    if (outcome.code !== 'EADDRINUSE') throw outcome;
    await sleep(lookEveryMs);
  }
}
