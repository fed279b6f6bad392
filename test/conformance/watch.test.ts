/** The behavior of file watchers. */
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { sseMessages, type SseMessage } from '../harness/sse.ts';
import { asTestAccount, testAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';
import { Watching } from '../harness/watching.ts';

function tree(sandbox: Sandbox, name = 'tree'): string {
  const root = join(sandbox.directory, name);
  mkdirSync(root);
  return root;
}

/** The number of inotify watches in the daemon's one instance. */
function watchesOf(sandbox: Sandbox): number {
  const directory = `/proc/${sandbox.daemonPid}/fdinfo`;
  const counts = readdirSync(directory).map((name) => {
    try {
      return readFileSync(join(directory, name), 'utf8').match(/^inotify wd:/gm)?.length ?? 0;
    } catch {
      return 0; // The descriptor was closed during the read.
    }
  });
  return Math.max(...counts); // The runtime reads from a duplicate of the descriptor.
}

test('WATCH-1 WATCH-2 EVT-1 V2WATCH-RECORD V2WATCH-EVENT a watcher reports file changes', async ({ sandbox }) => {
  const root = tree(sandbox);
  writeFileSync(join(root, 'old'), 'x');
  // Long enough for a busy machine to create and write a file in one window.
  const watching = await Watching.start(sandbox, root, { debounce: 500 });

  writeFileSync(join(root, 'new'), 'hello');
  await watching.upTo('new');
  appendFileSync(join(root, 'old'), 'y');
  await watching.upTo('old');
  chmodSync(join(root, 'new'), 0o600);
  await watching.until('a chmod', () => watching.events.length >= 3);
  renameSync(join(root, 'new'), join(root, 'newer'));
  await watching.upTo('newer');
  rmSync(join(root, 'newer'));
  await watching.until('a remove', () => watching.events.length >= 5);

  expect(watching.eventNames).toEqual(['create new', 'write old', 'chmod new', 'rename new newer', 'remove newer']);
  expect(watching.record).toEqual({
    watcher_id: expect.stringMatching(/^watch_/),
    path: root,
    recursive: true,
    reused: false,
    initial_cursor: 0,
    exclude: ['.git', 'node_modules', '__pycache__', '.venv', '*.pyc', '*.pyo', '.DS_Store', '*.swp', '*.swo'],
    include_patterns: [],
    debounce: 500,
    event_count: 0,
    latest_seq: 0,
    created_at: expect.stringMatching(/Z$/),
    status: 'active',
    subscribers: 1,
    backend: 'inotify',
    warning: null,
  });
  const now = Date.now() / 1000;
  expect(watching.events[0]).toEqual({
    seq: 1,
    type: 'create',
    path: join(root, 'new'),
    relative_path: 'new',
    old_path: null,
    is_dir: false,
    timestamp: expect.any(Number),
    mtime: expect.any(Number),
    size: 5,
    inode: expect.any(Number),
  });
  expect(Math.abs(watching.events[0]?.['timestamp'] - now)).toBeLessThan(60);
  expect(Math.abs(watching.events[0]?.['mtime'] - now)).toBeLessThan(60);
  expect(watching.events[4]).toMatchObject({ mtime: null, size: null, inode: null });
});

test('V2WATCH-DEFAULT by default a watcher is recursive, excludes the paths 1.x did, and merges for 300 ms', async ({
  sandbox,
}) => {
  const record = await sandbox.ok('POST /v2/watch', { path: tree(sandbox) });
  expect(record).toMatchObject({ recursive: true, debounce: 300, include_patterns: [] });
  expect(record['exclude']).toContain('node_modules');
  expect(await (await sandbox.fetch('GET /metrics')).text()).toContain('boxkeep_watchers 1');
  expect((await sandbox.ok('GET /v2/sandbox'))['limits']['watchers']).toBe(128);
});

test('WATCH-4 V2WATCH-REUSE equal requests share a watcher, which ends with its last subscriber', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const [first, second] = await Promise.all([Watching.start(sandbox, root), Watching.start(sandbox, root)]);
  const other = await Watching.start(sandbox, root, { debounce: 60 });
  expect([first.record['reused'], second.record['reused']].toSorted()).toEqual([false, true]);
  expect(second.id).toBe(first.id);
  expect(other.id).not.toBe(first.id);

  mkdirSync(join(root, 'a')); // One event, where a written file may be two.
  await first.upTo('a');
  expect((await Watching.start(sandbox, root)).record).toMatchObject({
    reused: true,
    initial_cursor: 1,
    subscribers: 3,
  });

  expect(await first.stop()).toEqual({ watcher_id: first.id, subscribers: 2 });
  expect(await first.stop()).toEqual({ watcher_id: first.id, subscribers: 1 });
  expect(await first.stop()).toEqual({ watcher_id: first.id, subscribers: 0 });
  expect((await sandbox.request(`GET /v2/watch/${first.id}/poll`)).status).toBe(404);
  expect(await sandbox.ok('GET /v2/watch')).toMatchObject([{ watcher_id: other.id, status: 'active' }]);
  await other.stop();
  await until('no watch is left', () => watchesOf(sandbox) === 0);
});

