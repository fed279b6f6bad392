/** The directory that `npm run release` makes, and the installation from it. */
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { repositoryRoot } from '../harness/sandbox.ts';
import { Root } from './root.ts';

const scratch = mkdtempSync(join(tmpdir(), 'boxkeep-release-'));
const release = join(scratch, 'one');
const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8')) as {
  version: string;
};

beforeAll(() => assemble(release));
afterAll(() => rmSync(scratch, { recursive: true }));

function assemble(directory: string, umask = '022', env: Readonly<Record<string, string>> = {}): void {
  const script = 'umask "$1" && exec node tools/release/assemble.mjs "$2"';
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', script, 'sh', umask, directory], {
    cwd: repositoryRoot,
    env: { ...process.env, ...env },
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

const read = (name: string) => readFileSync(join(release, name), 'utf8');

test('RELEASE has both files, the clients, the parts with their licences, notes, and the digest of each', () => {
  const names = readdirSync(release);
  const python = version.replace('-alpha.', 'a');
  expect(names.toSorted()).toEqual(
    [
      ...[`boxkeep-${version}-linux-arm64`, `boxkeep-${version}-linux-x64`, `boxkeep-${version}.tgz`],
      ...[`boxkeep-${python}-py3-none-any.whl`, `boxkeep-${python}.tar.gz`],
      `boxkeep-${version}-site.tar.gz`,
      ...['install.sh', 'LICENCES.txt', 'NOTES.md', 'sbom.cdx.json', 'SHA256SUMS'],
    ].toSorted(),
  );
  const lines = names
    .filter((name) => name !== 'SHA256SUMS')
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(release, name)))
          .digest('hex')}  ${name}`,
    );
  expect(read('SHA256SUMS').trim().split('\n').toSorted()).toEqual(lines.toSorted());
});

test('RELEASE has notes of at most forty lines: how to install it, and what is new in this version', () => {
  const notes = read('NOTES.md');
  expect(notes).toStartWith(`# boxkeep ${version}\n`);
  expect(notes.split('\n').length).toBeLessThanOrEqual(41);
  expect(notes).toMatch(/^- (?:Added|Changed|Fixed): /m);
  expect(notes).not.toContain('](');
});

test('RELEASE has the documents as pages, below one directory and without the accounts of this machine', () => {
  const archive = join(release, `boxkeep-${version}-site.tar.gz`);
  const list = Bun.spawnSync(['tar', '-tzvf', archive, '--numeric-owner']).stdout.toString().trim().split('\n');
  const entries = list.map((line) => /^([-d])\S+ (\S+) +\d+ \S+ \S+ (.+)$/.exec(line)?.slice(1) ?? [line]);
  expect(entries.filter(([, owner]) => owner !== '0/0')).toEqual([]);
  const paths = entries.map(([, , path = '']) => path);
  expect(paths.filter((path) => !path.startsWith(`boxkeep-${version}-site/`))).toEqual([]);
  expect(paths).toContain(`boxkeep-${version}-site/index.html`);
  expect(paths).toContain(`boxkeep-${version}-site/docs/guide/installing.html`);
});

test('RELEASE names each part with its version and its licence, and has the text of each licence', () => {
  const { components } = JSON.parse(read('sbom.cdx.json')) as {
    components: { name: string; version: string; licenses: unknown[] }[];
  };
  expect(components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['bun', 'glibc', 'ripgrep', 'pcre2', 'hono', 'zod', '@xterm/xterm', '@codemirror/view']),
  );
  const texts = read('LICENCES.txt');
  for (const { name, version: one, licenses } of components) {
    expect([name, one, licenses.length]).toEqual([name, expect.stringMatching(/^\d/), 1]);
    expect(texts.includes(`${name} ${one}`) ? name : `no licence of ${name}`).toBe(name);
  }
});

test('RELEASE is the same, byte for byte, when it is made again by an account with other habits', () => {
  assemble(join(scratch, 'two'), '077', { TZ: 'Pacific/Auckland', LC_ALL: 'C' });
  expect(readFileSync(join(scratch, 'two/SHA256SUMS'), 'utf8')).toBe(read('SHA256SUMS'));
}, 60_000);

const roots: Readonly<Record<string, () => Root>> = {
  'glibc and busybox': () =>
    new Root().addBusybox().copy('lib/x86_64-linux-gnu/libc.so.6').copy('lib64/ld-linux-x86-64.so.2'),
  'musl and busybox': () => new Root().addBusybox().copy('lib/ld-musl-x86_64.so.1'),
};

test.each(Object.entries(roots))(
  'RELEASE installs into a root with %s, and a damaged file does not',
  async (_, make) => {
    using root = make();
    root.add('release');
    for (const name of ['install.sh', 'SHA256SUMS', `boxkeep-${version}-linux-x64`]) {
      cpSync(join(release, name), join(root.directory, 'release', name));
    }
    const { code, stdout } = await root.run('/bin/sh', '/release/install.sh');
    expect([code, stdout.startsWith(version)]).toEqual([0, true]);
    expect(stdout).toMatch(/^\S+ \((?:commit [0-9a-f]{40}, )?contents [0-9a-f]{16}\)\n$/);
    expect((await root.run('/usr/local/bin/boxkeep', 'version')).stdout).toBe(stdout);
    await Bun.write(join(root.directory, 'release', `boxkeep-${version}-linux-x64`), 'damaged');
    expect(await root.run('/bin/sh', '/release/install.sh', '/opt')).toMatchObject({ code: 1 });
    expect(readdirSync(root.directory)).not.toContain('opt');
  },
);
