/** Trees as tar archives in both directions: their content, refusals, and no partial results. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { fc } from '../harness/seed.ts';
import { archive, pax, type Entry } from '../harness/archive.ts';
import { showFigures } from '../harness/figures.ts';
import { send } from '../harness/form.ts';
import { insideRuntime, onSmallDisk } from '../harness/full-disk.ts';
import { expect, test } from '../harness/sandbox.ts';
import { testAccount, withTestAccount } from '../harness/test-account.ts';
import { get, listing, notesOf, partsIn, put, query, touchesOf } from '../harness/trees.ts';
import { until } from '../harness/until.ts';

function tar(args: readonly string[], input?: Uint8Array): Buffer {
  const run = Bun.spawnSync(['tar', ...args], input ? { stdin: input } : {});
  if (run.exitCode !== 0) throw new Error(`tar ${args.join(' ')}: ${run.stderr.toString()}`);
  return run.stdout;
}

/** A tree with everything that an archive carries. */
function makeTree(top: string): void {
  const long = 'long'.repeat(50);
  mkdirSync(join(top, 'empty'), { recursive: true });
  mkdirSync(join(top, 'deep', long, long), { recursive: true });
  writeFileSync(join(top, 'deep', long, long, 'file'), 'deep');
  writeFileSync(join(top, 'small'), 'small');
  writeFileSync(join(top, 'large'), Buffer.alloc(1_000_000, 'large'));
  writeFileSync(join(top, 'nothing'), '');
  writeFileSync(join(top, 'ünïcode'), 'x');
  writeFileSync(Buffer.concat([Buffer.from(`${top}/`), Buffer.of(0xff, 0x20, 0xfe)]), 'no text');
  writeFileSync(join(top, `${'n'.repeat(251)}.txt`), 'a long name');
  chmodSync(join(top, 'small'), 0o751);
  linkSync(join(top, 'small'), join(top, 'zweiter'));
  symlinkSync('small', join(top, 'link'));
  symlinkSync('nowhere', join(top, 'dangling'));
  symlinkSync(`deep/${long}/${long}/file`, join(top, 'long link'));
  chmodSync(join(top, 'empty'), 0o1770);
  utimesSync(join(top, 'small'), 1_000_000_000, 1_000_000_000);
  utimesSync(join(top, 'empty'), 900_000_000, 900_000_000);
}

test('FILE-14 GET /v2/fs/tree sends an archive that GNU tar unpacks to the same tree', async ({ sandbox }) => {
  const [top, out] = [join(sandbox.directory, 'top'), join(sandbox.directory, 'out')];
  makeTree(top);
  mkdirSync(out);
  tar(['-xpf', '-', '-C', out], await get(sandbox, top));
  expect(listing(out)).toEqual(listing(top));
});

test('FILE-15 PUT /v2/fs/tree creates the tree that GNU tar packed, in each of its formats', async ({ sandbox }) => {
  const top = join(sandbox.directory, 'top');
  makeTree(top);
  for (const format of ['gnu', 'posix']) {
    const out = join(sandbox.directory, `below/${format}`);
    const { status, body } = await put(sandbox, out, tar([`--format=${format}`, '-C', top, '-cf', '-', '.']));
    expect([status, body.message]).toEqual([200, 'Operation successful']);
    const entries = Object.keys(listing(top)).length - 1;
    const bytes = 4 + 5 + 1_000_000 + 1 + 7 + 11;
    expect(body.data).toEqual({ path: out, mode: 'rename', entries, bytes });
    expect(listing(out)).toEqual(listing(top));
  }
  expect([partsIn(join(sandbox.directory, 'below')), notesOf(sandbox)]).toEqual([[], []]);
});

test('FILE-14 FILE-15 a tree round-trips unchanged, in each format', async ({ sandbox }) => {
  const top = join(sandbox.directory, 'top');
  makeTree(top);
  const plain = await get(sandbox, top);
  expect((await get(sandbox, top)).equals(plain)).toBe(true);
  for (const [format, open, coding] of [
    ['tar', (bytes: Buffer) => bytes, {}],
    ['tar.gz', gunzipSync, { 'content-encoding': 'gzip' }],
    ['tar.zst', zstdDecompressSync, { 'content-encoding': 'zstd' }],
  ] as const) {
    const packed = await get(sandbox, top, `&format=${format}`);
    expect(Buffer.from(open(packed)).equals(plain)).toBe(true);
    for (const [name, headers] of [
      ['told', coding],
      ['seen', {}],
    ] as const) {
      const out = join(sandbox.directory, `${format}-${name}`);
      expect((await put(sandbox, out, packed, headers)).status).toBe(200);
      expect(listing(out)).toEqual(listing(top));
    }
  }
});