test('V2WATCH-POLL a poll removes nothing, resumes at its cursor, and serves several waiting readers', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  const poll = (query: string) => sandbox.ok(`GET /v2/watch/${watching.id}/poll?${query}`);

  const waiting = [poll('timeout=20'), poll('timeout=20'), poll('cursor=0&timeout=20')];
  for (const name of ['a', 'b', 'c']) mkdirSync(join(root, name));
  for (const page of await Promise.all(waiting)) expect(page['events'].length).toBeGreaterThan(0);
  await watching.upTo('c');

  const names = (page: JsonObject) => page['events'].map((event: JsonObject) => event['relative_path']);
  expect(names(await poll(''))).toEqual(['a', 'b', 'c']);
  expect(names(await poll('cursor=0'))).toEqual(['a', 'b', 'c']);
  const first = await poll('limit=2');
  expect(first).toMatchObject({ cursor: 2, overflow: false, status: 'active' });
  expect(names(await poll(`cursor=${first['cursor']}`))).toEqual(['c']);
  expect(await poll('cursor=3&timeout=0.05')).toEqual({ events: [], cursor: 3, overflow: false, status: 'active' });
  expect(await poll('cursor=99')).toMatchObject({ events: [], cursor: 3 });
});

test('V2WATCH-DEBOUNCE changes within the debounce window that clients cannot tell apart are merged', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  writeFileSync(join(root, 'old'), 'x');
  writeFileSync(join(root, 'going'), 'x');
  const watching = await Watching.start(sandbox, root, { debounce: 1000 });

  writeFileSync(join(root, 'new'), '1'); // A create followed by writes is one create.
  appendFileSync(join(root, 'new'), '2');
  chmodSync(join(root, 'new'), 0o600);
  appendFileSync(join(root, 'old'), '3'); // Several writes are one; a chmod is a separate event.
  appendFileSync(join(root, 'old'), '4');
  chmodSync(join(root, 'old'), 0o600);
  writeFileSync(join(root, 'short'), ''); // A file that is created and removed gives no event.
  rmSync(join(root, 'short'));
  appendFileSync(join(root, 'going'), '5'); // A remove replaces the earlier events.
  rmSync(join(root, 'going'));
  mkdirSync(join(root, 'directory')); // For a directory both events are reported.
  rmSync(join(root, 'directory'), { recursive: true });
  writeFileSync(join(root, 'end'), '');

  expect(await watching.upTo('end')).toEqual([
    'create new',
    'write old',
    'chmod old',
    'remove going',
    'create directory',
    'remove directory',
  ]);
});

test('V2WATCH-RENAME a move inside the tree is one rename, and a moved directory is followed under its new path', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  mkdirSync(join(root, 'a/deep/er'), { recursive: true });
  mkdirSync(join(root, 'b'));
  const watching = await Watching.start(sandbox, root);

  renameSync(join(root, 'a'), join(root, 'b/c'));
  await watching.upTo('b/c');
  writeFileSync(join(root, 'b/c/deep/er/file'), '');
  await watching.upTo('b/c/deep/er/file');

  expect(watching.eventNames).toEqual(['rename a b/c', 'create b/c/deep/er/file']);
  expect(watching.events[0]).toMatchObject({ is_dir: true, old_path: join(root, 'a'), path: join(root, 'b/c') });
});

