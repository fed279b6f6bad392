/** A client that goes away takes its processes with it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGrpc, withAgentSandbox } from '../harness/agent-sandbox.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const ways = {
  cancel: 'a cancelled Start',
  execute: 'a cancelled Execute',
  connection: 'a Start whose connection has ended',
  deadline: 'a Start at its deadline',
  killed: 'a Start whose client was killed',
};

for (const [way, title] of Object.entries(ways))
  test(
    `AGS-END ${title} ends its whole tree`,
    async ({ sandbox }) => {
      const mark = join(sandbox.directory, 'pids');
      const client = startGrpc('agent-sandbox-goes.py', sandbox, way, mark);
      if (way === 'killed') process.kill((await client.next())[1] as number, 'SIGKILL');
      const pids = await pidsIn(mark);
      await until('the tree has ended', () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
      // At the deadline, the limit of the process and the reset of the client arrive together.
      expect([['killed'], ...(way === 'deadline' ? [['timed_out']] : [])]).toContainEqual(await statuses(sandbox));
      if (way !== 'killed') await client.end();
    },
    withAgentSandbox({ timeoutMs: 120_000 }),
  );

async function pidsIn(path: string): Promise<number[]> {
  await until('the process has told its pids', () => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  return readFileSync(path, 'utf8').trim().split(' ').map(Number);
}

async function statuses(sandbox: Sandbox): Promise<string[]> {
  const { commands } = await sandbox.ok('GET /v2/commands');
  return (commands as { status: string }[]).map(({ status }) => status);
}