test('FILE-14 excluded entries and entries without content are skipped; a single file is an archive of itself', async ({
  sandbox,
}) => {
  const top = join(sandbox.directory, 'top');
  for (const path of ['a/node_modules/x', 'b', 'build/out']) mkdirSync(join(top, path), { recursive: true });
  for (const path of ['a/one.log', 'a/two.txt', 'b/three.log', 'build/out/four', 'five,5']) {
    writeFileSync(join(top, path), path);
  }
  Bun.spawnSync(['mkfifo', join(top, 'pipe')]);
  const listener = createServer().listen(join(top, 'socket'));
  const names = async (more: string) =>
    tar(['-tf', '-'], await get(sandbox, top, more))
      .toString()
      .trim()
      .split('\n');
  expect(await names('')).not.toContain('./pipe');
  expect(await names('')).not.toContain('./socket');
  expect(await names(`&exclude=${encodeURIComponent('*.log,node_modules,build/*,five\\,?')}`)).toEqual([
    './',
    './a/',
    './a/two.txt',
    './b/',
    './build/',
    './',
  ]);
  expect(await names(`&exclude=${encodeURIComponent('{a,b},build')}`)).toEqual(['./', './five,5', './']);
  listener.close();
  const one = await get(sandbox, join(top, 'a/two.txt'));
  expect(tar(['-tf', '-'], one).toString()).toBe('./two.txt\n');
});

test('FILE-14 the archive counts and names what it leaves out', async ({ sandbox }) => {
  const top = join(sandbox.directory, 'top');
  mkdirSync(join(top, 'a'), { recursive: true });
  Bun.spawnSync(['mkfifo', join(top, 'a/pipe')]);
  const listener = createServer().listen(join(top, 'socket'));
  writeFileSync(join(top, 'program'), 'x');
  chmodSync(join(top, 'program'), 0o4755);
  const whole = await get(sandbox, top);
  listener.close();
  const script =
    'import sys,tarfile\nwith tarfile.open(sys.argv[1]) as t:\n print(t.getnames())\n print(t.pax_headers["SVC.skipped"])';
  const file = join(sandbox.directory, 'whole.tar');
  writeFileSync(file, whole);
  const left = ['3', './program loses its set-ID bits', './socket is a socket', './a/pipe is a pipe'];
  const python = Bun.spawnSync(['python3', '-c', script, file]);
  expect(python.stdout.toString().trim().split('\n').toSorted()).toEqual(
    ["['.', './a', './program', '.']", ...left].toSorted(),
  );
  const listed = Bun.spawnSync(['tar', '-tf', file]);
  expect([listed.exitCode, listed.stderr.toString()]).toEqual([0, '']);
  const out = join(sandbox.directory, 'out');
  expect((await put(sandbox, out, whole)).status).toBe(200);
  expect(readdirSync(out).toSorted()).toEqual(['a', 'program']);
  for (let number = 0; number < 1100; number++) Bun.spawnSync(['mkfifo', join(top, `pipe${number}`)]);
  const record = /SVC\.skipped=(\d+)\n([^]*?)\n\0/.exec((await get(sandbox, top)).toString('latin1'));
  expect([record?.[1], record?.[2]?.split('\n').length]).toEqual(['1102', 1000]);
});

test(
  'IDENT-3 all unpacked files belong to the named account, whatever owner the archive names',
  async ({ sandbox }) => {
    const { uid, gid, name } = testAccount;
    const entries = [
      { name: 'a/b/file', content: 'x' },
      { name: 'a/link', flag: '2', target: 'b' },
      { name: 'a/again', flag: '1', target: 'a/b/file' },
    ];
    const out = join(sandbox.directory, 'new/out');
    await put(sandbox, out, archive(entries), {}, `&user=${name}`);
    for (const path of ['..', '', 'a', 'a/b', 'a/b/file', 'a/link', 'a/again']) {
      const stat = lstatSync(join(out, path));
      expect([path, stat.uid, stat.gid]).toEqual([path, uid, gid]);
    }
  },
  withTestAccount(),
);