test('V2WATCH-BORDER a tree moved in is reported with its content, a tree moved out as removed', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const outside = tree(sandbox, 'outside');
  mkdirSync(join(outside, 'in/deep'), { recursive: true });
  writeFileSync(join(outside, 'in/deep/file'), '');
  mkdirSync(join(root, 'out/deep'), { recursive: true });
  const watching = await Watching.start(sandbox, root);

  renameSync(join(outside, 'in'), join(root, 'in'));
  await watching.upTo('in/deep/file');
  writeFileSync(join(root, 'in/deep/later'), '');
  await watching.upTo('in/deep/later');
  renameSync(join(root, 'out'), join(outside, 'out'));
  await watching.upTo('out');
  writeFileSync(join(outside, 'out/deep/unseen'), '');
  writeFileSync(join(root, 'end'), '');

  expect(await watching.upTo('end')).toEqual([
    'create in',
    'create in/deep',
    'create in/deep/file',
    'create in/deep/later',
    'remove out',
  ]);
});

test('V2WATCH-STORM a thousand renames are a thousand events', async ({ sandbox }) => {
  const root = tree(sandbox);
  for (let i = 0; i < 500; i += 1) mkdirSync(join(root, `d${i}`));
  for (let i = 0; i < 500; i += 1) writeFileSync(join(root, `f${i}`), '');
  const watching = await Watching.start(sandbox, root);
  const expected: string[] = [];
  for (let i = 0; i < 500; i += 1) {
    renameSync(join(root, `f${i}`), join(root, `d${i}/f`));
    renameSync(join(root, `d${i}`), join(root, `e${i}`));
    expected.push(`rename f${i} d${i}/f`, `rename d${i} e${i}`);
  }
  await watching.until('all of them', () => watching.events.length >= 1000);
  expect(watching.eventNames).toEqual(expected);
});

test('V2WATCH-BURST directories that fill at once are reported in full, without duplicates, to two watchers', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const both = [
    await Watching.start(sandbox, root),
    await Watching.start(sandbox, sandbox.directory, { exclude: ['runtime', 'tmp'] }),
  ];
  const script = 'for i in $(seq 100); do mkdir -p d$i/a/b && for j in $(seq 30); do echo > d$i/a/b/f$j; done; done';
  await sandbox.run({ command: script, cwd: root });
  writeFileSync(join(root, 'end'), '');
  const all = readdirSync(root, { recursive: true }) as string[];

  for (const [index, watching] of both.entries()) {
    const prefix = index === 0 ? '' : 'tree/';
    await watching.upTo(`${prefix}end`);
    const created = watching.events.filter(({ type }) => type === 'create').map((event) => event.relative_path);
    expect(created.toSorted()).toEqual(all.map((path) => prefix + path).toSorted());
    expect(watching.hasOverflowed).toBe(false);
  }
});

test('V2WATCH-EXCLUDE excluded paths are not reported, and excluded directories are not even watched', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  for (let i = 0; i < 50; i += 1) mkdirSync(join(root, `node_modules/p${i}`), { recursive: true });
  const watching = await Watching.start(sandbox, root);
  expect(watchesOf(sandbox)).toBe(2); // The root, and its parent, from which the root may be moved.
  const own = await Watching.start(sandbox, root, { exclude: ['*.log', 'build/out'] });

  writeFileSync(join(root, 'node_modules/p1/x'), '');
  writeFileSync(join(root, 'a.pyc'), '');
  writeFileSync(join(root, 'a.log'), '');
  mkdirSync(join(root, 'build/out'), { recursive: true });
  writeFileSync(join(root, 'build/out/x'), '');
  renameSync(join(root, 'a.pyc'), join(root, 'a.txt')); // From an excluded name, so it is a create.
  renameSync(join(root, 'a.txt'), join(root, 'b.pyc')); // To an excluded name, so it is a remove.
  mkdirSync(join(root, '.git/objects'), { recursive: true });
  writeFileSync(join(root, 'end'), '');

  expect(await watching.upTo('end')).toEqual([
    'create a.log',
    'create build',
    'create build/out',
    'create build/out/x',
    'remove a.txt', // The file moved in and may have replaced another one, so its remove is reported.
  ]);
  expect(await own.upTo('end')).toEqual([
    'create node_modules/p1/x',
    'create a.pyc',
    'create build',
    'rename a.pyc a.txt',
    'rename a.txt b.pyc',
    'create .git',
    'create .git/objects',
  ]);
});

