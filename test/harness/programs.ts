/** The programs that tests of terminals run. */
import { spawnSync } from 'node:child_process';
import { repositoryRoot } from '../../tools/repository.mjs';

/** Those that this machine lacks are installed, with all others that tests may need; throws when that cannot be. */
export function needPrograms(...names: readonly string[]): void {
  const missing = () => names.filter((name) => Bun.which(name) === null);
  if (missing().length === 0) return;
  spawnSync(process.execPath, ['tools/test-programs.mjs'], { cwd: repositoryRoot, stdio: 'inherit' });
  if (missing().length > 0) throw new Error(`these tests need ${missing().join(', ')}: node tools/test-programs.mjs`);
}
