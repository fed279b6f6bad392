/** The commands of docs/guide/code.md run as written, with the packages that the guide installs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { kernel, nativePython } from '../harness/cells.ts';
import { blocksOf, runScript } from '../harness/guide.ts';
import { withKernels } from '../harness/kernels.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, repositoryRoot, test, type JsonObject } from '../harness/sandbox.ts';

beforeAll(() => needPrograms('curl'));

const commands = blocksOf('docs/guide/code.md', 'sh').join('');
/** The packages of test/code/requirements.txt are already installed. */
const install = /^python3 -m pip install ([\w ]+?) +#.*\n/m;

for (const { name } of [nativePython, kernel]) {
  test(
    `CODE-1 CODE-5 CODE-8 the examples of the guide run as written (${name})`,
    async ({ sandbox }) => {
      const pinned = readFileSync(join(repositoryRoot, 'test/code/requirements.txt'), 'utf8');
      for (const packageName of install.exec(commands)?.[1]?.split(' ') ?? ['none'])
        expect(pinned).toContain(`\n${packageName}==`);
      const script = commands.replace(install, '').replaceAll('/tmp/', `${sandbox.directory}/`);
      const answers = await runScript(script, sandbox);

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
