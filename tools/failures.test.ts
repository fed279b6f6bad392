/** Failures are found in the runner's output, whatever the tests print between them. */
import { expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { failuresIn } from './failures.mjs';

const first = `
import { expect, test } from 'bun:test';
test('good', () => console.log('error: printed by a test that passes'));
test('bad', () => expect(1).toBe(2));
`;
const second = `
import { test } from 'bun:test';
test('slow', () => new Promise(() => {}), 50);
`;

test('each failure of a run is reported with its file, its title and its error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'failures-'));
  try {
    await writeFile(join(folder, 'first.test.ts'), first);
    await writeFile(join(folder, 'second.test.ts'), second);
    const run = Bun.spawn([process.execPath, 'test'], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const failures = failuresIn(await new Response(run.stderr).text());
    expect(await run.exited).toBe(1);

    const [bad, slow] = failures.toSorted((one, other) => one.file.localeCompare(other.file));
    expect(failures).toHaveLength(2);
    expect(bad?.file).toBe('first.test.ts');
    expect(bad?.title).toStartWith('bad');
    expect(bad?.lines.join('\n')).toContain('Received: 1');
    expect(bad?.lines.join('\n')).not.toContain('printed by a test');
    expect(slow?.title).toStartWith('slow');
    expect(slow?.lines.join('\n')).toContain('timed out after 50ms');
  } finally {
    await rm(folder, { recursive: true });
  }
});
