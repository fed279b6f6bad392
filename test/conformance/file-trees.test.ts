/** Copying, moving and deleting files, links and whole trees, in one step, and nothing more than requested. */
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { attributeOf, setAttribute } from '../harness/attributes.ts';
import { many } from '../harness/counts.ts';
import { inRoom, otherDisk } from '../harness/disks.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount, testAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

type Body = Readonly<Record<string, unknown>>;

const copy = (sandbox: Sandbox, body: Body) => sandbox.ok('POST /v2/fs/copy', body);
const move = (sandbox: Sandbox, body: Body) => sandbox.ok('POST /v2/fs/move', body);
const remove = (sandbox: Sandbox, body: Body) => sandbox.ok('POST /v2/fs/delete', body);

/** The error_type of a request that must be refused, with its status. */
async function refused(sandbox: Sandbox, route: string, body: Body): Promise<unknown> {
  const { status, body: answer } = await sandbox.request(route, body);
  expect(answer.success).toBe(false);
  return [status, answer.data?.['error_type'] ?? null, answer.data?.['errno_name'] ?? null];
}

/** A tree with every kind of entry, in the lines that `describe` returns. */
function plant(root: string): void {
  mkdirSync(join(root, 'inner/empty'), { recursive: true });
  writeFileSync(join(root, 'script'), '#!/bin/sh\n');
  chmodSync(join(root, 'script'), 0o751);
  writeFileSync(join(root, 'inner/text'), 'text');
  symlinkSync('text', join(root, 'inner/link'));
  symlinkSync('/nowhere', join(root, 'dangling'));
  symlinkSync('..', join(root, 'inner/loop'));
  writeFileSync(Buffer.concat([Buffer.from(`${root}/odd-`), Buffer.of(0xff)]), 'odd');
  utimesSync(join(root, 'script'), 1_000_000_000.125, 1_000_000_001.25);
  chmodSync(join(root, 'inner'), 0o750);
  utimesSync(join(root, 'inner'), 1_000_000_002, 1_000_000_003);
}

/** Each entry below a directory: name, kind, mode, content; times where the test set them. */
function describe(root: string | Buffer, prefix = ''): string[] {
  const at = Buffer.from(root);
  return readdirSync(at, { encoding: 'buffer' })
    .toSorted(Buffer.compare)
    .flatMap((name) => {
      const path = Buffer.concat([at, Buffer.from('/'), name]);
      const shown = `${prefix}${name.toString('latin1')}`;
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return [`${shown} -> ${readlinkSync(path)}`];
      if (stat.isDirectory()) return [`${shown}/ ${mode}`, ...describe(path, `${shown}/`)];
      return [`${shown} ${mode} ${stat.isFile() ? readFileSync(path, 'latin1') : 'special'}`];
    });
}

const chain = 100;
const links = 'd/'.repeat(chain);

/** A chain of directories longer than any path, with a file at its end. */
function plantDeep(root: string, levels: number): void {
  mkdirSync(root);
  let directory = openSync(root, 'r');
  for (let level = 0; level < levels; level += chain) {
    mkdirSync(`/proc/self/fd/${directory}/${links}`, { recursive: true });
    directory = goDown(directory);
  }
  writeFileSync(`/proc/self/fd/${directory}/end`, '');
  closeSync(directory);
}

function depthOf(root: string): number {
  let directory = openSync(root, 'r');
  let depth = 0;
  for (; !existsSync(`/proc/self/fd/${directory}/end`); depth += chain) directory = goDown(directory);
  closeSync(directory);
  return depth;
}

function goDown(directory: number): number {
  const next = openSync(`/proc/self/fd/${directory}/${links}`, 'r');
  closeSync(directory);
  return next;
}

const hidden = (directory: string): string[] => readdirSync(directory).filter((name) => name.startsWith('.svc-write-'));

