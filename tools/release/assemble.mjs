/** Puts a release together from the built files: `node tools/release/assemble.mjs DIRECTORY`, which must not exist. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pythonEnvironment } from '../python.mjs';
import { repositoryRoot } from '../repository.mjs';
import { runTool, SetupError } from '../setup.mjs';
import { billOfMaterials, licenceTexts } from './sbom.mjs';

const files = { x64: 'dist/boxkeep', arm64: 'dist/boxkeep-arm64' };
const notesLines = 40;

await runTool(async () => {
  const [directory] = process.argv.slice(2).map((path) => resolve(path));
  if (directory === undefined) throw new SetupError('usage: node tools/release/assemble.mjs DIRECTORY');
  if (existsSync(directory)) throw new SetupError(`${directory} exists: remove it, or name another directory`);
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8'));
  mkdirSync(directory, { recursive: true });
  for (const [machine, file] of Object.entries(files)) {
    const from = join(repositoryRoot, file);
    if (!existsSync(from)) throw new SetupError(`${file} is missing: npm run release builds it`);
    copyFileSync(from, join(directory, `boxkeep-${version}-linux-${machine}`));
  }
  const bill = billOfMaterials(version, ['/', join(repositoryRoot, 'dist/.arm64/debian/root')]);
  const write = (name, text) => writeFileSync(join(directory, name), text);
  write('sbom.cdx.json', `${JSON.stringify(bill, null, 1)}\n`);
  write('LICENCES.txt', licenceTexts(bill));
  write('NOTES.md', notes(version));
  copyFileSync(join(repositoryRoot, 'tools/release/install.sh'), join(directory, 'install.sh'));
  packForNode(directory);
  await packForPython(directory);
  write('SHA256SUMS', sums(directory));
  return 0;
});

/** In the format of sha256sum. */
function sums(directory) {
  const digest = (name) =>
    createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
  return readdirSync(directory)
    .toSorted()
    .map((name) => `${digest(name)}  ${name}\n`)
    .join('');
}

/** How to install it, and the newest part of the changelog; of a long one, what was changed, fixed and removed. */
function notes(version) {
  const changelog = readFileSync(join(repositoryRoot, 'CHANGELOG.md'), 'utf8');
  const [, newest = ''] = changelog.split(/^## .*$/m);
  const head = [
    `# boxkeep ${version}`,
    '',
    '    sh install.sh                # checks the file and copies it to /usr/local/bin',
    '    npm install ./boxkeep-*.tgz  # the client for TypeScript',
    '    pip install ./boxkeep-*.whl  # the client for Python',
    '',
    'An image without a shell takes the file as it is: `COPY boxkeep-*-linux-x64 /boxkeep`.',
    '',
  ];
  const all = newest
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  const heads = all.filter((line) => !line.startsWith('- Added:'));
  const chosen = (head.length + all.length <= notesLines ? all : heads).slice(0, notesLines - head.length - 1);
  return [...head, ...chosen, 'Everything that changed is in CHANGELOG.md.', ''].join('\n');
}

/** The package is packed from a copy, because npm builds it in its folder. */
function packForNode(directory) {
  const scratch = mkdtempSync(join(tmpdir(), 'boxkeep-pack-'));
  try {
    const folder = join(scratch, 'clients/typescript');
    cpSync(join(repositoryRoot, 'clients/typescript'), folder, { recursive: true });
    for (const shared of ['LICENSE', 'tsconfig.json']) {
      copyFileSync(join(repositoryRoot, shared), join(scratch, shared));
    }
    const path = `${join(repositoryRoot, 'node_modules/.bin')}:${process.env.PATH}`;
    run('npm', ['pack', '--silent', '--pack-destination', directory], folder, { PATH: path });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function packForPython(directory) {
  const environment = await pythonEnvironment('clients/python/client', '3.13');
  const client = join(repositoryRoot, 'clients/python');
  run(join(environment, 'bin/python'), ['-m', 'hatchling', 'build', '--directory', directory], client);
}

function run(command, args, cwd, env = {}) {
  const { status, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new SetupError(`${command} ${args[0]} failed: ${error?.message ?? stderr}`);
}
