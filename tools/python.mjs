/**
 * Makes the Python environment for the tests of a folder: `node tools/python.mjs [folder]`.
 *
 * The folder has a `requirements.txt`. The default folder is `openapi`, the tests of the description.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { provide, runTool, SetupError } from './setup.mjs';

const virtualEnvironments = {
  what: 'Python 3 with venv',
  isThere: () => spawnSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' }).status === 0,
  packages: ['python3', 'python3-venv'],
  otherwise: 'install python3 and python3-venv (Debian, Ubuntu) or python3 (Alpine, Fedora)',
};

/** Returns the environment. Its programs are in `bin`. */
export async function pythonEnvironment(folder = 'openapi') {
  const requirements = `test/${folder}/requirements.txt`;
  const environment = join(repositoryRoot, `node_modules/.cache/python-${folder.replaceAll('/', '-')}`);
  const wanted = createHash('sha256')
    .update(readFileSync(join(repositoryRoot, requirements)))
    .digest('hex');
  await makeOnce(environment, wanted, () => {
    console.log(`setup: python3 -m venv and pip install (${requirements}, into ${environment})`);
    makePythonEnvironment(environment);
    const quietly = ['--quiet', '--disable-pip-version-check', '--no-input'];
    run(join(environment, 'bin/pip'), ['install', ...quietly, '--no-deps', '--requirement', requirements]);
  });
  return environment;
}

/** Contains only pip. */
export function makePythonEnvironment(directory) {
  provide(virtualEnvironments);
  run('python3', ['-m', 'venv', directory]);
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: repositoryRoot, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) throw new SetupError(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new SetupError(`${program} failed; its own message is above`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(async () => {
    await pythonEnvironment(process.argv[2]);
    return 0;
  });
}
