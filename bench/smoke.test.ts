/** A row measures a running server: the baseline, which needs no build. */
import { expect, test } from 'bun:test';
import { direct } from './peers/direct.ts';
import { exec } from './rows/exec.ts';

test('the exec row has a sample of each counted run', async () => {
  await using server = await direct(null).open();
  const openSandboxd = () => Promise.reject(new Error('the exec row starts no daemon of its own'));
  const [measurement] = await exec.measure({ contestants: [server], starters: [], openSandboxd });
  const samples = measurement?.samples['direct'] ?? [];
  expect(samples.length).toBeGreaterThan(10);
  expect(Math.min(...samples)).toBeGreaterThan(0);
  expect(await server.run('exit 3')).toBe(3);
});
