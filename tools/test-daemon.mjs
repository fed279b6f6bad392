/** Compiles the daemon's sources for `npm test`, because a daemon that is compiled starts four times faster. */
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileDaemon } from './release/compile.mjs';
import { bunPath, compiledDaemon, repositoryRoot, ripgrepPath } from './repository.mjs';
import { runTool } from './setup.mjs';

await runTool(() => {
  const path = join(repositoryRoot, compiledDaemon);
  // The compiler writes more files beside its result.
  const draft = `${dirname(path)}.${process.pid}`;
  for (const directory of [draft, dirname(path)]) mkdirSync(directory, { recursive: true });
  try {
    // Unlike the delivered file, this one keeps the names and the lines of the sources for stack traces.
    compileDaemon(bunPath(), { outfile: join(draft, 'daemon'), options: ['--sourcemap=inline'] });
    renameSync(join(draft, 'daemon'), path);
    // A release carries ripgrep beside the daemon.
    symlinkSync(ripgrepPath(), join(draft, 'rg'));
    renameSync(join(draft, 'rg'), join(dirname(path), 'rg'));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return 0;
});
