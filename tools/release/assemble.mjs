/**
 * Puts a release together from what is built: `node tools/release/assemble.mjs DIRECTORY [--images]`.
 *
 * The directory must not exist. `--images` adds the images of `npm run images`.
 */
import { spawnSync } from 'node:child_process';
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
import { saveImages } from './images.mjs';
import { billOfMaterials, licenceTexts } from './sbom.mjs';

const files = { x64: 'dist/boxkeep', arm64: 'dist/boxkeep-arm64' };
const site = 'dist/site';
const maxNotesLines = 40;

await runTool(async () => {
  const [path, ...options] = process.argv.slice(2);
  if (path === undefined || options.some((option) => option !== '--images'))
    throw new SetupError('usage: node tools/release/assemble.mjs DIRECTORY [--images]');
  const directory = resolve(path);
  if (existsSync(directory)) throw new SetupError(`${directory} exists: remove it, or name another directory`);
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8'));
  // The packages of the clients keep the permissions of their files.
  process.umask(0o022);
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
  packSite(directory, `boxkeep-${version}-site`);
  if (options.length > 0) saveImages(directory, version);
  write('SHA256SUMS', run('sha256sum', readdirSync(directory).toSorted(), directory));
  run('chmod', ['-R', 'u=rwX,go=rX', directory]);
  return 0;
});

/** How to install it, and the part of the changelog that has the version, whose links lead into the repository. */
function notes(version) {
  const changelog = readFileSync(join(repositoryRoot, 'CHANGELOG.md'), 'utf8');
  const [section] = changelog.split(/^## /m).filter((part) => part.startsWith(`${version} (`));
  if (section === undefined) throw new SetupError(`CHANGELOG.md has no part "## ${version} (date)"`);
  const changes = section
    .replaceAll(/ \(\[\w+\]\([^)]*\)\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '');
  const lines = [
    `# boxkeep ${version}`,
    '',
    '    sh install.sh                # checks the file and copies it to /usr/local/bin',
    '    npm install ./boxkeep-*.tgz  # the client for TypeScript',
    '    pip install ./boxkeep-*.whl  # the client for Python',
    '',
    ...changes,
  ];
  if (lines.length > maxNotesLines) throw new SetupError(`the notes have ${lines.length} lines: shorten CHANGELOG.md`);
  return `${lines.join('\n')}\n`;
}

/** Sorted, and without times and accounts of this machine. */
function packSite(directory, name) {
  if (!existsSync(join(repositoryRoot, site))) throw new SetupError(`${site} is missing: npm run release builds it`);
  const anywhere = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const options = ['--format=ustar', '--use-compress-program=gzip -n', `--transform=s/^[.]/${name}/`, ...anywhere];
  const archive = join(directory, `${name}.tar.gz`);
  run('tar', ['--create', '--file', archive, ...options, '--directory', join(repositoryRoot, site), '.']);
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
    run('chmod', ['-R', 'u=rwX,go=rX', scratch]);
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
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new SetupError(`${command} ${args[0]} failed: ${error?.message ?? stderr}`);
  return stdout;
}
