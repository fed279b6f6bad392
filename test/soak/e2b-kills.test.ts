/** The calls of the newest SDK of E2B for Python, each on a daemon whose predecessor was killed just before. */
import { onStandardPorts, passCalls, pythonClients } from '../harness/e2b-clients.ts';
import { showFigures } from '../harness/figures.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

for (const client of pythonClients('2.63'))
  test(
    `E2B-KILLS every call has its result, on a daemon that was killed before the call: ${client.name}`,
    async ({ sandbox }) => {
      let kills = 0;
      let servedAt = performance.now();
      const calls = await passCalls(sandbox, client, 'debug', async () => {
        // init gives up on a daemon that dies ten times in a row within a second of its start.
        await until('the daemon is a second old', () => kills % 9 !== 8 || performance.now() - servedAt > 1100);
        process.kill(sandbox.daemonPid, 'SIGKILL');
        await sandbox.served();
        servedAt = performance.now();
        kills += 1;
      });
      showFigures({ calls, kills });
      expect(kills).toBeGreaterThan(50);
    },
    onStandardPorts('debug', { expectedWarnings: ['started again by init'], timeoutMs: 300_000 }),
  );
