/** The directory that `npm run release` makes, and the installation from it. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { repositoryRoot } from '../harness/sandbox.ts';
import { readOnly, Root } from './root.ts';

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
  'busybox alone': () => new Root().addBusybox(),
};

const file = `boxkeep-${version}-linux-x64`;
const withRelease = (root: Root): Root => {
  root.add('release');
  for (const name of ['install.sh', 'SHA256SUMS', file]) {
    cpSync(join(release, name), join(root.directory, 'release', name));
  }
  return root;
};
const install = (root: Root, ...args: string[]) => root.run('/bin/sh', '/release/install.sh', ...args);

test.each(Object.entries(roots))(
  'RELEASE installs into a root with %s, and a damaged file does not',
  async (_, make) => {
    using root = withRelease(make());
    const { code, stdout } = await install(root);
    expect([code, stdout.startsWith(version)]).toEqual([0, true]);
    expect(stdout).toMatch(/^\S+ \((?:commit [0-9a-f]{40}, )?contents [0-9a-f]{16}\)\n$/);
    expect((await root.run('/usr/local/bin/boxkeep', 'version')).stdout).toBe(stdout);
    expect(await install(root, 'opt/bin')).toMatchObject({ code: 0, stdout });
    expect(readdirSync(join(root.directory, 'opt/bin'))).toEqual(['boxkeep']);
    await Bun.write(join(root.directory, 'release', file), 'damaged');
    expect(await install(root, '/srv')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${file} is not the file that was released`),
    });
    expect(readdirSync(root.directory)).not.toContain('srv');
  },
);

const onMachine = (name: string): Root =>
  replaced(new Root().addBusybox().addShell(), 'bin/uname', `#!/bin/sh\necho ${name}\n`);

/** What a root lacks, and the line that says so. */
const refusals: Readonly<Record<string, readonly [() => Root, string]>> = {
  'no program but the shell': [
    () => new Root().addShell(),
    'needs chmod cp grep mkdir mv rm sha256sum uname, as busybox has them',
  ],
  'a directory that it cannot write': [
    () => new Root({ mounts: readOnly }).addBusybox(),
    'cannot write to /usr/local/bin: run this as root, or name another directory',
  ],
  'no /proc': [
    () => new Root({ proc: false }).addBusybox(),
    `${file} does not run here, so /usr/local/bin is as it was`,
  ],
  'another machine': [() => onMachine('riscv64'), 'boxkeep runs on x86-64 and arm64; this machine is riscv64'],
  'only the file of another machine': [() => onMachine('aarch64'), '/release has no file for arm64'],
  'the files of two versions': [
    () => replaced(new Root().addBusybox(), 'release/boxkeep-1.0.0-linux-x64', ''),
    `/release has files of several versions: boxkeep-1.0.0-linux-x64 ${file}`,
  ],
};

function replaced(root: Root, path: string, content: string): Root {
  root.add(dirname(path));
  rmSync(join(root.directory, path), { force: true });
  writeFileSync(join(root.directory, path), content, { mode: 0o755 });
  return root;
}

test.each(Object.entries(refusals))(
  'RELEASE says why it does not install into a root with %s, and changes nothing',
  async (_, [make, reason]) => {
    using root = withRelease(make());
    const { code, stdout, stderr } = await install(root);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n').at(-1)).toContain(`install.sh: ${reason}`);
    const installed = join(root.directory, 'usr/local/bin');
    expect(existsSync(installed) ? readdirSync(installed) : []).toEqual([]);
  },
);