test('V2WATCH-INCLUDE with include patterns only matching paths are reported', async ({ sandbox }) => {
  const root = tree(sandbox);
  mkdirSync(join(root, 'src'));
  const watching = await Watching.start(sandbox, root, { include_patterns: ['*.{ts,js}', 'docs/**', 'end'] });

  writeFileSync(join(root, 'src/a.ts'), '');
  writeFileSync(join(root, 'src/a.py'), '');
  mkdirSync(join(root, 'docs'));
  writeFileSync(join(root, 'docs/page'), '');
  renameSync(join(root, 'src/a.py'), join(root, 'src/b.js')); // The new name is included, so it is a create.
  renameSync(join(root, 'src'), join(root, 'lib')); // And this moves the included file along.
  writeFileSync(join(root, 'end'), '');

  expect(await watching.upTo('end')).toEqual([
    'create src/a.ts',
    'create docs',
    'create docs/page',
    'create src/b.js',
    'rename src lib',
  ]);
});

test('V2WATCH-FLAT without recursion only the directory itself is watched', async ({ sandbox }) => {
  const root = tree(sandbox);
  mkdirSync(join(root, 'a'));
  const watching = await Watching.start(sandbox, root, { recursive: false });
  expect(watchesOf(sandbox)).toBe(2);
  writeFileSync(join(root, 'a/inside'), '');
  mkdirSync(join(root, 'b/c'), { recursive: true });
  writeFileSync(join(root, 'b/c/inside'), '');
  renameSync(join(root, 'a'), join(root, 'z'));
  writeFileSync(join(root, 'end'), '');
  expect(await watching.upTo('end')).toEqual(['create b', 'rename a z']);
});

test('V2WATCH-GONE the end of the root is the last event, and waiting calls return', async ({ sandbox }) => {
  const root = tree(sandbox);
  writeFileSync(join(root, 'file'), '');
  const watching = await Watching.start(sandbox, root);
  // The working directory of a process is removed too.
  const stays = await sandbox.start({ command: 'sleep 60', cwd: root });

  rmSync(root, { recursive: true });
  mkdirSync(root);
  await watching.until('the root has gone', () => watching.status === 'gone');
  expect(watching.eventNames).toEqual(['remove file', 'remove .']);
  expect(watching.events.at(-1)).toMatchObject({ path: root, is_dir: true });
  writeFileSync(join(root, 'of another one'), '');
  expect(await watching.poll(60)).toEqual([]);
  expect(await sandbox.ok('GET /v2/watch')).toMatchObject([{ watcher_id: watching.id, status: 'gone' }]);

  const next = await Watching.start(sandbox, root);
  expect(next.record).toMatchObject({ reused: false, status: 'active' });
  renameSync(root, `${root}-moved`); // After the move the root does not exist either.
  await next.until('the root has gone', () => next.status === 'gone');
  expect(next.eventNames).toEqual(['remove .']);
  await watching.stop();
  await next.stop();
  expect(await sandbox.ok('GET /v2/watch')).toEqual([]);
  await sandbox.ok(`DELETE /v2/commands/${stays}`);
});

test('V2WATCH-FILE a single file can be watched, and is followed when a save replaces it', async ({ sandbox }) => {
  const root = tree(sandbox);
  const file = join(root, 'file');
  writeFileSync(file, '1');
  const watching = await Watching.start(sandbox, file);

  writeFileSync(join(root, 'sibling'), '');
  appendFileSync(file, '2');
  await watching.until('a write', () => watching.events.length === 1);
  writeFileSync(`${file}.new`, '3');
  renameSync(`${file}.new`, file);
  await watching.until('another write', () => watching.events.length === 2);
  rmSync(file);
  await watching.until('its end', () => watching.status === 'gone');

  expect(
    watching.events.map(({ type, path, relative_path: name, is_dir: isDirectory }) => [type, path, name, isDirectory]),
  ).toEqual([
    ['write', file, '.', false],
    ['write', file, '.', false],
    ['remove', file, '.', false],
  ]);
});

