/** The descriptions against the daemon: Schemathesis generates valid and invalid requests, alone and in chains. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { showFigures } from '../harness/figures.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';
import { seed } from '../harness/seed.ts';
import { asTestAccount } from '../harness/test-account.ts';

const folder = join(repositoryRoot, 'test/openapi');
const seconds = { '/v2': 20, '/v1': 20 } as const;

// Before the first test, because a download takes longer than a test may.
const made = Bun.spawnSync([process.execPath, 'tools/python.mjs'], {
  cwd: repositoryRoot,
  stdout: 'inherit',
  stderr: 'inherit',
});

/** A throw-away account in its own namespaces: generated text runs as a command, and may be anything. */
const account = asTestAccount();
const harmless = {
  ...account,
  launcher: [
    ...['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
    ...['prlimit', '--nproc=300'],
    ...(account.launcher ?? []),
  ],
};

for (const surface of ['/v2', '/v1'] as const) {
  test(
    `HTTP-OPENAPI ${surface} answers as its description says, whatever the request`,
    async ({ sandbox }) => {
      expect(made.exitCode).toBe(0);
      const run = Bun.spawn(
        [
          join(repositoryRoot, 'node_modules/.cache/python-openapi/bin/schemathesis'),
          ...['--config-file', join(folder, 'schemathesis.toml')],
          ...['run', `${sandbox.url}${surface}/openapi.json`],
          ...['--max-time', String(seconds[surface]), '--max-examples', '20', '--seed', String(seed)],
          ...['--no-color', '--warnings', 'off', '--generation-database', 'none'],
        ],
        {
          cwd: sandbox.directory,
          env: {
            PATH: process.env['PATH'],
            PYTHONPATH: folder,
            SCHEMATHESIS_HOOKS: 'hooks',
            PYTHONDONTWRITEBYTECODE: '1',
          },
          stdout: 'pipe',
          stderr: 'pipe',
        },
      );
      const output = (await new Response(run.stdout).text()) + (await new Response(run.stderr).text());
      if ((await run.exited) !== 0) throw new Error(output);
      // Uploads without a path stay in the upload directory.
      const left = readdirSync(join(sandbox.directory, 'tmp')).filter((name) => !name.startsWith('.'));
      for (const name of left) rmSync(join(sandbox.directory, 'tmp', name), { recursive: true });
      const requests = Number(/Test cases:\s+(\d+) generated, \d+ passed/.exec(output)?.[1]);
      expect(requests).toBeGreaterThan(9);
      showFigures({ requests });
    },
    harmless,
  );
}
