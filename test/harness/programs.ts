/** Provides the programs that terminal tests run. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { repositoryRoot } from '../../tools/repository.mjs';

/** A name that begins with a slash is a file. If a program is missing, installs it with all others that tests may need. Throws when that fails. */
export function needPrograms(...names: readonly string[]): void {
  const isThere = (name: string) => (name.startsWith('/') ? existsSync(name) : Bun.which(name) !== null);
  const missing = () => names.filter((name) => !isThere(name));
  if (missing().length === 0) return;
  spawnSync(process.execPath, ['tools/test-programs.mjs'], { cwd: repositoryRoot, stdio: 'inherit' });
  if (missing().length > 0) throw new Error(`these tests need ${missing().join(', ')}: node tools/test-programs.mjs`);
}
