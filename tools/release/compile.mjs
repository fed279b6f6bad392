/** Compiles the daemon with its runtime into one executable file. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';
import { SetupError } from '../setup.mjs';

/** Code that runs in its own thread is a separate entry (`daemon/src/platform/host/workers.ts`). */
const entries = [
  'daemon/src/main.ts',
  'daemon/src/core/desktop/accessibility/pattern-worker.ts',
  'daemon/src/core/terminals/screen/pattern-worker.ts',
];

/**
 * Without the two autoload flags the file would run code from its working directory. Modules that are imported later
 * are in separate chunks: docs/decisions/0010-start.md.
 * @param {string} bun the compiler
 * @param {{outfile: string, options?: string[]}} wanted `outfile` is absolute; `options` are further options of `bun
 * build`
 */
export function compileDaemon(bun, { outfile, options = [] }) {
  const args = [
    'build',
    '--compile',
    '--bytecode',
    '--format=esm',
    '--splitting',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    ...options,
    ...entries.map((entry) => join(repositoryRoot, entry)),
    '--outfile',
    outfile,
  ];
  // The compiler writes a draft into its working directory, and the tests of the repository read every file there.
  runBun(bun, args, dirname(outfile));
}

export function runBun(bun, args, cwd = repositoryRoot) {
  const result = spawnSync(bun, args, { cwd, encoding: 'utf8' });
  if (result.status !== 0) throw new SetupError(`bun ${args[0]} failed:\n${result.stdout}${result.stderr}`);
}
