/** `boxkeep cp`: files and directories between this machine and a sandbox. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { client, Client } from '../harness/cli-client.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;

/** A directory of this machine and one of the sandbox. */
function places(sandbox: Sandbox): { readonly here: string; readonly there: string } {
  const [here, there] = [join(sandbox.directory, 'here'), join(sandbox.directory, 'there')];
  for (const path of [here, there]) mkdirSync(path);
  return { here, there };
}

async function copy(sandbox: Sandbox, ...words: readonly string[]): Promise<void> {
  const run = await client(sandbox, ['cp', sandbox.url, ...words]);
  expect(run).toEqual({ code: 0, stdout: Buffer.alloc(0), stderr: '' });
}

function names(path: string): string[] {
  return readdirSync(path, { recursive: true }).map(String).toSorted();
}

test('CLI-CP a file is copied in both directions with its mode, and a directory takes its name', async ({
  sandbox,
}) => {
  const { here, there } = places(sandbox);
  const content = randomBytes(3 * mebibyte);
  const file = join(here, 'a.txt');
  writeFileSync(file, content, { mode: 0o750 });
  symlinkSync(there, join(sandbox.directory, 'link'));

  await copy(sandbox, file, `:${there}`);
  await copy(sandbox, file, `:${there}/new/`);
  await copy(sandbox, file, `:${sandbox.directory}/link`);
  await copy(sandbox, file, `:${there}/b`);
  expect(names(there)).toEqual(['a.txt', 'b', 'new', 'new/a.txt']);
  await copy(sandbox, `:${there}/b`, here);
  await copy(sandbox, `:${there}/b`, join(here, 'made/'));
  await copy(sandbox, `:${there}/b`, join(here, 'c'));
  expect(names(here)).toEqual(['a.txt', 'b', 'c', 'made', 'made/b']);
  for (const path of [join(there, 'a.txt'), join(there, 'b'), join(here, 'c'), join(here, 'made/b')]) {
    expect([readFileSync(path).equals(content), statSync(path).mode & 0o777]).toEqual([true, 0o750]);
  }
});

test('CLI-CP a download goes through a link to its target, and into a device or a pipe, which stay', async ({
  sandbox,
}) => {
  const { here, there } = places(sandbox);
  writeFileSync(join(there, 'a'), 'content');
  writeFileSync(join(here, 'target'), 'old');
  symlinkSync('target', join(here, 'link'));
  await copy(sandbox, `:${there}/a`, join(here, 'link'));
  expect([readFileSync(join(here, 'target'), 'utf8'), lstatSync(join(here, 'link')).isSymbolicLink()]).toEqual([
    'content',
    true,
  ]);
  const [device, pipe] = [join(here, 'null'), join(here, 'pipe')];
  expect(Bun.spawnSync(['mknod', device, 'c', '1', '3']).exitCode).toBe(0);
  await copy(sandbox, `:${there}/a`, device);
  expect(statSync(device).isCharacterDevice()).toBe(true);
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
  const reader = Bun.spawn(['cat', pipe], { stdout: 'pipe' });
  await copy(sandbox, `:${there}/a`, pipe);
  expect(await reader.stdout.text()).toBe('content');
  expect(names(here)).toEqual(['link', 'null', 'pipe', 'target']);
});

test('CLI-CP a directory is copied in both directions; dir/. means its entries, and --exclude leaves some out', async ({
  sandbox,
}) => {
  const { here, there } = places(sandbox);
  mkdirSync(join(here, 'src/lib'), { recursive: true });
  writeFileSync(join(here, 'src/lib/a.o'), '1');
  writeFileSync(join(here, 'src/b.c'), '2', { mode: 0o700 });

  await copy(sandbox, join(here, 'src'), `:${there}`);
  await copy(sandbox, `${here}/src/.`, `:${there}`);
  await copy(sandbox, join(here, 'src'), `:${there}/other`);
  const tree = ['b.c', 'lib', 'lib/a.o'];
  const below = (name: string) => [name, ...tree.map((path) => `${name}/${path}`)];
  expect(names(there)).toEqual([...tree, ...below('other'), ...below('src')].toSorted());
  await copy(sandbox, `:${there}/src`, here, '--exclude', 'none', '--exclude', '*.o');
  await copy(sandbox, `:${there}/src`, join(here, 'back'), '--exclude', '*.o');
  expect(names(join(here, 'back'))).toEqual(['b.c', 'lib']);
  expect(statSync(join(here, 'back/b.c')).mode & 0o777).toBe(0o700);
});

