/** The commands of docs/guide/code.md run as written, in the environment that the guide makes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { environment } from '../harness/bridge.ts';
import { kernel, nativePython } from '../harness/cells.ts';
import { blocksOf, runScript } from '../harness/guide.ts';
import { withKernels } from '../harness/kernels.ts';
import { needPrograms } from '../harness/programs.ts';
import {
  expect,
  repositoryRoot,
  test,
  type JsonObject,
  type Sandbox,
  type SandboxOptions,
} from '../harness/sandbox.ts';

beforeAll(() => needPrograms('curl'));

const blocks = blocksOf('docs/guide/code.md', 'sh');
/** The block that prepares the image and starts the daemon. */
const image = blocks.find((block) => block.includes('-m pip install')) ?? '';
const [makeEnvironment = '', install = '', , start = ''] = image.split('\n');
const packages = / -m pip install ([\w ]+?) +#/.exec(install)?.[1]?.split(' ') ?? [];

/** The packages of test/code/requirements.txt are already installed, so the new environment refers to them. */
const usePackages = `for packages in "$INSTALLED"/lib/python*/site-packages; do
  echo "$packages" > /opt/python/lib/"$(basename "$(dirname "$packages")")"/site-packages/installed.pth
done`;

/** Makes the environment of the guide in the directory of the test, and starts the daemon with the guide's PATH. */
function asInGuide(more: Record<string, string>): SandboxOptions {
  const kernels = withKernels(more);
  const inTest = (text: string, { directory }: Sandbox) => text.replaceAll('/opt/', `${directory}/`);
  return {
    prepare(sandbox) {
      const script = inTest(`${makeEnvironment}\n${usePackages}`, sandbox);
      const env = { PATH: `${environment}/bin:/usr/bin:/bin`, INSTALLED: environment };
      const { exitCode, stderr } = Bun.spawnSync(['sh', '-e', '-c', script], { env });
      expect([exitCode, stderr.toString()]).toEqual([0, '']);
    },
    env: (sandbox) => ({
      ...(typeof kernels.env === 'function' ? kernels.env(sandbox) : {}),
      PATH: inTest(/^PATH=(\S+) /.exec(start)?.[1] ?? '', sandbox).replace('$PATH', '/usr/bin:/bin'),
    }),
  };
}

for (const { name } of [nativePython, kernel]) {
  test(
    `CODE-1 CODE-5 CODE-8 the examples of the guide run as written (${name})`,
    async ({ sandbox }) => {
      const pinned = readFileSync(join(repositoryRoot, 'test/code/requirements.txt'), 'utf8');
      expect(packages).toContain('ipykernel');
      for (const packageName of packages) expect(pinned).toContain(`\n${packageName}==`);
      const commands = blocks.filter((block) => block !== image).join('');
      const script = commands.replaceAll('/tmp/', `${sandbox.directory}/`);
      const answers = await runScript(script, sandbox);

      expect(answers.map(({ success, message }) => [success, message])).toEqual(
        answers.map(({ message }) => [true, message]),
      );
      const [, sum, , , , table, figure] = answers.map(({ data }) => data as JsonObject);
      expect([sum?.['backend'], sum?.['outputs'][0].data]).toEqual([name, { 'text/plain': '45' }]);
      expect(table?.['outputs'][0].data['text/plain']).toMatch(/north +203\nsouth +416/);
      expect(figure?.['outputs'].at(-1).data['image/png']).toMatch(/^iVBOR/);
    },
    asInGuide({ SVC_CODE_BACKEND: name }),
  );
}