test('FILE-9 FILE-16 a copied tree is identical: links stay links, modes and times are kept, odd names too', async ({
  sandbox,
}) => {
  const [source, destination] = [join(sandbox.directory, 'a'), join(sandbox.directory, 'new/parents/b')];
  mkdirSync(source);
  plant(source);
  setAttribute(join(source, 'script'), 'user.note', Buffer.from('kept'));
  setAttribute(join(source, 'inner'), 'user.note', Buffer.from('kept'));
  const answer = await copy(sandbox, { path: source, destination });

  const counts = { is_directory: true, files_copied: 3, bytes_copied: 17 };
  expect(answer).toEqual({ path: source, source, destination, skipped: [], ...counts });
  expect(describe(destination)).toEqual(describe(source));
  expect(statSync(join(destination, 'script')).mtimeMs).toBe(1_000_000_001_250);
  expect(statSync(join(destination, 'inner')).mtimeMs).toBe(1_000_000_003_000);
  for (const name of ['script', 'inner']) {
    expect(attributeOf(join(destination, name), 'user.note')?.toString()).toBe('kept');
  }
  expect(hidden(join(sandbox.directory, 'new/parents'))).toEqual([]);
});

test('FILE-9 a copied file has the content, mode and times, and a link is copied as its target', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('a'), 'content');
  chmodSync(at('a'), 0o4640);
  utimesSync(at('a'), 1_000_000_000, 1_000_000_001);
  symlinkSync('a', at('link'));
  await copy(sandbox, { source: at('link'), destination: at('b') });

  expect(lstatSync(at('b')).isFile()).toBe(true);
  expect(readFileSync(at('b'), 'utf8')).toBe('content');
  expect(statSync(at('b')).mode & 0o7777).toBe(0o640); // A copy of a setuid program of root is not a setuid program.
  expect(statSync(at('b')).mtimeMs).toBe(1_000_000_001_000);
});

test('FILE-9 a large file is copied whole, and holes stay holes', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('sparse'), 'begin');
  truncateSync(at('sparse'), 3 * 1024 ** 3);
  await sandbox.run({ command: 'printf end >> sparse', cwd: sandbox.directory });
  await copy(sandbox, { source: at('sparse'), destination: at('copy') });

  const { size, blocks } = statSync(at('copy'));
  expect(size).toBe(3 * 1024 ** 3 + 3);
  expect(blocks * 512).toBeLessThan(1024 ** 2);
  const compared = await sandbox.run({ command: 'head -c 5 copy; tail -c 3 copy', cwd: sandbox.directory });
  expect(compared).toMatchObject({ stdout: 'beginend' });
});

