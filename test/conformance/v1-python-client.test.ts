/** Every method of the last 1.x Python client against this daemon. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { environment as kernels } from '../harness/bridge.ts';
import { Chromium } from '../harness/chromium.ts';
import { countsOf, PythonClient, type ClientMode, type DrivenCall } from '../harness/python-client.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { testAccount, withPlainAccount } from '../harness/test-account.ts';

const client = new PythonClient();

async function drive(sandbox: Sandbox, mode: ClientMode, group?: string): Promise<DrivenCall[]> {
  try {
    return await client.drive(sandbox.url, sandbox.directory, mode, group);
  } finally {
    // Uploads without a path stay in the upload directory.
    rmSync(join(sandbox.directory, `tmp/uploads-${testAccount.uid}`), { recursive: true, force: true });
  }
}

for (const mode of ['sync', 'async'] as const) {
  test(
    `VER-3 VER-4 V1CODE-5 ERR-501 every method of the ${mode} Python client works as before, or is refused as announced`,
    async ({ sandbox }) => {
      const { methods, parsed } = countsOf(await drive(sandbox, mode));
      expect(methods).toBeGreaterThan(125);
      expect(parsed).toBeGreaterThan(60);
    },
    // These images have no ipykernel.
    withPlainAccount({ env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, timeoutMs: 120_000 }),
  );
}

test(
  'V1CODE-3 VER-3 kernels answer the Python client when ipykernel is installed',
  async ({ sandbox }) => {
    for (const mode of ['sync', 'async'] as const) {
      expect([mode, countsOf(await drive(sandbox, mode, 'jupyter'))]).toEqual([mode, { methods: 6, parsed: 6 }]);
    }
  },
  {
    // The files that a kernel keeps for its account are in the test's directory.
    env: ({ directory }) => ({
      PATH: `${kernels}/bin:${process.env['PATH'] ?? ''}`,
      IPYTHONDIR: join(directory, 'ipython'),
      JUPYTER_DATA_DIR: join(directory, 'jupyter'),
    }),
    timeoutMs: 120_000,
  },
);

let chromium: Chromium;

beforeAll(async () => {
  chromium = await Chromium.start();
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
});

test(
  'BROWSER-15 VER-3 a browser answers the Python client: tabs, cookies, requests and pictures',
  async ({ sandbox }) => {
    for (const mode of ['sync', 'async'] as const) {
      const { parsed } = countsOf(await drive(sandbox, mode, 'browser'));
      expect([mode, parsed]).toEqual([mode, 11]);
    }
  },
  { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }), timeoutMs: 120_000 },
);
