/** The last Python client of 1.x, every method of it, against a daemon that it was not made for. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { environment as kernels } from '../harness/bridge.ts';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';

const folder = join(repositoryRoot, 'test/clients/python');

// Before the first test, because a download takes longer than a test may.
const made = Bun.spawnSync([process.execPath, 'tools/python.mjs', 'clients/python'], {
  cwd: repositoryRoot,
  stdout: 'inherit',
  stderr: 'inherit',
});

interface DrivenCall {
  readonly call: string;
  readonly expected: string;
  readonly got: string;
  readonly problem: string | null;
}

async function drive(sandbox: Sandbox, ...args: readonly string[]): Promise<DrivenCall[]> {
  expect(made.exitCode).toBe(0);
  const driver = Bun.spawn(
    [
      join(repositoryRoot, 'node_modules/.cache/python-clients/python/bin/python'),
      ...[join(folder, 'drive.py'), sandbox.url, sandbox.directory, join(repositoryRoot, 'test/contract/v1'), ...args],
    ],
    { cwd: folder, env: { PYTHONDONTWRITEBYTECODE: '1' }, stdout: 'pipe', stderr: 'pipe' },
  );
  const [told, complaints] = await Promise.all([driver.stdout.text(), driver.stderr.text()]);
  // Uploads without a path stay where they went.
  rmSync(join(sandbox.directory, `tmp/uploads-${process.getuid?.()}`), { recursive: true, force: true });
  if ((await driver.exited) !== 0) throw new Error(`${told}${complaints}`);
  return told
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as DrivenCall);
}

/** A method may be called more than once. */
function expectDriven(calls: readonly DrivenCall[]): void {
  const wrong = calls.filter(({ problem }) => problem !== null);
  expect(wrong.map(({ call, got, problem }) => `${call}: ${got}; ${problem}`)).toEqual([]);
  expect(new Set(calls.map(({ call }) => call.split(' ')[0])).size).toBeGreaterThan(120);
  expect(calls.filter(({ got }) => got === 'parsed').length).toBeGreaterThan(60);
}

test(
  'VER-3 VER-4 V1CODE-3 every method of the Python client works as it did, or is refused as announced',
  async ({ sandbox }) => {
    expectDriven(await drive(sandbox, 'sync'));
  },
  {
    // What a kernel keeps for its account is kept in the directory of the test.
    env: ({ directory }) => ({
      PATH: `${kernels}/bin:${process.env['PATH'] ?? ''}`,
      IPYTHONDIR: join(directory, 'ipython'),
      JUPYTER_DATA_DIR: join(directory, 'jupyter'),
    }),
    timeoutMs: 120_000,
  },
);

test(
  'VER-3 VER-4 V1CODE-5 ERR-501 the same of the client that waits for nothing, where there is no ipykernel',
  async ({ sandbox }) => {
    expectDriven(await drive(sandbox, 'async', 'without-kernels'));
  },
  { env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, timeoutMs: 120_000 },
);
