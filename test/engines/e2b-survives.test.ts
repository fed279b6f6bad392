/** What the SDK of E2B has begun goes on without the daemon. */
import { urlOf, startClient, withE2b } from '../harness/e2b.ts';
import { many } from '../harness/counts.ts';
import { expect, test } from '../harness/sandbox.ts';

test(
  'E2B-SURVIVES kill -9 of the daemon in the middle of a command, a terminal and a cell: all of each is there again',
  async ({ sandbox }) => {
    const client = startClient('e2b-survives.py', urlOf(sandbox));
    const lines = [1, 2, 3, 4, 5].map((line) => `line ${line}`);
    for (let round = 0; round < many(20); round++) {
      await client.tell('begin');
      expect((await client.next())[0]).toBe('begun');
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      await client.tell('go on');
      expect([await client.next(), await client.next(), await client.next()]).toEqual([
        ['command', [9, lines]],
        ['terminal', [9, lines]],
        ['cell', '4'],
      ]);
    }
    await client.end();
  },
  withE2b({ expectedWarnings: ['started again by init'], timeoutMs: 300_000 }),
);