test('FILE-15 an archive is merged into an existing directory: other files stay, equal names are replaced', async ({
  sandbox,
}) => {
  const out = join(sandbox.directory, 'out');
  mkdirSync(join(out, 'kept'), { recursive: true });
  chmodSync(join(out, 'kept'), 0o700);
  writeFileSync(join(out, 'kept/mine'), 'mine');
  writeFileSync(join(out, 'kept/file'), 'old');
  writeFileSync(join(sandbox.directory, 'victim'), 'mine');
  symlinkSync('../victim', join(out, 'link'));
  const { body } = await put(
    sandbox,
    out,
    archive([
      { name: './', flag: '5', mode: 0o777 },
      { name: 'kept/', flag: '5', mode: 0o777 },
      { name: 'kept/file', content: 'new' },
      { name: 'kept/new/file', content: 'new' },
      { name: 'link', content: 'no link any more' },
    ]),
  );
  expect(body.data).toEqual({ path: out, mode: 'merge', entries: 4, bytes: 22 });
  expect(readFileSync(join(out, 'kept/mine'), 'utf8')).toBe('mine');
  expect(readFileSync(join(out, 'kept/file'), 'utf8')).toBe('new');
  expect(readFileSync(join(out, 'kept/new/file'), 'utf8')).toBe('new');
  expect(statSync(join(out, 'kept')).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(out, 'link'), 'utf8')).toBe('no link any more');
  expect(readFileSync(join(sandbox.directory, 'victim'), 'utf8')).toBe('mine');
  expect([partsIn(out), partsIn(sandbox.directory), notesOf(sandbox)]).toEqual([[], [], []]);
});

const file = { name: 'a/file', content: 'x' };

test('FERR-1 bad GET /v2/fs/tree requests get their exact answers', async ({ sandbox }) => {
  for (const [path, status, errno] of [
    [join(sandbox.directory, 'absent'), 404, 'ENOENT'],
    ['/dev/null', 400, 'EINVAL'],
    ['/etc/passwd/x', 400, 'ENOTDIR'],
  ] as const) {
    const { status: got, body } = await sandbox.request(`GET /v2/fs/tree?${query(path)}`);
    expect([path, got, body.data['errno_name'], body.data['operation']]).toEqual([path, status, errno, 'tree']);
  }
  const glob = await sandbox.request(`GET /v2/fs/tree?path=/tmp&exclude=${encodeURIComponent('[a')}`);
  expect([glob.status, glob.body.message]).toEqual([400, 'exclude "[a" is not a glob: it has a [ without a ]']);
  const format = await sandbox.request('GET /v2/fs/tree?path=/tmp&format=zip');
  expect([format.status, format.body.errors?.[0]?.type]).toEqual([422, 'enum']);
});

test('PROMISE-5 a client that disconnects during an archive leaves nothing', async ({ sandbox }) => {
  const out = join(sandbox.directory, 'out');
  const { hostname, port } = new URL(sandbox.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined); // The daemon may close the connection during the write.
  socket.write(`PUT /v2/fs/tree?${query(out)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n`);
  socket.write(archive([file, { name: 'more', content: Buffer.alloc(300_000) }]).subarray(0, 200_000));
  await until('the tree is being made', () => partsIn(sandbox.directory).length === 1);
  expect(statSync(join(sandbox.directory, partsIn(sandbox.directory)[0] ?? '')).mode & 0o777).toBe(0o700);
  socket.destroy();
  await until('it is gone', () => partsIn(sandbox.directory).length === 0 && notesOf(sandbox).length === 0);
  expect(existsSync(out)).toBe(false);
});