test('V2WATCH-LINKS links are entries and not followed, except the root', async ({ sandbox }) => {
  const root = tree(sandbox);
  const outside = tree(sandbox, 'outside');
  mkdirSync(join(root, 'real'));
  symlinkSync(outside, join(root, 'link'));
  symlinkSync(root, join(root, 'real/loop'));
  symlinkSync(root, join(sandbox.directory, 'way'));
  const watching = await Watching.start(sandbox, join(sandbox.directory, 'way'));

  writeFileSync(join(outside, 'unseen'), '');
  symlinkSync(outside, join(root, 'another'));
  writeFileSync(join(root, 'real/file'), '');

  expect(await watching.upTo('real/file')).toEqual(['create another']);
  expect(watching.events[0]).toMatchObject({ path: join(sandbox.directory, 'way/another'), is_dir: false });
});

test('V2WATCH-NAMES any name is reported: with a line break, in any script, and percent-encoded if not UTF-8', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  const raw = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, 0xff])]);
  mkdirSync(raw);
  writeFileSync(Buffer.concat([raw, Buffer.from('/in')]), '');
  writeFileSync(join(root, 'two\nlines'), '');
  writeFileSync(join(root, 'дом \u{1F3E0}'), '');
  await watching.until('all of them', () => watching.events.length >= 4);

  expect(watching.events.map(({ path }) => path).toSorted()).toEqual(
    [`file://${root}/a%FF`, `file://${root}/a%FF/in`, `${root}/two\nlines`, `${root}/дом \u{1F3E0}`].toSorted(),
  );
  expect(watching.events.map((event) => event.relative_path)).toContain('a%FF/in');
  const inside = await Watching.start(sandbox, `file://${root}/a%FF`);
  writeFileSync(Buffer.concat([raw, Buffer.from('/more')]), '');
  await inside.upTo('more');
  expect(inside.events[0]?.path).toBe(`file://${root}/a%FF/more`);
});

test('WATCH-3 V2WATCH-SSE a stream begins with watch_started and sends each event with its id', async ({ sandbox }) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  writeFileSync(join(root, 'a'), '');
  await watching.upTo('a');

  const stream = sseMessages(sandbox, `/v2/watch/${watching.id}/events`);
  expect((await stream.next()).value).toMatchObject({
    event: 'watch_started',
    id: null,
    data: { watcher_id: watching.id, path: root, cursor: 0, status: 'active' },
  });
  expect((await stream.next()).value).toEqual({
    event: 'file_change',
    id: `${watching.id}:1`,
    data: watching.events[0] as JsonObject,
  });
  writeFileSync(join(root, 'b'), '');
  expect((await stream.next()).value).toMatchObject({ id: `${watching.id}:2`, data: { type: 'create' } });
  await watching.stop();
  expect((await stream.next()).value).toMatchObject({ event: 'watch_ended', data: { reason: 'stopped', cursor: 2 } });
  expect((await stream.next()).done).toBe(true);
});

test('V2WATCH-RESUME Last-Event-ID resumes after that event; an id of another watcher is an overflow', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), '');
  await watching.upTo('c');
  rmSync(root, { recursive: true });
  await watching.until('the root has gone', () => watching.status === 'gone');

  const read = (query = '', lastEventId?: string) =>
    Array.fromAsync(
      sseMessages(sandbox, `/v2/watch/${watching.id}/events${query}`, lastEventId ? { lastEventId } : {}),
    );
  const ids = (messages: SseMessage[]) => messages.map(({ event, id }) => id?.split(':')[1] ?? event);
  const rest = ['3', '4', '5', '6', '7', 'watch_ended'];
  expect(ids(await read('', `${watching.id}:2`))).toEqual(['watch_started', ...rest]);
  expect(ids(await read('?cursor=2'))).toEqual(['watch_started', ...rest]);
  expect(ids(await read())).toEqual(['watch_started', '1', '2', ...rest]);
  for (const foreign of ['watch_other:2', 'nonsense', `${watching.id}:-1`]) {
    expect(ids(await read('', foreign))).toEqual(['watch_started', 'overflow', '1', '2', ...rest]);
  }
  expect((await read()).at(-1)).toMatchObject({ data: { reason: 'gone', cursor: 7 } });
});

test('V2WATCH-HEARTBEAT a quiet stream has a comment every 15 s, and ends when the daemon stops', async ({
  sandbox,
}) => {
  const watching = await Watching.start(sandbox, tree(sandbox));
  const stream = sseMessages(sandbox, `/v2/watch/${watching.id}/events`);
  await stream.next();
  const startedMs = performance.now();
  expect((await stream.next()).value).toMatchObject({ event: ':' });
  expect(performance.now() - startedMs).toBeGreaterThan(14_500);
  const stopped = sandbox.stop();
  expect((await stream.next()).value).toMatchObject({ event: 'watch_ended', data: { reason: 'closing' } });
  expect((await stream.next()).done).toBe(true);
  expect(await stopped).toBe(0);
});

