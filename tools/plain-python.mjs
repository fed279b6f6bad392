/**
 * Makes the Python that tests find first on PATH: a Python with only pip.
 *
 * `node tools/plain-python.mjs` makes it and prints its steps. This Python has no ipykernel, whatever the machine has.
 * Without Python on the machine, nothing is made.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOnce } from './make-once.mjs';
import { makePythonEnvironment, versionOf } from './python.mjs';
import { repositoryRoot } from './repository.mjs';
import { isOnPath, runTool } from './setup.mjs';

const directory = join(repositoryRoot, 'node_modules/.cache/python-plain');

/** The directory of the environment's programs. */
export const plainPythonPath = join(directory, 'bin');

/** The daemon looks for kernels in every Python with one of these names, so each name must be this Python. */
const versions = Array.from({ length: 7 }, (_, index) => `3.${8 + index}`);

/**
 * This kernelspec, which cannot be started, takes precedence over a python3 kernelspec of the account or the machine.
 */
const noKernel = { argv: ['ipykernel'], display_name: 'No kernel', language: 'python' };

export async function makePlainPython() {
  if (!isOnPath('python3')) return;
  await makeOnce(directory, versions.join(' '), () => {
    console.log(`setup: python3 -m venv (into ${directory})`);
    makePythonEnvironment(directory);
    const own = versionOf(join(plainPythonPath, 'python3'));
    for (const version of versions.filter((one) => one !== own))
      symlinkSync('python3', join(plainPythonPath, `python${version}`));
    const kernel = join(directory, 'share/jupyter/kernels/python3');
    mkdirSync(kernel, { recursive: true });
    writeFileSync(join(kernel, 'kernel.json'), JSON.stringify(noKernel));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(async () => {
    await makePlainPython();
    return 0;
  });
}
