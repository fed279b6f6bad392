/** The program under test as its next version: the same sources with another number, run or built as the first one was. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program, repositoryRoot, type Sandbox } from './sandbox.ts';

export const nextVersion = '99.0.0-next';

/** The command line of a program whose version is `nextVersion`, in the directory of the sandbox; `edit` may spoil it. */
export function buildNextVersion(sandbox: Sandbox, edit: (main: string) => string = (main) => main): string[] {
  const root = join(sandbox.directory, 'next');
  mkdirSync(root);
  for (const part of ['console', 'daemon', 'native', 'tools', 'package.json', 'package-lock.json']) {
    cpSync(join(repositoryRoot, part), join(root, part), { recursive: true });
  }
  symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'));
  const manifest = join(root, 'daemon/package.json');
  const content = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
  writeFileSync(manifest, JSON.stringify({ ...content, version: nextVersion }));
  const main = join(root, 'daemon/src/main.ts');
  writeFileSync(main, edit(readFileSync(main, 'utf8')));
  if (process.env['SANDBOXD_TARGET'] === 'binary') build(root);
  return program(root);
}

function build(root: string): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['node', 'tools/build.mjs'], { cwd: root });
  if (exitCode !== 0) throw new Error(`the next version could not be built: ${stdout.toString()}${stderr.toString()}`);
}
