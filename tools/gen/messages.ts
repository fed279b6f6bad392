/** Generates the messages of a `.proto` file, which stand beside it as `_pb.ts`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { needPackages } from '../../test/harness/interpreters.ts';
import { repositoryRoot } from '../repository.mjs';

/** The path and the content of each generated file, for `.proto` files of one folder. */
export function generatedMessages(folder: string, names: readonly string[]): [path: string, content: string][] {
  const programs = join(needPackages('protobuf'), 'node_modules/.bin');
  const out = mkdtempSync(join(tmpdir(), 'boxkeep-messages-'));
  try {
    const template = {
      version: 'v2',
      plugins: [{ local: join(programs, 'protoc-gen-es'), out, opt: ['target=ts', 'import_extension=none'] }],
    };
    const { exitCode, stderr } = Bun.spawnSync(
      [join(programs, 'buf'), 'generate', '--template', JSON.stringify(template), '.'],
      { cwd: join(repositoryRoot, folder), stderr: 'pipe' },
    );
    if (exitCode !== 0) throw new Error(`buf generate: ${stderr.toString()}`);
    return names.map((name) => {
      const file = `${basename(name, '.proto')}_pb.ts`;
      return [join(folder, dirname(name), file), readFileSync(join(out, file), 'utf8')];
    });
  } finally {
    rmSync(out, { recursive: true });
  }
}
