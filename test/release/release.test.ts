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

function assemble(directory: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['node', 'tools/release/assemble.mjs', directory], {
    cwd: repositoryRoot,
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
  expect(read('NOTES.md').split('\n').length).toBeLessThanOrEqual(41);
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

test('RELEASE is the same, byte for byte, when it is made again', () => {
  assemble(join(scratch, 'two'));
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