test('CLI-CP - is standard input and output, byte for byte, and --user owns the file', async ({ sandbox }) => {
  const { there } = places(sandbox);
  const content = randomBytes(2 * mebibyte);
  const up = new Client(sandbox, ['cp', sandbox.url, '-', `:${there}/in`]);
  up.process.stdin.end(content);
  expect(await up.ended()).toEqual({ code: 0, stdout: Buffer.alloc(0), stderr: '' });
  const down = await client(sandbox, ['cp', `:${there}/in`, '-'], { BOXKEEP_URL: sandbox.url });
  expect([down.code, down.stdout.equals(content), down.stderr]).toEqual([0, true, '']);

  await copy(sandbox, '--user', '1', join(there, 'in'), `:${sandbox.directory}/owned`);
  expect(statSync(join(sandbox.directory, 'owned')).uid).toBe(1);
});

test(
  'CLI-CP a directory comes again when the daemon has died under it',
  async ({ sandbox }) => {
    const { here, there } = places(sandbox);
    const size = 512 * mebibyte;
    writeFileSync(join(there, 'big'), '');
    truncateSync(join(there, 'big'), size);
    const run = new Client(sandbox, ['cp', sandbox.url, `:${there}/.`, join(here, 'whole')]);
    const arrived = join(here, 'whole/big');
    await until('a part has come', () => existsSync(arrived) && statSync(arrived).size > 0);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    expect(await run.ended()).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(arrived).size).toBe(size);
  },
  { expectedWarnings: ['started again by init'] },
);

test('CLI-CP a wrong pair of paths is one line, and a path with a colon is no address', async ({ sandbox }) => {
  const { here } = places(sandbox);
  const usual = { BOXKEEP_URL: sandbox.url };
  const pair = 'one of the two paths is in the sandbox and begins with a colon, as in cp a.txt :/srv/';
  for (const [args, line] of [
    [['a', 'b'], pair],
    [[':a', ':b'], pair],
    [[':123/x', here], '/123/x: No such file or directory'],
    [[`${here}/no:80/x`, ':x'], `${here}/no:80/x: No such file or directory`],
    [['-', ':/tmp/'], 'standard input has no name; write the path of a file'],
    [[here, ':x', '--exclude', 'y'], '--exclude is for directories that come from the sandbox'],
    [[`:${here}`, '-'], `${here} is a directory; write the name of one here`],
  ] as const) {
    const { code, stderr } = await client(sandbox, ['cp', ...args], usual);
    expect([code, stderr]).toEqual([125, expect.stringMatching(/^boxkeep: cp: [^\n]*\n$/)]);
    expect(stderr).toContain(line);
  }
  const missing = await client(sandbox, ['cp', ':x', 'y']);
  expect(missing.stderr).toContain('the address of a daemon is missing');
});

test('CLI-CP Ctrl-C ends with 130: an upload leaves nothing, and a download resumes from its part', async ({
  sandbox,
}) => {
  const { here, there } = places(sandbox);
  const up = new Client(sandbox, ['cp', sandbox.url, '-', `:${there}/in`]);
  up.process.stdin.write(randomBytes(2 * mebibyte));
  await until('a part has arrived', () => readdirSync(there).length > 0);
  up.process.kill('SIGINT');
  expect(await up.ended()).toMatchObject({ code: 130, stderr: 'boxkeep: cp: received SIGINT\n' });
  await until('nothing is left', () => readdirSync(there).length === 0);

  const [large, target] = [join(there, 'large'), join(here, 'large')];
  writeFileSync(large, 'begin');
  truncateSync(large, 400 * mebibyte);
  const down = new Client(sandbox, ['cp', sandbox.url, `:${large}`, target]);
  const part = () => readdirSync(here).find((name) => name.endsWith('part'));
  const partBytes = () => statSync(join(here, part() ?? 'none'), { throwIfNoEntry: false })?.size ?? 0;
  await until('a part has arrived', () => partBytes() > 0);
  down.process.kill('SIGINT');
  expect((await down.ended()).code).toBe(130);
  const { ino } = statSync(join(here, part() ?? 'none'));
  await copy(sandbox, `:${large}`, target);
  expect(names(here)).toEqual(['large']);
  expect([statSync(target).ino, statSync(target).size]).toEqual([ino, 400 * mebibyte]);
});
