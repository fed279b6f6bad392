/** Images of users, built from the files that the guide shows. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { containerEnvironment, imageStore } from '../../tools/containers.mjs';
import { Container, podman } from '../harness/container.ts';
import { freePort } from '../harness/free-port.ts';
import { repositoryRoot } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

const guide = readFileSync(join(repositoryRoot, 'docs/guide/images.md'), 'utf8');
/** The code blocks of a language, in the order of the guide. */
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map((match) => match[1] ?? '');
const [onTop = '', copied = ''] = blocks('dockerfile');
const [program = ''] = blocks('ini');
const [server = ''] = blocks('python');

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-custom-'));
const built: string[] = [];

/** Builds with the files in a directory, as `docker build` does. */
function build(tag: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const { status, stderr } = spawnSync(
    'buildah',
    ['bud', '--isolation=chroot', '--network=host', '--format=docker', '--tag', tag, directory],
    { encoding: 'utf8', env: containerEnvironment },
  );
  if (status !== 0) throw new Error(`buildah bud: ${stderr}`);
  built.push(tag);
  return tag;
}

afterAll(() => {
  if (built.length > 0) podman('rmi', '--force', ...built);
  rmSync(directory, { recursive: true });
});

test('IMG-3 the first commands of the guide run after `npm run images`, in a shell that has read its environment', async () => {
  const [, run = ''] = /^```sh\n(docker run.*?)^```/ms.exec(guide) ?? [];
  expect(run).toContain('curl');
  expect(guide).toContain('. /var/lib/boxkeep-images/environment');
  const [name, port] = [`box-${process.pid}`, freePort()];
  const commands = run
    .replace('--name box', `--name ${name}`)
    .replaceAll('8080:', `${port}:`)
    .replaceAll(':8080/', `:${port}/`);
  const script = `set -e; . ${join(imageStore, 'environment')}\n${commands}`;
  const environment = { ...process.env, CONTAINERS_CONF: undefined, CONTAINERS_STORAGE_CONF: undefined };
  try {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: environment });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout).toContain('"stdout":"agent\\n"');
  } finally {
    podman('rm', '--force', '--time', '0', name);
  }
});

test('IMG-29 IMG-31 an image on top of the daemon image runs an MCP server, whose tools the hub lists and calls', async () => {
  const tag = build('localhost/boxkeep-test-on-top', {
    ...{ Dockerfile: onTop, 'server.conf': program, 'server.py': server },
  });
  await using container = await Container.start({ image: tag });
  await until('the tool is listed', async () => (await container.tools()).includes('reverse'), slowMs);
  const answer = await container.mcp('tools/call', { name: 'reverse', arguments: { text: 'abc' } });
  expect(JSON.stringify(answer)).toContain('cba');
  expect(await container.output('ps -o user= -p "$(pgrep -f server.p[y])"')).toBe('agent');
});

test('IMG-30 boxkeep that is copied into another image serves commands, files and terminals as its account', async () => {
  cpSync(join(repositoryRoot, 'dist/boxkeep'), join(directory, 'boxkeep'));
  const tag = build('localhost/boxkeep-test-copied', { Dockerfile: copied });
  await using container = await Container.start({ image: tag, port: 18091 });
  expect(await container.output('id -un && pwd')).toBe('agent\n/home/agent');
  await container.ok('POST /v2/fs/write', { path: '/home/agent/a.txt', content: 'one' });
  expect(await container.output('stat -c %U a.txt && cat a.txt')).toBe('agent\none');
  const { id } = await container.ok('POST /v2/pty/sessions', {});
  const ran = await container.ok(`POST /v2/pty/sessions/${id as string}/exec`, { command: 'whoami' });
  expect(JSON.stringify(ran)).toContain('agent');
  container.stop(10);
  expect(container.exitCode).toBe(0);
});
