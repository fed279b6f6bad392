/** The archive of the images in a release: its names are those of the manifests, and it loses nothing. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { containerEnvironment, imageNames } from '../../tools/containers.mjs';
import { saveImages } from '../../tools/release/images.mjs';
import { podman } from '../harness/container.ts';
import { repositoryRoot, type Json } from '../harness/sandbox.ts';

setDefaultTimeout(600_000);

interface Saved {
  readonly Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-images-'));
const read = (name: string): unknown => JSON.parse(readFileSync(join(directory, name), 'utf8'));
const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8')) as {
  version: string;
};
const published = ['daemon', 'computer'].map((name) => `docker.io/boxkeep/${name}:${version}`);
let archive = '';
let images: readonly Saved[] = [];

beforeAll(() => {
  archive = saveImages(directory, version);
  const wanted = ['--extract', '--gzip', '--file', archive, '--directory', directory, '--wildcards', '*.json'];
  expect(Bun.spawnSync(['tar', ...wanted]).exitCode).toBe(0);
  images = read('manifest.json') as readonly Saved[];
});
afterAll(() => {
  rmSync(directory, { recursive: true });
  for (const name of published) podman('untag', name, name);
});

test('RELEASE the archive has both images, unchanged and with their health checks', () => {
  expect(images.map(({ RepoTags }) => RepoTags)).toEqual(published.map((name) => [name]));
  const ids = Object.values(imageNames).map((name) =>
    podman('image', 'inspect', '--format', '{{.Id}}', `${name}:${version}`).stdout.trim(),
  );
  expect(images.map(({ Config }) => Config)).toEqual(ids.map((id) => `${id}.json`));
  const checks = images.map(({ Config }) => (read(Config) as Json)['config']['Healthcheck']);
  expect(checks).toEqual([expect.anything(), expect.anything()]);
});

test('RELEASE the images of the archive share their layers', () => {
  const [daemon, computer] = images;
  expect(daemon?.Layers.length).toBeGreaterThan(0);
  expect(computer?.Layers.slice(0, daemon?.Layers.length)).toEqual([...(daemon?.Layers ?? [])]);
});

test('RELEASE podman loads the unpacked archive, as the guide says', () => {
  const script = 'gzip -dc "$1" | podman load --quiet';
  const { stdout } = Bun.spawnSync(['sh', '-c', script, 'sh', archive], { env: containerEnvironment });
  for (const name of published) expect(stdout.toString()).toContain(name);
});
