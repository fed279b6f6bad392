/** Promise 10 with large numbers: many commands with many followers, and thousands of commands in a row. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { followMany } from '../harness/followers.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

function rssMib(sandbox: Sandbox): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.daemonPid}/status`, 'utf8'))?.[1]) / 1024;
}

const commands = 200;
const followersEach = 5;
const growthMib = 256;

test('PROMISE-10 two hundred commands with a thousand followers each deliver everything, in bounded memory', async ({
  sandbox,
}) => {
  const ids = await Promise.all(
    Array.from({ length: commands }, (_, n) =>
      sandbox.start({ command: `read line; seq ${n} 20000; exit ${n}`, shell: 'sh' }),
    ),
  );
  const before = rssMib(sandbox);
  const following = followMany(sandbox.url, followersEach, ids);
  await until(
    'a thousand streams are open',
    async () => {
      const metrics = await (await sandbox.fetch('GET /metrics')).text();
      return metrics.includes(`\nboxkeep_open_streams ${commands * followersEach}\n`);
    },
    30_000,
  );
  await Promise.all(ids.map((id) => sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' })));

  for (const [n, followers] of (await following).entries()) {
    const written = Array.from({ length: 20_000 - n + 1 }, (_, i) => `${n + i}\n`).join('');
    const digest = createHash('sha256').update(written).digest('hex');
    expect(followers).toEqual(Array.from({ length: followersEach }, () => ({ digest, exitCode: n })));
  }
  expect(rssMib(sandbox) - before).toBeLessThan(growthMib);
});

test('PROMISE-10 thousands of commands leave descriptors, processes and directories unchanged', async ({ sandbox }) => {
  const left = () => ({
    descriptors: sandbox.descriptors().length,
    processes: sandbox.processes().length + sandbox.keepers().length,
    directories: readdirSync(join(sandbox.runtimeDirectory, 'commands')).length - sandbox.spareDirectories().length,
    spareDirectories: sandbox.spareDirectories().length,
  });
  const batch = async (from: number) => {
    const run = (n: number) => sandbox.run({ command: `exit ${n % 256}`, shell: 'sh', command_id: `id-${n}` });
    for (let n = from; n < from + 1250; n += 50) {
      const codes = await Promise.all(Array.from({ length: 50 }, (_, i) => run(n + i)));
      expect(codes.map((result) => result['exit_code'])).toEqual(codes.map((_, i) => (n + i) % 256));
    }
  };
  await batch(0);
  // Older records are evicted a moment after the answer.
  await until('the newest 512 are kept', () => left().directories <= 512);
  const before = { ...left(), spareDirectories: 16 };
  await batch(1250);

  await until('nothing more is left', () => {
    const now = left();
    return (Object.keys(now) as (keyof typeof now)[]).every((name) => now[name] <= before[name]);
  });
});
