/** What the layers of the images hold, and what they must not hold: secrets of a build, compilers, and too much. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { imageNames } from '../../tools/containers.mjs';
import { Container, podman } from '../harness/container.ts';
import { repositoryRoot, type Json } from '../harness/sandbox.ts';

setDefaultTimeout(600_000);

const names = ['daemon', 'computer'] as const;
/** Bytes, as the registries count them. */
const maxBytes = { daemon: 2.5e9, computer: 3.1e9 };
const buildTools = ['gcc', 'g++', 'cc', 'c++', 'cpp', 'clang', 'cmake', 'ld', 'as', 'cargo', 'go', 'pkg-config'];
const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8')) as {
  version: string;
};

const containers = new Map<string, Container>();
const inspect = (name: 'daemon' | 'computer'): Json =>
  (JSON.parse(podman('image', 'inspect', imageNames[name]).stdout) as Json[])[0];

/** The directories of all layers, below each other. */
function layersOf(name: 'daemon' | 'computer'): string[] {
  const { UpperDir: upper, LowerDir: lower } = inspect(name)['GraphDriver']['Data'] as {
    UpperDir: string;
    LowerDir?: string;
  };
  return [upper, ...(lower ?? '').split(':').filter(Boolean)];
}

/** Paths of the layers that `find` finds. */
function find(name: 'daemon' | 'computer', ...tests: string[]): string[] {
  const { stdout, status } = spawnSync('find', [...layersOf(name), ...tests], { encoding: 'utf8', maxBuffer: 1 << 26 });
  expect(status).toBe(0);
  return stdout.trim().split('\n').filter(Boolean);
}

beforeAll(async () => {
  for (const image of names) containers.set(image, await Container.start({ image }));
});
afterAll(async () => {
  for (const container of containers.values()) await container[Symbol.asyncDispose]();
});

test.each(names)('IMG-1 IMG-2 the %s image stays below its limit of size', (name) => {
  const bytes = inspect(name)['Size'] as number;
  console.log(`${name} image: ${(bytes / 1e9).toFixed(2)} GB`);
  expect(bytes).toBeLessThan(maxBytes[name]);
});

test.each(names)(
  'IMG-1 no layer of the %s image holds a compiler, a secret of the build or settings of its machine',
  (name) => {
    const isBuildTool = buildTools.flatMap((tool) => ['-o', '-path', `*/bin/${tool}`]);
    const isCompiler = ['-path', '*/libexec/gcc/*', ...isBuildTool];
    expect(find(name, '(', ...isCompiler, ')')).toEqual([]);
    expect(find(name, '-path', '*/run/secrets/*')).toEqual([]);
    const settings = ['.npmrc', '.pypirc', 'pip.conf', '.netrc', '.git-credentials', 'authorized_keys', '_logs'];
    const isSetting = settings.flatMap((file) => ['-o', '-name', file]).slice(1);
    expect(find(name, '(', ...isSetting, ')', '-not', '-path', '*/node_modules/*')).toEqual([]);
    expect(find(name, '-path', '*/usr/local/share/ca-certificates/?*')).toEqual([]);
    const config: Json = inspect(name)['Config'];
    const variables = (config['Env'] as string[]).map((line) => line.split('=')[0] ?? '');
    expect(
      variables.filter((variable) => /KEY|TOKEN|SECRET|PASSWORD|PROXY|CERT|INDEX|REGISTRY/i.test(variable)),
    ).toEqual([]);
  },
);

test.each(names)('IMG-1 the %s image lists what it contains, with versions and licences', async (name) => {
  const container = containers.get(name) as Container;
  const listed = await container.fetch('/v2/fs/download?path=/usr/share/doc/boxkeep/sbom.cdx.json');
  const { bomFormat, components } = (await listed.json()) as { bomFormat: string; components: Json[] };
  expect(bomFormat).toBe('CycloneDX');
  const found = components.map((part) => part['name'] as string);
  const expected = [
    'boxkeep',
    'node',
    'npm',
    'noVNC',
    'chromium',
    'nginx',
    'jupyterlab',
    'code-server',
    'ffmpeg',
    'bun',
    'glibc',
    'ripgrep',
    'pcre2',
  ];
  const ofDesktop = name === 'computer' ? ['xfce4-session', 'at-spi2-core'] : [];
  expect([...expected, ...ofDesktop].filter((part) => !found.includes(part))).toEqual([]);
  const query = "dpkg-query -W -f '${db:Status-Abbrev} ${Package}\\n' | sed -n 's/^ii  *//p'";
  const installed = (await container.output(query)).split('\n');
  expect(installed.filter((part) => !found.includes(part))).toEqual([]);
  for (const part of components) {
    expect([part['name'], part['version']]).toEqual([part['name'], expect.stringMatching(/./)]);
    expect([part['name'], part['licenses'][0].license.name]).toEqual([part['name'], expect.stringMatching(/./)]);
  }
  const lines = await container.output(
    'wc -l </usr/share/doc/boxkeep/licences.tsv; cat /usr/share/doc/boxkeep/third-party.md',
  );
  expect(lines).toStartWith(`${components.length}\n# Third-party parts`);
});

test('IMG-33 the tag of an image is the version of its daemon', async () => {
  await using container = await Container.start({ image: `${imageNames.daemon}:${version}` });
  expect(await container.ok('GET /v2/sandbox')).toMatchObject({ version });
});

test.each(names)('IMG-1 the health check of the %s image reports its API', (name) => {
  expect(containers.get(name)?.checkHealth()).toBe('healthy');
});

test('IMG-8 nothing that a container with a key writes to its disk holds the key', async () => {
  const key = 'contents-canary-7361';
  await using container = await Container.start({ key });
  await container.untilServed('/cdp/json/version');
  expect(await container.status(`/v2/sandbox?api_key=${key}`, { 'x-api-key': '' })).toBe(200);
  expect(await container.status(`/vnc/?api_key=${key}`)).toBe(200);
  const upper = podman('inspect', '--format', '{{.GraphDriver.Data.UpperDir}}', container.id).stdout.trim();
  const { stdout } = spawnSync('grep', ['-rlaF', key, upper], { encoding: 'utf8' });
  expect(stdout).toBe('');
});
