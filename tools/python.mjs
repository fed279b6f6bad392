/**
 * Makes the Python environment for the tests of a folder: `node tools/python.mjs [folder [version]]`.
 *
 * The folder has a `requirements.txt`; the path of another file, which ends in `.txt`, may stand for it. The default
 * folder is `openapi`, the tests of the description. The default Python is the first on PATH; another version, such as
 * 3.9, is looked for on PATH and among those of pyenv.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { provide, runTool, SetupError } from './setup.mjs';

export const virtualEnvironments = {
  what: 'Python 3 with venv',
  isThere: () => spawnSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' }).status === 0,
  packages: ['python3', 'python3-venv'],
  otherwise: 'install python3 and python3-venv (Debian, Ubuntu) or python3 (Alpine, Fedora)',
};

/** Returns the environment. Its programs are in `bin`. */
export async function pythonEnvironment(folder = 'openapi', version = '') {
  const requirements = folder.endsWith('.txt') ? folder : `test/${folder}/requirements.txt`;
  const environment = placeOfPython(folder, version);
  const wanted = createHash('sha256')
    .update(readFileSync(join(repositoryRoot, requirements)))
    .digest('hex');
  await makeOnce(environment, wanted, () => {
    console.log(`setup: python3 -m venv and pip install (${requirements}, into ${environment})`);
    makePythonEnvironment(environment, version === '' ? 'python3' : pythonOf(version));
    const quietly = ['--quiet', '--disable-pip-version-check', '--no-input'];
    run(join(environment, 'bin/pip'), ['install', ...quietly, '--no-deps', '--requirement', requirements]);
  });
  return environment;
}

/** Where the environment is, or will be. */
export function placeOfPython(folder, version = '') {
  const name = folder.replace(/\.txt$/, '').replaceAll('/', '-');
  return join(repositoryRoot, `node_modules/.cache/python-${name}${version}`);
}

/** Contains only pip. */
export function makePythonEnvironment(directory, python = 'python3') {
  provide(virtualEnvironments);
  // ensurepip of older versions leaves a file in the directory for temporary files.
  const temporary = mkdtempSync(join(tmpdir(), 'boxkeep-venv-'));
  try {
    run(python, ['-m', 'venv', directory], { TMPDIR: temporary });
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function pythonOf(version) {
  const pyenv = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const kept = existsSync(pyenv) ? readdirSync(pyenv).filter((name) => name.startsWith(`${version}.`)) : [];
  const candidates = [...kept.map((name) => join(pyenv, name, 'bin/python')), `python${version}`];
  // The tests put one Python first on PATH under the names of several versions.
  const found = candidates.find((python) => versionOf(python) === version);
  if (found === undefined)
    throw new SetupError(
      `needs Python ${version}: install python${version} and its venv, or run pyenv install ${version}`,
    );
  return found;
}

/** Such as 3.11, or nothing where there is no such program. */
export function versionOf(python) {
  const script = 'import sys; print("%d.%d" % sys.version_info[:2])';
  return (spawnSync(python, ['-I', '-c', script], { encoding: 'utf8' }).stdout ?? '').trim();
}

function run(program, args, more = {}) {
  const options = { cwd: repositoryRoot, env: { ...process.env, ...more }, stdio: ['ignore', 'inherit', 'inherit'] };
  const { status, error } = spawnSync(program, args, options);
  if (error) throw new SetupError(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new SetupError(`${program} failed; its own message is above`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(async () => {
    await pythonEnvironment(process.argv[2], process.argv[3]);
    return 0;
  });
}
