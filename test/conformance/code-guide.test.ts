/** The commands of docs/guide/code.md run as written, with the packages that the guide installs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { kernel, nativePython } from '../harness/cells.ts';
import { withKernels } from '../harness/kernels.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, repositoryRoot, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

beforeAll(() => needPrograms('curl'));

const guide = readFileSync(join(repositoryRoot, 'docs/guide/code.md'), 'utf8');
const commands = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block).join('');
/** The packages of test/code/requirements.txt are already installed. */
const install = /^python3 -m pip install ([\w ]+?) +#.*\n/m;

/** The answers of the commands, in order; this daemon has another address, and its own directory. */
async function runGuide(sandbox: Sandbox): Promise<JsonObject[]> {
  const script = commands
    .replace(install, '')
    .replaceAll('localhost:18091', new URL(sandbox.url).host)
    .replaceAll('/tmp/', `${sandbox.directory}/`)
    .replaceAll('curl -s ', "curl -sS -w '\\n' ");
  const shell = Bun.spawn(['sh', '-e', '-c', script], {
    env: { PATH: process.env['PATH'] },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

for (const { name } of [nativePython, kernel]) {
  test(
    `CODE-1 CODE-5 CODE-8 the examples of the guide run as written (${name})`,
    async ({ sandbox }) => {
      const pinned = readFileSync(join(repositoryRoot, 'test/code/requirements.txt'), 'utf8');
      for (const packageName of install.exec(commands)?.[1]?.split(' ') ?? ['none'])
        expect(pinned).toContain(`\n${packageName}==`);
      const answers = await runGuide(sandbox);

      expect(answers.map(({ success, message }) => [success, message])).toEqual(
        answers.map(({ message }) => [true, message]),
      );
      const [, sum, , , , table, figure] = answers.map(({ data }) => data as JsonObject);
      expect([sum?.['backend'], sum?.['outputs'][0].data]).toEqual([name, { 'text/plain': '45' }]);
      expect(table?.['outputs'][0].data['text/plain']).toMatch(/north +203\nsouth +416/);
      expect(figure?.['outputs'].at(-1).data['image/png']).toMatch(/^iVBOR/);
    },
    withKernels({ SVC_CODE_BACKEND: name }),
  );
}