for (const verb of ['copy', 'move'] as const) {
  const route = `POST /v2/fs/${verb}`;

  test(`FILE-9 FILE-10 V2FS-OVERWRITE ${verb}: an existing destination stays unless overwrite is set`, async ({
    sandbox,
  }) => {
    const at = (name: string) => join(sandbox.directory, name);
    for (const name of ['a', 'b']) writeFileSync(at(name), name);
    const body = { source: at('a'), destination: at('b') };

    expect(await refused(sandbox, route, body)).toEqual([409, 'already_exists', 'EEXIST']);
    expect(readFileSync(at('b'), 'utf8')).toBe('b');
    await sandbox.ok(route, { ...body, overwrite: true });
    expect(readFileSync(at('b'), 'utf8')).toBe('a');
    expect(existsSync(at('a'))).toBe(verb === 'copy');
  });

  test(`FILE-9 FILE-10 ${verb}: a directory replaces a whole directory`, async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, name);
    for (const name of ['a/deep', 'b/other']) mkdirSync(at(name), { recursive: true });
    writeFileSync(at('a/deep/new'), 'new');
    writeFileSync(at('b/other/old'), 'old');
    const body = { source: at('a'), destination: at('b') };

    expect(await refused(sandbox, route, body)).toEqual([409, 'already_exists', 'EEXIST']);
    await sandbox.ok(route, { ...body, overwrite: true });
    expect(describe(at('b'))).toEqual(['deep/ 755', 'deep/new 644 new']);
    expect(existsSync(at('a'))).toBe(verb === 'copy');
    expect(hidden(sandbox.directory)).toEqual([]);
  });

  test(`FILE-9 FILE-10 ${verb}: a directory and a file do not replace each other`, async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, name);
    mkdirSync(at('directory'));
    writeFileSync(at('file'), '');
    const over = (source: string, destination: string) =>
      refused(sandbox, route, { source: at(source), destination: at(destination), overwrite: true });

    expect(await over('directory', 'file')).toEqual([400, 'invalid_path', 'ENOTDIR']);
    expect(await over('file', 'directory')).toEqual([400, 'invalid_target', 'EISDIR']);
    expect(describe(sandbox.directory)).toContain('file 644 ');
  });

  test(`FILE-9 FILE-10 ${verb}: a tree goes neither into itself nor over its parent, whatever links lead there`, async ({
    sandbox,
  }) => {
    const at = (name: string) => join(sandbox.directory, name);
    mkdirSync(at('a/b'), { recursive: true });
    writeFileSync(at('a/b/file'), 'kept');
    symlinkSync('a/b', at('way'));
    const before = describe(at('a'));
    const go = (source: string, destination: string) =>
      refused(sandbox, route, { source: at(source), destination: at(destination), overwrite: true });

    const invalid = [400, 'bad_request', 'EINVAL'];
    expect(await go('a', 'a')).toEqual(invalid);
    expect(await go('a', 'a/b/new/c')).toEqual(invalid);
    expect(await go('a', 'way/c')).toEqual(invalid);
    expect(await go('a/b', 'a')).toEqual(invalid);
    expect(await go('a/b/file', 'a/b/file')).toEqual(invalid);
    expect(describe(at('a'))).toEqual(before);
  });

  test(`FILE-9 FILE-10 ${verb}: of many concurrent calls for one destination, one wins and nothing is lost`, async ({
    sandbox,
  }) => {
    const at = (name: string) => join(sandbox.directory, name);
    const names = Array.from({ length: 12 }, (_, n) => `source-${n}`);
    for (const name of names) writeFileSync(at(name), name);
    const answers = await Promise.all(
      names.map((name) => sandbox.request(route, { source: at(name), destination: at('taken') })),
    );
    const won = names.filter((_, n) => answers[n]?.status === 200);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...names.slice(1).map(() => 409)]);
    expect(readFileSync(at('taken'), 'utf8')).toBe(won[0] ?? '');
    expect(names.filter((name) => existsSync(at(name))).length).toBe(verb === 'copy' ? 12 : 11);
  });

  test(
    `FILE-9 FILE-10 ${verb}: a tree crosses to another file system with everything that belongs to it`,
    async ({ sandbox }) => {
      const source = join(sandbox.directory, 'a');
      mkdirSync(source);
      plant(source);
      const before = describe(source);
      const destination = join(sandbox.directory, 'disk/b');
      await sandbox.ok(route, { source, destination });

      expect(describe(otherDisk(sandbox, 'b'))).toEqual(before);
      expect(statSync(otherDisk(sandbox, 'b/script')).mtimeMs).toBe(1_000_000_001_250);
      expect(existsSync(source)).toBe(verb === 'copy');
      expect(hidden(otherDisk(sandbox))).toEqual([]);
    },
    inRoom(8),
  );

  test(
    `FILE-9 FILE-10 V2FS-TREES ${verb}: a disk that fills up leaves nothing at the destination, and the source unchanged`,
    async ({ sandbox }) => {
      const source = join(sandbox.directory, 'a');
      mkdirSync(join(source, 'inner'), { recursive: true });
      for (let n = 0; n < 30; n++) writeFileSync(join(source, `inner/${n}`), Buffer.alloc(65_536, n));
      const before = describe(source);
      const { status, body } = await sandbox.request(route, {
        source,
        destination: join(sandbox.directory, 'disk/parent/b'),
      });

      expect([status, body.data['error_type'], body.data['operation']]).toEqual([507, 'no_space_left', verb]);
      expect(body.data['path'] as string).toStartWith(join(sandbox.directory, 'disk/parent/b'));
      expect(readdirSync(otherDisk(sandbox, 'parent'))).toEqual([]);
      expect(describe(source)).toEqual(before);
    },
    inRoom(1),
  );
}

