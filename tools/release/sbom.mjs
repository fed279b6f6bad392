/** Lists what the file contains besides its own code: packages of npm, the runtime, the C library and ripgrep. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryRoot, ripgrepPath } from '../repository.mjs';
import { SetupError } from '../setup.mjs';

const workspaces = ['daemon', 'console'];
const read = (path) => JSON.parse(readFileSync(join(repositoryRoot, path), 'utf8'));

/**
 * The document in the format CycloneDX 1.5. It has no time and no random number, so that two builds have the same.
 * @param {string} version
 * @param {string[]} glibcRoots where the C libraries of the files were taken from
 */
export function billOfMaterials(version, glibcRoots) {
  const { serialNumber: _random, metadata: _time, ...document } = packagesOfNpm();
  const components = [
    ...document.components.filter(({ name }) => !workspaces.includes(name)),
    ...carriedParts(glibcRoots),
  ];
  const component = { type: 'application', name: 'boxkeep', version, licenses: [{ expression: 'Apache-2.0' }] };
  const { $schema, bomFormat, specVersion } = document;
  return { $schema, bomFormat, specVersion, version: 1, metadata: { component }, components };
}

/** The texts of the licences, each after the packages it belongs to, and what has no text in its package. */
export function licenceTexts({ components }) {
  const texts = new Map([[readFileSync(join(repositoryRoot, 'LICENSE'), 'utf8').trim(), ['boxkeep']]]);
  const without = [];
  for (const { name, version, licenses } of components) {
    const text = licenceText(name);
    const [{ license, expression = license.id }] = licenses;
    if (text === null) without.push(`${name} ${version}: ${expression}`);
    else texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
  }
  const rule = `\n${'-'.repeat(80)}\n\n`;
  const parts = [...texts].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`);
  return [...parts, `Their packages have no text:\n\n${without.join('\n')}\n`].join(rule);
}

function licenceText(name) {
  const ofRipgrep = dirname(dirname(ripgrepPath()));
  const folder = name === 'ripgrep' ? ofRipgrep : join(repositoryRoot, 'node_modules', name);
  if (!existsSync(folder)) return null;
  const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)(?:\.\w+)?$/i.test(entry));
  return file === undefined ? null : readFileSync(join(folder, file), 'utf8').trim();
}

/** npm names packages by their version, and the private ones of the repository have none. */
function packagesOfNpm() {
  const copy = mkdtempSync(join(tmpdir(), 'boxkeep-sbom-'));
  try {
    for (const folder of ['.', ...workspaces]) {
      mkdirSync(join(copy, folder), { recursive: true });
      const manifest = { version: '0.0.0', ...read(join(folder, 'package.json')) };
      writeFileSync(join(copy, folder, 'package.json'), JSON.stringify(manifest));
    }
    writeFileSync(join(copy, 'package-lock.json'), JSON.stringify(read('package-lock.json')));
    const wanted = ['--package-lock-only', '--sbom-format=cyclonedx', '--omit=dev', '--omit=optional'];
    const args = ['sbom', ...wanted, ...workspaces.map((name) => `--workspace=${name}`)];
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: copy, encoding: 'utf8' });
    if (status !== 0) throw new SetupError(`npm sbom failed; it needs npm 10 or newer:\n${stderr}`);
    return JSON.parse(stdout);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Debian's libraries name their version in themselves, and ripgrep names those of its parts. */
function carriedParts(glibcRoots) {
  const search = spawnSync(ripgrepPath(), ['--version'], { encoding: 'utf8' }).stdout;
  const versionIn = (name) => new RegExp(`${name} (\\d+\\.\\d+(?:\\.\\d+)?)`).exec(search)?.[1];
  const { bun } = read('package.json').devDependencies;
  return [
    part('bun', bun, `pkg:npm/bun@${bun}`, 'MIT AND LGPL-2.0-only'),
    ...[...new Set(glibcRoots.map(glibcIn))].map((glibc) =>
      part('glibc', glibc, `pkg:deb/debian/glibc@${glibc}`, 'LGPL-2.1-or-later'),
    ),
    part('ripgrep', versionIn('ripgrep'), `pkg:cargo/ripgrep@${versionIn('ripgrep')}`, 'MIT OR Unlicense'),
    part('pcre2', versionIn('PCRE2'), `pkg:generic/pcre2@${versionIn('PCRE2')}`, 'BSD-3-Clause WITH PCRE2-exception'),
  ];
}

function glibcIn(root) {
  const triplets = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];
  const found = triplets.map((name) => join(root, 'lib', name, 'libc.so.6')).find(existsSync);
  if (found === undefined) throw new SetupError(`no libc.so.6 of Debian below ${root}`);
  return /GNU C Library \([^)]*?([\w.+-]+)\)/.exec(readFileSync(found, 'latin1'))?.[1];
}

function part(name, version, purl, expression) {
  if (!version) throw new SetupError(`${name} does not say which version it is`);
  return { type: 'library', name, version, purl, licenses: [{ expression }] };
}