test(
  'PROMISE-5 a tree that a crashed daemon left half-made is removed by the next one',
  async ({ sandbox }) => {
    const { hostname, port } = new URL(sandbox.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // The daemon crashes.
    const target = `/v2/fs/tree?${query(join(sandbox.directory, 'out'))}`;
    socket.write(`PUT ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n`);
    socket.write(archive([file, { name: 'more', content: Buffer.alloc(300_000) }]).subarray(0, 200_000));
    await until('the tree is being made', () => partsIn(sandbox.directory).length === 1);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    socket.destroy();
    await until('it is cleared', () => partsIn(sandbox.directory).length === 0);
  },
  { expectedWarnings: ['started again by init'] },
);

test(
  'PROMISE-5 an archive that fills the disk answers 507, and existing files are whole',
  async ({ sandbox }) => {
    const out = join(sandbox.runtimeDirectory, 'out');
    mkdirSync(insideRuntime(sandbox, 'out'));
    writeFileSync(insideRuntime(sandbox, 'out/file'), 'old');
    for (const size of [2_000_000, 30_000]) {
      const entries = Array.from({ length: Math.ceil(2_000_000 / size) }, (_, i) => ({
        name: `f${i}`,
        content: Buffer.alloc(size, 'x'),
      }));
      const { status, body } = await put(sandbox, out, archive([{ name: 'file', content: 'new' }, ...entries]));
      expect([status, body.data['errno_name'], body.data['error_type']]).toEqual([507, 'ENOSPC', 'no_space_left']);
      expect(readdirSync(insideRuntime(sandbox, 'out'))).toEqual(['file']);
      expect(readFileSync(insideRuntime(sandbox, 'out/file'), 'utf8')).toBe('old');
      expect(partsIn(insideRuntime(sandbox))).toEqual([]);
    }
  },
  onSmallDisk(),
);

test('FILE-14 a file that changes its size during the transfer has the size of its header', async ({ sandbox }) => {
  const top = join(sandbox.directory, 'top');
  mkdirSync(top);
  writeFileSync(join(top, 'a'), Buffer.alloc(64 * 1024 * 1024, 'a'));
  writeFileSync(join(top, 'b'), 'behind it');
  const response = await sandbox.fetch(`GET /v2/fs/tree?${query(top)}`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const pieces = [(await reader.read()).value ?? new Uint8Array()];
  writeFileSync(join(top, 'a'), 'short');
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  const packed = tar(['-tvf', '-'], Buffer.concat(pieces)).toString();
  expect(packed).toContain(' 67108864 ');
  expect(packed).toContain('./b');
});

const segment = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'ü', ' ', '-x', '.hidden', 'n'.repeat(120)),
  fc.uint8Array({ minLength: 1, maxLength: 12 }).filter((bytes) => {
    const name = Buffer.from(bytes);
    return !name.includes(0) && !name.includes(0x2f) && !['.', '..'].includes(name.toString('latin1'));
  }),
);
const node = fc.record({
  path: fc.array(segment, { minLength: 1, maxLength: 4 }),
  kind: fc.constantFrom('file', 'directory', 'link'),
  content: fc.oneof(fc.uint8Array({ maxLength: 2000 }), fc.constantFrom(new Uint8Array(70_000), new Uint8Array(512))),
  mode: fc.integer({ min: 0, max: 0o777 }),
  seconds: fc.integer({ min: 0, max: 4_000_000_000 }),
});

test('FILE-14 FILE-15 random trees round-trip unchanged', async ({ sandbox }) => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(node, { maxLength: 20 }), async (nodes) => {
      const base = join(sandbox.directory, `run-${run++}`);
      const top = join(base, 'top');
      mkdirSync(top, { recursive: true });
      for (const { path, kind, content, mode, seconds } of nodes) plant(top, path, { kind, content, mode, seconds });
      const { status, body } = await put(sandbox, join(base, 'out'), await get(sandbox, top));
      expect([status, body.message]).toEqual([200, 'Operation successful']);
      expect(listing(join(base, 'out'))).toEqual(listing(top));
      rmSync(base, { recursive: true });
    }),
    { numRuns: 60 },
  );
  showFigures({ archives: run });
});

interface Planted {
  readonly kind: string;
  readonly content: Uint8Array;
  readonly mode: number;
  readonly seconds: number;
}

/** A name that is already taken is skipped. */
function plant(top: string, path: readonly (string | Uint8Array)[], { kind, content, mode, seconds }: Planted): void {
  let at = Buffer.from(top);
  for (const [i, name] of path.entries()) {
    at = Buffer.concat([at, Buffer.from('/'), Buffer.from(name as Uint8Array)]);
    const isLast = i === path.length - 1;
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found && (isLast || !found.isDirectory())) return;
    if (!isLast && !found) mkdirSync(at);
  }
  if (kind === 'link') return symlinkSync('somewhere/below', at);
  if (kind === 'directory') mkdirSync(at);
  else writeFileSync(at, content);
  utimesSync(at, seconds, seconds);
  chmodSync(at, mode);
}