test(
  'V2WATCH-DAEMON watchers end with the daemon: afterwards they are not found, and can be created again',
  async ({ sandbox }) => {
    const root = tree(sandbox);
    const watching = await Watching.start(sandbox, root);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await sandbox.request(`GET /v2/watch/${watching.id}/poll`)).toMatchObject({
      status: 404,
      body: { success: false, hint: expect.stringContaining('POST /v2/watch') },
    });
    expect((await Watching.start(sandbox, root)).record['reused']).toBe(false);
  },
  { expectedWarnings: ['started again by init'] },
);

test('V2WATCH-UPGRADE an upgrade ends a stream, and later requests for the watcher are 404', async ({ sandbox }) => {
  const watching = await Watching.start(sandbox, tree(sandbox));
  const stream = sseMessages(sandbox, `/v2/watch/${watching.id}/events`);
  await stream.next();
  const upgraded = sandbox.upgrade();
  expect((await stream.next()).value).toMatchObject({ event: 'watch_ended', data: { reason: 'closing' } });
  expect((await stream.next()).done).toBe(true);
  expect((await upgraded).code).toBe(0);
  expect((await sandbox.request(`GET /v2/watch/${watching.id}/poll`)).status).toBe(404);
});

test('V2WATCH-RING the newest 10 000 events are kept, and a reader of older ones gets an overflow', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  await sandbox.run({ command: 'seq 10100 | xargs touch', cwd: root });
  writeFileSync(join(root, 'end'), '');
  await watching.upTo('end');

  const page = await sandbox.ok(`GET /v2/watch/${watching.id}/poll?cursor=5&limit=1`);
  expect(page['overflow']).toBe(true);
  expect(page['events'][0]['seq']).toBe(page['cursor']);
  const oldest = page['cursor'] as number;
  expect(oldest).toBeGreaterThanOrEqual(101);
  expect(await sandbox.ok(`GET /v2/watch/${watching.id}/poll?cursor=${oldest - 1}&limit=1`)).toMatchObject({
    overflow: false,
    cursor: oldest,
  });
  const stream = sseMessages(sandbox, `/v2/watch/${watching.id}/events`, { lastEventId: `${watching.id}:5` });
  await stream.next();
  expect((await stream.next()).value).toMatchObject({ event: 'overflow', id: `${watching.id}:${oldest - 1}` });
  expect((await stream.next()).value).toMatchObject({ event: 'file_change', id: `${watching.id}:${oldest}` });
  await stream.return(undefined);
});

test('V2WATCH-OVERFLOW events that the kernel dropped are reported as an overflow, and later events follow', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  const most = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  const daemon = sandbox.daemonPid;
  process.kill(daemon, 'SIGSTOP');
  for (let i = 0; i < most; i += 1) writeFileSync(join(root, 'file'), `${i % 10}`.repeat(1 + (i % 2)));
  for (let i = 0; i < most; i += 1)
    renameSync(join(root, i % 2 === 0 ? 'file' : 'elif'), join(root, i % 2 === 0 ? 'elif' : 'file'));
  mkdirSync(join(root, 'unseen/deep'), { recursive: true });
  process.kill(daemon, 'SIGCONT');

  await watching.until('an overflow', () => watching.hasOverflowed);
  writeFileSync(join(root, 'unseen/deep/file'), '');
  await watching.upTo('unseen/deep/file');
});

test('WATCH-5 V2WATCH-CAP there are at most 128 watchers; one more is 429', async ({ sandbox }) => {
  const root = tree(sandbox);
  const roots = Array.from({ length: 128 }, (_, i) => join(root, `${i}`));
  for (const path of roots) mkdirSync(path);
  const all = await Promise.all(roots.map((path) => Watching.start(sandbox, path)));
  const refused = await sandbox.request('POST /v2/watch', { path: root });
  expect(refused).toMatchObject({
    status: 429,
    body: { success: false, data: { code: 'capacity_reached', retryable: true } },
  });
  expect(refused.headers.get('retry-after')).toBe('1');

  // This limit is the daemon's own: all watchers share one inotify instance.
  for (const i of all.keys()) writeFileSync(join(roots[i] ?? '', 'file'), '');
  for (const watching of all) await watching.upTo('file');
  expect(all.every(({ record }) => record['backend'] === 'inotify')).toBe(true);
  expect((await Watching.start(sandbox, roots[0] ?? '')).record['reused']).toBe(true);
  await all[1]?.stop();
  expect((await sandbox.request('POST /v2/watch', { path: root })).status).toBe(200);
});