test('FILE-9 pipes and sockets of a tree are skipped and named; alone they are refused', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  await sandbox.run({ command: 'mkdir a; mkfifo a/pipe; echo x > a/file', cwd: sandbox.directory });

  expect(await copy(sandbox, { source: at('a'), destination: at('b') })).toMatchObject({ skipped: [at('a/pipe')] });
  expect(describe(at('b'))).toEqual(['file 644 x\n']);
  const alone = { source: at('a/pipe'), destination: at('c') };
  expect(await refused(sandbox, 'POST /v2/fs/copy', alone)).toEqual([400, 'invalid_target', 'EINVAL']);
});

test(
  'FILE-10 an entry that cannot move to another file system is named, and nothing has moved',
  async ({ sandbox }) => {
    await sandbox.run({ command: 'mkdir a; mkfifo a/pipe; echo x > a/file', cwd: sandbox.directory });
    const [source, destination] = [join(sandbox.directory, 'a'), join(sandbox.directory, 'disk/a')];
    const { status, body } = await sandbox.request('POST /v2/fs/move', { source, destination });

    expect(status).toBe(400);
    expect(body.message).toBe(`${source}/pipe: is a pipe, which cannot be moved to another file system`);
    expect(describe(source)).toEqual(['file 644 x\n', 'pipe 644 special']);
    expect(readdirSync(otherDisk(sandbox))).toEqual([]);
  },
  inRoom(1),
);

test('FILE-10 a link moves itself, and a file with two names loses the one that moved', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  await sandbox.run({ command: 'echo x > file; ln file second; ln -s file link', cwd: sandbox.directory });
  await move(sandbox, { source: at('link'), destination: at('deep/moved') });
  expect(readlinkSync(at('deep/moved'))).toBe('file');

  await move(sandbox, { path: at('second'), destination: at('file'), overwrite: true });
  expect(existsSync(at('second'))).toBe(false);
  expect(readFileSync(at('file'), 'utf8')).toBe('x\n');
});

test(
  'FILE-10 a link moves itself to another file system too',
  async ({ sandbox }) => {
    symlinkSync('gone', join(sandbox.directory, 'link'));
    await move(sandbox, { source: join(sandbox.directory, 'link'), destination: join(sandbox.directory, 'disk/l') });
    expect(readdirSync(otherDisk(sandbox))).toEqual(['l']);
    expect(readlinkSync(otherDisk(sandbox, 'l'))).toBe('gone');
    expect(existsSync(join(sandbox.directory, 'link'))).toBe(false);
  },
  inRoom(1),
);

test('FILE-11 V2FS-NOTEMPTY delete removes a file, a dangling link, an empty directory, and a tree with recursive', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  mkdirSync(at('tree'));
  plant(at('tree'));
  mkdirSync(at('empty'));
  symlinkSync('tree', at('link'));

  const removed = await remove(sandbox, { path: at('link'), recursive: true });
  expect(removed).toEqual({ path: at('link'), deleted: true, is_directory: false });
  expect(existsSync(at('tree/script'))).toBe(true);
  await remove(sandbox, { path: at('tree/script') });
  await remove(sandbox, { path: at('empty') });
  const full = await sandbox.request('POST /v2/fs/delete', { path: at('tree') });
  expect(full).toMatchObject({
    status: 400,
    body: {
      message: `${at('tree')}: Directory not empty`,
      hint: 'Set recursive to true to delete a directory with its content.',
      data: { error_type: 'invalid_target', errno_name: 'ENOTEMPTY', operation: 'delete', exception_type: 'OSError' },
    },
  });
  await remove(sandbox, { path: at('tree'), recursive: true });
  expect(existsSync(at('tree'))).toBe(false);
  expect(await refused(sandbox, 'POST /v2/fs/delete', { path: '/', recursive: true })).toEqual([
    400,
    'invalid_target',
    'EISDIR',
  ]);
});

test(
  'FILE-11 a tree that contains a mount stays whole',
  async ({ sandbox }) => {
    const disk = join(sandbox.directory, 'disk');
    for (const body of [
      { path: sandbox.directory, recursive: true },
      { path: disk, recursive: true },
    ]) {
      const answer = await sandbox.request('POST /v2/fs/delete', body);
      expect(answer).toMatchObject({ status: 500, body: { message: `${disk}: something is mounted there` } });
      expect(answer.body.data).toMatchObject({ errno_name: 'EBUSY', error_type: 'io_error', retryable: true });
    }
    expect(existsSync(join(sandbox.directory, 'tmp'))).toBe(true);
  },
  inRoom(1),
);

