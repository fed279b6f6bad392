/** The last Python client of 1.x, every method of it, against a daemon that it was not made for. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { environment as kernels } from '../harness/bridge.ts';
import { needPython } from '../harness/interpreters.ts';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';
import { testAccount, withPlainAccount } from '../harness/test-account.ts';

const folder = join(repositoryRoot, 'test/clients/python');

const client = needPython('clients/python');

interface DrivenCall {
  readonly call: string;
  readonly expected: string;
  readonly got: string;
  readonly problem: string | null;
}

async function drive(sandbox: Sandbox, mode: 'sync' | 'async', group?: string): Promise<DrivenCall[]> {
  const tables = join(repositoryRoot, 'test/contract/v1');
  const driver = Bun.spawn(
    [
      join(client, 'bin/python'),
      ...[join(folder, 'drive.py'), sandbox.url, sandbox.directory, tables, mode, ...(group ? [group] : [])],
    ],
    { cwd: folder, env: { PYTHONDONTWRITEBYTECODE: '1' }, stdout: 'pipe', stderr: 'pipe' },
  );
  const [told, complaints] = await Promise.all([driver.stdout.text(), driver.stderr.text()]);
  // Uploads without a path stay where they went.
  rmSync(join(sandbox.directory, `tmp/uploads-${testAccount.uid}`), { recursive: true, force: true });
  if ((await driver.exited) !== 0) throw new Error(`${told}${complaints}`);
  const calls = told
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as DrivenCall);
  const wrong = calls.filter(({ problem }) => problem !== null);
  expect(wrong.map(({ call, got, problem }) => `${call}: ${got}; ${problem}`)).toEqual([]);
  return calls;
}

/** Calls and methods; a method is called more than once where it has more than one answer. */
function countsOf(calls: readonly DrivenCall[]): { readonly methods: number; readonly parsed: number } {
  return {
    methods: new Set(calls.map(({ call }) => call.split(' ')[0])).size,
    parsed: calls.filter(({ got }) => got === 'parsed').length,
  };
}

for (const mode of ['sync', 'async'] as const) {
  test(
    `VER-3 VER-4 V1CODE-5 ERR-501 every method of the ${mode} Python client works as it did, or is refused as announced`,
    async ({ sandbox }) => {
      const { methods, parsed } = countsOf(await drive(sandbox, mode));
      expect(methods).toBeGreaterThan(125);
      expect(parsed).toBeGreaterThan(60);
    },
    // No ipykernel is in these.
    withPlainAccount({ env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, timeoutMs: 120_000 }),
  );
}

test(
  'V1CODE-3 VER-3 kernels answer the Python client where there is an ipykernel',
  async ({ sandbox }) => {
    for (const mode of ['sync', 'async'] as const) {
      expect([mode, countsOf(await drive(sandbox, mode, 'jupyter'))]).toEqual([mode, { methods: 6, parsed: 6 }]);
    }
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
