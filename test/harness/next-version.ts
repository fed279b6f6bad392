/** Provides the program under test with a higher version number, run or built in the same way. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from '../../tools/make-once.mjs';
import { program, repositoryRoot, sourceProgram, type Sandbox } from './sandbox.ts';

export const nextVersion = '99.0.0-next';

/**
 * The command line of a program whose version is `nextVersion`. `edit` may break it, and `name` identifies the
 * variant.
 */
export async function nextProgram(
  sandbox: Sandbox,
  name = 'next',
  edit: (main: string) => string = (main) => main,
): Promise<string[]> {
  if (process.env['BOXKEEP_TARGET'] === 'binary') return built(name, edit);
  const root = join(sandbox.directory, name);
  copySources(root, edit);
  return sourceProgram(root);
}

/** Built once for each build of the program under test. The bare roots use this machine's build. */
async function built(name: string, edit: (main: string) => string): Promise<string[]> {
  const root = join(repositoryRoot, 'dist/.versions', name);
  const { size, mtimeMs } = statSync(join(repositoryRoot, 'dist/boxkeep'));
  const word = createHash('sha256')
    .update(`${size} ${mtimeMs} ${edit(mainSource())}`)
    .digest('hex');
  await makeOnce(root, word, () => {
    copySources(root, edit);
    const { exitCode, stdout, stderr } = Bun.spawnSync(['node', 'tools/build.mjs'], { cwd: root });
    if (exitCode !== 0) throw new Error(`${name} could not be built: ${stdout.toString()}${stderr.toString()}`);
  });
  return program(root);
}

const mainSource = () => readFileSync(join(repositoryRoot, 'daemon/src/main.ts'), 'utf8');

/** Files that another process is building have a name that ends in its pid. */
const isFinished = (path: string) => !/\/(?:build|dist)\/.*\.\d+$/.test(path);

function copySources(root: string, edit: (main: string) => string): void {
  mkdirSync(root, { recursive: true });
  for (const part of ['clients', 'console', 'daemon', 'native', 'tools', 'package.json', 'package-lock.json']) {
    cpSync(join(repositoryRoot, part), join(root, part), { recursive: true, filter: isFinished });
  }
  symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'));
  const manifest = join(root, 'daemon/package.json');
  const content = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
  writeFileSync(manifest, JSON.stringify({ ...content, version: nextVersion }));
  writeFileSync(join(root, 'daemon/src/main.ts'), edit(mainSource()));
}