const missing = { errno: 2, errno_name: 'ENOENT', error_type: 'not_found', exception_type: 'FileNotFoundError' };
const failures = [
  { path: 'gone', status: 404, data: missing },
  { path: 'dangling', status: 404, data: missing },
  {
    path: 'file/inside',
    status: 400,
    data: { errno: 20, errno_name: 'ENOTDIR', error_type: 'invalid_path', exception_type: 'NotADirectoryError' },
  },
  {
    path: 'loop',
    status: 400,
    data: { errno: 40, errno_name: 'ELOOP', error_type: 'invalid_path', exception_type: 'OSError' },
  },
  {
    path: 'n'.repeat(256),
    status: 400,
    data: { errno: 36, errno_name: 'ENAMETOOLONG', error_type: 'invalid_path', exception_type: 'OSError' },
  },
] as const;

test('V2WATCH-FAILURE a path that cannot be watched is a file error with all of its fields', async ({ sandbox }) => {
  const root = tree(sandbox);
  writeFileSync(join(root, 'file'), '');
  symlinkSync('nowhere', join(root, 'dangling'));
  symlinkSync('loop', join(root, 'loop'));
  for (const { path, status, data } of failures) {
    const reply = await sandbox.request('POST /v2/watch', { path: join(root, path) });
    expect(reply).toMatchObject({ status, body: { success: false, hint: expect.any(String) } });
    expect(reply.body.data).toEqual({
      code: expect.stringMatching(/^file_/),
      ...data,
      message: reply.body.message,
      operation: 'watch',
      path: join(root, path),
      retryable: false,
    });
  }
  expect(await sandbox.ok('GET /v2/watch')).toEqual([]);
});

const invalid: readonly (readonly [object, string, string])[] = [
  [{}, 'body.path', 'missing'],
  [{ path: 3 }, 'body.path', 'string_type'],
  [{ path: '' }, 'body.path', 'too_short'],
  [{ path: '/a\0b' }, 'body.path', 'value_error'],
  [{ path: '/', recursive: 'yes' }, 'body.recursive', 'bool_type'],
  [{ path: '/', debounce: 49 }, 'body.debounce', 'too_small'],
  [{ path: '/', debounce: 5001 }, 'body.debounce', 'too_large'],
  [{ path: '/', debounce: 60.5 }, 'body.debounce', 'int_type'],
  [{ path: '/', debounce: [] }, 'body.debounce', 'int_type'],
  [{ path: '/', exclude: '*.log' }, 'body.exclude', 'array_type'],
  [{ path: '/', exclude: [''] }, 'body.exclude.0', 'too_short'],
  [{ path: '/', exclude: ['a/../../b'] }, 'body.exclude.0', 'value_error'],
  [{ path: '/', include_patterns: ['a', 7] }, 'body.include_patterns.1', 'string_type'],
  [{ path: '/', include_patterns: Array.from({ length: 257 }, () => 'a') }, 'body.include_patterns', 'too_long'],
];

test('V2WATCH-INVALID invalid requests are 422 with the field and the kind of error', async ({ sandbox }) => {
  for (const [body, location, type] of invalid) {
    const reply = await sandbox.request('POST /v2/watch', body);
    expect({ body, status: reply.status, errors: reply.body.errors }).toMatchObject({
      body,
      status: 422,
      errors: [{ location, type }],
    });
  }
  const { id } = await Watching.start(sandbox, tree(sandbox));
  for (const [query, type] of [
    ['cursor=-1', 'too_small'],
    ['cursor=now', 'int_type'],
    ['limit=0', 'too_small'],
    ['limit=1001', 'too_large'],
    ['timeout=61', 'too_large'],
    ['timeout=-1', 'too_small'],
  ] as const) {
    const reply = await sandbox.request(`GET /v2/watch/${id}/poll?${query}`);
    expect({ query, status: reply.status, errors: reply.body.errors }).toMatchObject({
      query,
      status: 422,
      errors: [{ location: `query.${query.split('=')[0]}`, type }],
    });
  }
  expect((await sandbox.request(`GET /v2/watch/${id}/events?cursor=x`)).status).toBe(422);
  for (const route of ['GET /v2/watch/none/poll', 'GET /v2/watch/none/events', 'DELETE /v2/watch/none']) {
    expect(await sandbox.request(route)).toMatchObject({
      status: 404,
      body: { success: false, data: { code: 'watcher_not_found', retryable: false } },
    });
  }
});