test('FILE-15 a corrupted archive is refused or accepted whole, and never unpacked by half', async ({ sandbox }) => {
  const entries: Entry[] = [
    { name: 'd/', flag: '5', mode: 0o755 },
    { name: 'd/one', content: 'x'.repeat(700) },
    { name: 'd/link', flag: '2', target: 'one' },
    { name: 'd/two', flag: '1', target: 'd/one' },
    { name: 'e/three', content: 'three' },
  ];
  const good = Buffer.concat([pax({ path: 'd/pax name' }), archive(entries)]);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.nat(good.length),
      fc.boolean(),
      async (changes, length, isCut) => {
        const body = Buffer.from(good);
        for (const [at, byte] of changes) body[at] = byte;
        const out = join(sandbox.directory, `out-${run++}`);
        const { status, body: answer } = await put(sandbox, out, isCut ? body.subarray(0, length) : body);
        expect([200, 400]).toContain(status);
        expect(existsSync(out)).toBe(status === 200);
        if (status === 200)
          expect(Object.keys(listing(out)).length - 1).toBeGreaterThanOrEqual(answer.data['entries'] as number);
        expect(partsIn(sandbox.directory)).toEqual([]);
        rmSync(out, { recursive: true, force: true });
      },
    ),
    { numRuns: 300 },
  );
  showFigures({ archives: run });
});

test(
  'PROMISE-5 V2FS-TRICK an account’s link never leads root elsewhere on the way to a missing directory, not even for a moment',
  async ({ sandbox }) => {
    const [home, roots] = [join(sandbox.directory, 'home'), join(sandbox.directory, 'roots')];
    for (const path of [home, roots]) mkdirSync(path);
    symlinkSync(roots, join(home, 'link'));
    for (const path of [home, join(home, 'link')]) lchownSync(path, testAccount.uid, testAccount.gid);
    const before = touchesOf(roots);
    const path = join(home, 'link/missing/file');
    const answers = [
      await put(sandbox, path, archive([{ name: 'file', content: 'new' }])),
      await send(sandbox, Buffer.from('new'), 'application/octet-stream', `?${query(path)}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(touchesOf(roots)).toEqual(before);
  },
  withTestAccount(),
);

async function endProcess(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGKILL');
  await child.exited;
}

/** An account that repeatedly replaces each directory it finds by a link to a directory of root, and back. */
const swap = `
cd "$1" || exit
while :; do
  mv sub away 2>/dev/null && ln -s "$2" sub && rm sub && mv away sub
  rm -rf sub/file sub/new 2>/dev/null; ln -s "$2/victim" sub/file 2>/dev/null; rm -f sub/file
done`;

test(
  'PROMISE-5 an account that swaps directories for links while root unpacks and uploads there changes nothing elsewhere',
  async ({ sandbox }) => {
    const [out, roots] = [join(sandbox.directory, 'out'), join(sandbox.directory, 'roots')];
    for (const path of [out, join(out, 'sub'), roots]) mkdirSync(path);
    for (const path of [out, join(out, 'sub')]) chownSync(path, testAccount.uid, testAccount.gid);
    writeFileSync(join(roots, 'victim'), 'of root');
    chmodSync(sandbox.directory, 0o755);
    const hostile = Bun.spawn(
      [
        'setpriv',
        `--reuid=${testAccount.uid}`,
        `--regid=${testAccount.gid}`,
        '--clear-groups',
        'sh',
        '-c',
        swap,
        'sh',
        out,
        roots,
      ],
      {
        stdout: 'ignore',
        stderr: 'ignore',
      },
    );
    await using _ = { [Symbol.asyncDispose]: () => endProcess(hostile) };
    const before = touchesOf(roots);
    const body = archive([
      { name: 'sub/file', content: 'new' },
      { name: 'sub/new/file', content: 'new' },
    ]);
    const statuses = new Set<number>();
    for (let round = 0; round < 300; round++) {
      statuses.add((await put(sandbox, out, body, {}, `&user=${testAccount.name}`)).status);
      const path = `?${query(join(out, 'sub/file'))}&user=${testAccount.name}`;
      statuses.add((await send(sandbox, Buffer.from('new'), 'application/octet-stream', path)).status);
      expect(touchesOf(roots)).toEqual(before);
    }
    expect(statuses.has(200)).toBe(true);
    expect([...statuses].filter((status) => ![200, 400, 403, 404, 409].includes(status))).toEqual([]);
  },
  withTestAccount(),
);