test('FILE-9 FILE-10 FILE-11 a tree of thousands of levels is copied, moved and deleted, and no descriptor is left', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  const levels = many(10_000);
  plantDeep(at('deep'), levels);
  const before = sandbox.descriptors().length;
  await copy(sandbox, { source: at('deep'), destination: at('copy') });
  expect(depthOf(at('copy'))).toBe(levels);
  await move(sandbox, { source: at('copy'), destination: at('moved') });
  expect(depthOf(at('moved'))).toBe(levels);
  for (const name of ['deep', 'moved']) await remove(sandbox, { path: at(name), recursive: true });
  expect(readdirSync(sandbox.directory).toSorted()).toEqual(['runtime', 'tmp']);
  await until('descriptors are closed', () => sandbox.descriptors().length <= before);
});

test('FILE-9 FILE-11 a large tree does not delay other requests', async ({ sandbox }) => {
  const entries = 5000;
  // Checks without a pause would keep a core busy beside the daemon.
  const betweenChecksMs = 5;
  const source = join(sandbox.directory, 'many');
  mkdirSync(source);
  for (let n = 0; n < entries; n++) writeFileSync(join(source, String(n)), '');
  const waits: number[] = [];
  let isOver = false;
  const polling = (async () => {
    while (!isOver) {
      const from = performance.now();
      await (await sandbox.fetch('GET /health')).arrayBuffer();
      waits.push(performance.now() - from);
      await Bun.sleep(betweenChecksMs);
    }
  })();
  await copy(sandbox, { source, destination: join(sandbox.directory, 'copy') });
  await remove(sandbox, { path: source, recursive: true });
  isOver = true;
  await polling;

  expect(readdirSync(join(sandbox.directory, 'copy')).length).toBe(entries);
  expect(existsSync(source)).toBe(false);
  expect(waits.length).toBeGreaterThan(20);
  expect(waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.95)]).toBeLessThan(100);
});

test(
  'FILE-9 FILE-10 a daemon that is not root copies and moves read-only directories, and keeps the modes',
  async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, name);
    const prepared = await sandbox.run({
      command: 'mkdir -p a/inner && echo x > a/inner/file && chmod 444 a/inner/file && chmod 555 a/inner a',
      cwd: sandbox.directory,
    });
    expect(prepared).toMatchObject({ exit_code: 0 });
    const before = describe(at('a'));
    await copy(sandbox, { source: at('a'), destination: at('new/b') });
    expect(describe(at('new/b'))).toEqual(before);
    await move(sandbox, { source: at('a'), destination: at('c') });
    expect(describe(at('c'))).toEqual(before);
    await copy(sandbox, { source: at('c'), destination: at('disk/d') });
    expect(describe(otherDisk(sandbox, 'd'))).toEqual(before);
    await move(sandbox, { source: at('theirs'), destination: at('disk/theirs') });
    expect(statSync(otherDisk(sandbox, 'theirs')).uid).toBe(testAccount.uid);
    const kept = await refused(sandbox, 'POST /v2/fs/delete', { path: at('c'), recursive: true });
    expect(kept).toEqual([403, 'permission_denied', 'EACCES']);
    expect(describe(at('c'))).toEqual(before);
  },
  inRoom(
    1,
    asTestAccount({ prepare: ({ directory }) => writeFileSync(join(directory, 'theirs'), 'x', { mode: 0o644 }) }),
  ),
);

test('FILE-16 path and source are two names for the source, and different values are refused', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('a'), '');
  await copy(sandbox, { path: at('a'), source: at('a'), destination: at('b') });
  const other = await sandbox.request('POST /v2/fs/copy', { path: at('a'), source: at('b'), destination: at('c') });
  expect(other).toMatchObject({
    status: 422,
    body: { errors: [{ location: 'body.source', type: 'value_error' }] },
  });
  const none = await sandbox.request('POST /v2/fs/move', { destination: at('c') });
  expect(none).toMatchObject({ status: 422, body: { errors: [{ location: 'body.path', type: 'missing' }] } });
});