/** The inotify limits count per user namespace. */
const limited = (limit: string) => ({
  launcher: ['unshare', '--user', '--map-root-user', 'sh', '-c', `echo ${limit} && exec "$@"`, 'sh'],
  expectedWarnings: ['inotify is not available'],
});

test(
  'V2WATCH-POLLING without inotify a watcher polls, and reports that',
  async ({ sandbox }) => {
    const root = tree(sandbox);
    mkdirSync(join(root, 'node_modules'));
    mkdirSync(join(root, 'here'));
    for (const name of ['old', 'going', 'replaced']) writeFileSync(join(root, name), 'x');
    const watching = await Watching.start(sandbox, root);
    expect(watching.record).toMatchObject({ backend: 'polling', warning: expect.stringContaining('EMFILE') });

    writeFileSync(join(root, 'node_modules/unseen'), '');
    mkdirSync(join(root, 'new/deep'), { recursive: true });
    writeFileSync(join(root, 'new/deep/file'), '');
    appendFileSync(join(root, 'old'), 'y');
    renameSync(join(root, 'going'), join(root, 'here/gone'));
    writeFileSync(join(root, 'other'), 'z');
    renameSync(join(root, 'other'), join(root, 'replaced'));
    writeFileSync(join(root, 'end'), '');
    const events = await watching.upTo('end');
    await watching.until('all of it', () => watching.events.length >= 7);
    expect([...events, ...watching.eventNames].filter((line, i, all) => all.indexOf(line) === i).toSorted()).toEqual([
      'create end',
      'create new',
      'create new/deep',
      'create new/deep/file',
      'rename going here/gone',
      'write old',
      'write replaced',
    ]);
    rmSync(root, { recursive: true });
    await watching.until('the root has gone', () => watching.status === 'gone');
    expect(watching.eventNames.at(-1)).toBe('remove .');
  },
  limited('0 > /proc/sys/user/max_inotify_instances'),
);

test(
  'V2WATCH-EXHAUSTED a watcher that runs out of inotify watches continues by polling, with an overflow',
  async ({ sandbox }) => {
    const root = tree(sandbox);
    const watching = await Watching.start(sandbox, root);
    expect(watching.record).toMatchObject({ backend: 'inotify' });
    for (let i = 0; i < 30; i += 1) mkdirSync(join(root, `${i}`));
    await watching.until('an overflow', () => watching.hasOverflowed);
    writeFileSync(join(root, '29/file'), '');
    await watching.upTo('29/file');
    expect(await sandbox.ok('GET /v2/watch')).toMatchObject([
      { status: 'active', backend: 'polling', warning: expect.stringContaining('ENOSPC') },
    ]);
  },
  limited('20 > /proc/sys/user/max_inotify_watches'),
);

test(
  'V2WATCH-UNREADABLE unreadable directories do not affect the others',
  async ({ sandbox }) => {
    const root = join(sandbox.directory, 'tree');
    mkdirSync(join(root, 'closed/deep'), { recursive: true });
    mkdirSync(join(root, 'open'));
    for (const path of [root, join(root, 'open')]) chownSync(path, testAccount.uid, testAccount.gid);
    chmodSync(join(root, 'closed'), 0o700);
    const watching = await Watching.start(sandbox, root);
    writeFileSync(join(root, 'closed/deep/file'), '');
    mkdirSync(join(root, 'also closed'), { mode: 0o700 });
    writeFileSync(join(root, 'open/file'), '');
    expect(await watching.upTo('open/file')).toEqual(['create also closed']);
    expect(await sandbox.request('POST /v2/watch', { path: join(root, 'closed') })).toMatchObject({
      status: 403,
      body: { data: { errno_name: 'EACCES', error_type: 'permission_denied', operation: 'watch' } },
    });
  },
  asTestAccount(),
);
