/** Reading, writing and describing single files, and creating directories. */
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
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { accessList, accessListFor, attributeOf, setAttribute } from '../harness/attributes.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount, testAccount, withTestAccount } from '../harness/test-account.ts';

type Query = Readonly<Record<string, string>>;

const write = (sandbox: Sandbox, body: object, query = '') => sandbox.ok(`POST /v2/fs/write${query}`, body);
const read = (sandbox: Sandbox, query: Query) => sandbox.ok(`GET /v2/fs/read?${new URLSearchParams(query).toString()}`);
const stat = (sandbox: Sandbox, query: Query) => sandbox.ok(`GET /v2/fs/stat?${new URLSearchParams(query).toString()}`);
const digest = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const hidden = (directory: string): string[] => readdirSync(directory).filter((name) => name.startsWith('.svc-write-'));

test('FILE-1 a file is read as text, whole or as a line range', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'lines');
  writeFileSync(path, 'one\r\ntwo\nthr\u00e9e');
  const whole = await read(sandbox, { path });
  expect(whole).toMatchObject({ path, file: path, content: 'one\r\ntwo\nthr\u00e9e', line_count: 3, size: 15 });
  expect(whole['etag']).toMatch(/^".+"$/);

  const lines = async (start: string, end: string) =>
    (await read(sandbox, { path, start_line: start, end_line: end }))['content'] as string;
  expect(await lines('0', '1')).toBe('one\r\n');
  expect(await lines('1', '2')).toBe('two\n');
  expect(await lines('1', '99')).toBe('two\nthr\u00e9e');
  expect(await lines('3', '9')).toBe('');
  expect(await lines('2', '1')).toBe('');

  writeFileSync(path, '');
  expect(await read(sandbox, { path })).toMatchObject({ content: '', line_count: 0, size: 0 });
  writeFileSync(path, Buffer.of(0, 255, 10));
  expect(await read(sandbox, { path, encoding: 'base64' })).toMatchObject({
    content: 'AP8K',
    line_count: null,
    size: 3,
  });
  writeFileSync(path, '\ufeffmark');
  expect(await read(sandbox, { path })).toMatchObject({ content: '\ufeffmark' });
});

test('V2FS-READPART max_bytes cuts after whole lines or characters, and next_offset resumes', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'long');
  const parts = async (query: Query): Promise<string[]> => {
    const contents: string[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const at = offset === 0 ? {} : { offset: String(offset) };
      const part: JsonObject = await read(sandbox, { path, ...query, ...at });
      expect(part['truncated']).toBe(part['next_offset'] !== null);
      contents.push(part['content']);
      offset = part['next_offset'];
    }
    return contents;
  };
  writeFileSync(path, 'one\ntwo\nthree and \u00e9\u00e9\u00e9\n\u{1f600}\u{1f600}');
  expect(await parts({ max_bytes: '9' })).toEqual([
    'one\ntwo\n',
    'three and',
    ' \u00e9\u00e9\u00e9\n',
    '\u{1f600}\u{1f600}',
  ]);
  expect(await parts({ max_bytes: '5' })).toHaveLength(8);
  expect((await parts({ max_bytes: '5' })).join('')).toBe(readFileSync(path, 'utf8'));
  expect(await parts({ max_bytes: '9', end_line: '2' })).toEqual(['one\ntwo\n']);
  const lines = { path, start_line: '1', end_line: '3', max_bytes: '4' };
  expect(await read(sandbox, lines)).toMatchObject({
    content: 'two\n',
    line_count: 4,
    truncated: true,
    next_offset: 8,
  });
  expect(await parts({})).toHaveLength(1);
  expect(
    (await parts({ max_bytes: '4', encoding: 'base64' })).map((text) => Buffer.from(text, 'base64').length),
  ).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 1]);
  const kernel = { path: '/proc/self/status', max_bytes: '5' };
  expect(await read(sandbox, kernel)).toMatchObject({ content: 'Name:', next_offset: 5 });
  expect(await read(sandbox, { ...kernel, encoding: 'base64' })).toMatchObject({
    content: btoa('Name:'),
    next_offset: 5,
  });
  const accented = join(sandbox.directory, 'accented.txt');
  writeFileSync(accented, 'é');
  const within = await sandbox.request(`GET /v2/fs/read?path=${accented}&offset=1`);
  expect([within.status, within.body.message]).toEqual([400, 'the offset 1 is within a character']);
  expect(await read(sandbox, { path, offset: '1000' })).toMatchObject({ content: '', truncated: false });

  const wide = '\ufeffa\u{1f600}\u{1f600}\nb\n';
  writeFileSync(path, Buffer.from(wide, 'utf16le'));
  for (const max of ['4', '5', '6', '7', '8', '12']) expect((await parts({ max_bytes: max })).join('')).toBe(wide);

  writeFileSync(path, 'line\n'.repeat(4_000_000));
  const first = await read(sandbox, { path, max_bytes: '99' });
  expect(first).toMatchObject({
    content: 'line\n'.repeat(19),
    size: 20_000_000,
    line_count: 4_000_000,
    next_offset: 95,
  });

  const { body } = await sandbox.request(`GET /v2/fs/read?path=${path}&max_bytes=99`);
  expect(body.hint).toBe('The same call with offset=95 in place of start_line reads on.');
  const both = await sandbox.request(`GET /v2/fs/read?path=${path}&start_line=1&offset=2`);
  expect(both).toMatchObject({ status: 400, body: { message: 'start_line and offset exclude each other' } });
});

test('FILE-1 FACT-2 any file of the machine is readable, also kernel files of reported size zero', async ({
  sandbox,
}) => {
  expect((await read(sandbox, { path: '/proc/self/comm' }))['size']).toBeGreaterThan(0);
  const { pid } = (await sandbox.ok('GET /v2/sandbox')) as { pid: number };
  expect(await read(sandbox, { path: `/proc/${pid}/limits` })).toMatchObject({ line_count: 17 });
});

test('FILE-2 FILE-16 a write stores the content, reports size and digest, and creates the parents', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'new/parents/file');
  const answer = await write(sandbox, { path, content: 'caf\u00e9\n' });
  expect(answer).toEqual({
    file: path,
    path,
    bytes_written: 6,
    size: 6,
    sha256: digest('caf\u00e9\n'),
    etag: (await read(sandbox, { path }))['etag'],
  });
  expect(readFileSync(path, 'utf8')).toBe('caf\u00e9\n');

  const appended = await write(sandbox, { path, content: 'more', append: true });
  expect(appended).toMatchObject({ bytes_written: 4, size: 10, sha256: digest('caf\u00e9\nmore') });
  await write(sandbox, { path: join(sandbox.directory, 'fresh'), content: 'x', append: true });
  expect(readFileSync(join(sandbox.directory, 'fresh'), 'utf8')).toBe('x');
  expect(hidden(join(sandbox.directory, 'new/parents'))).toEqual([]);
});

test('FILE-2 V2FS-ENCODING a write takes text with newlines around it, base64 and raw bytes', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'file');
  const written = async (body: object) => {
    await write(sandbox, { path, ...body });
    return [...readFileSync(path)];
  };
  expect(await written({ content: 'a', leading_newline: true, trailing_newline: true })).toEqual([10, 97, 10]);
  expect(await written({ content: 'AP8K', encoding: 'base64' })).toEqual([0, 255, 10]);
  expect(await written({ content: 'AP8K\nAP8K', encoding: 'base64' })).toEqual([0, 255, 10, 0, 255, 10]);
  expect(await written({ content: '\u0000\u00ff\u0080', encoding: 'raw' })).toEqual([0, 255, 128]);
  expect(await written({ content: '' })).toEqual([]);
});

test('FILE-2 V2FS-IFMATCH if_match writes only over the version the client read, and of many such writers one wins', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'file');
  const { etag } = await write(sandbox, { path, content: 'first' });
  const writers = Array.from({ length: 20 }, (_, n) => `writer ${n}`);
  const answers = await Promise.all(
    writers.map((content) => sandbox.request('POST /v2/fs/write', { path, content, if_match: etag })),
  );
  const won = writers.filter((_, n) => answers[n]?.status === 200);

  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...writers.slice(1).map(() => 409)]);
  expect(readFileSync(path, 'utf8')).toBe(won[0] ?? '');
  const late = await sandbox.request('POST /v2/fs/write', { path, content: 'x', if_match: etag as string });
  expect(late).toMatchObject({
    status: 409,
    body: {
      message: `${path}: has changed since it had ${etag}`,
      data: { etag: (await read(sandbox, { path }))['etag'] },
      hint: 'Read the file again, and send the change with the new etag.',
    },
  });
  writeFileSync(path, 'changed elsewhere');
  const current = (await stat(sandbox, { path }))['etag'];
  await write(sandbox, { path, content: 'y', if_match: current });
  const absent = { path: join(sandbox.directory, 'absent'), content: '', if_match: '*' };
  expect((await sandbox.request('POST /v2/fs/write', absent)).status).toBe(409);
  expect(existsSync(absent.path)).toBe(false);
});

test('FILE-2 200 concurrent appends lose nothing, whatever link they go through', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'log');
  symlinkSync('log', join(sandbox.directory, 'link'));
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}\n`);
  await Promise.all(
    lines.map((content, n) =>
      write(sandbox, { path: n % 2 ? path : join(sandbox.directory, 'link'), content, append: true }),
    ),
  );
  expect(readFileSync(path, 'utf8').match(/.*\n/g)?.toSorted()).toEqual(lines.toSorted());
});

test('FILE-2 V2FS-CARRIED a replaced file keeps its mode, owner, attributes and access lists', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'file');
  await write(sandbox, { path, content: 'x', mode: '0640' });
  expect(statSync(path).mode & 0o7777).toBe(0o640);
  chmodSync(path, 0o4751);
  chownSync(path, 4711, 4712);
  chmodSync(path, 0o4751);
  const list = accessListFor(4713, 0o751, 6);
  setAttribute(path, accessList, list);
  setAttribute(path, 'user.note', Buffer.from('kept'));
  await write(sandbox, { path, content: 'new' });

  const { uid, gid, mode } = statSync(path);
  expect([uid, gid, (mode & 0o7777).toString(8)]).toEqual([4711, 4712, '4771']);
  expect(attributeOf(path, 'user.note')?.toString()).toBe('kept');
  expect(attributeOf(path, accessList)?.equals(list)).toBe(true);
  await write(sandbox, { path, content: 'newer', mode: '600' });
  expect(statSync(path).mode & 0o7777).toBe(0o600);
});

test('FILE-2 V2FS-THROUGH a write follows links, also chains of links and links to missing files', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  mkdirSync(at('elsewhere'));
  writeFileSync(at('elsewhere/file'), 'old');
  symlinkSync('elsewhere/file', at('one'));
  symlinkSync(at('one'), at('two'));
  symlinkSync('elsewhere/new', at('dangling'));

  expect(await write(sandbox, { path: at('two'), content: 'new' })).toMatchObject({ path: at('two') });
  await write(sandbox, { path: at('dangling'), content: 'made' });
  expect([readlinkSync(at('two')), readlinkSync(at('dangling'))]).toEqual([at('one'), 'elsewhere/new']);
  expect(readFileSync(at('elsewhere/file'), 'utf8')).toBe('new');
  expect(readFileSync(at('elsewhere/new'), 'utf8')).toBe('made');
});

test('FILE-2 another hard link of a replaced file keeps the old content', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('a'), 'old');
  linkSync(at('a'), at('b'));
  await write(sandbox, { path: at('a'), content: 'new' });
  expect([readFileSync(at('a'), 'utf8'), readFileSync(at('b'), 'utf8')]).toEqual(['new', 'old']);
});

const bindHosts = 'echo old > hosts && echo "" > mounted && mount --bind hosts mounted && exec "$@"';
test(
  'FILE-2 a file that is a mount point is written in place',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'mounted');
    await write(sandbox, { path, content: 'a longer content\n' });
    expect(readFileSync(join(sandbox.directory, 'hosts'), 'utf8')).toBe('a longer content\n');
    await write(sandbox, { path, content: 'more\n', append: true });
    expect(await write(sandbox, { path, content: 'x' })).toMatchObject({ size: 1, sha256: digest('x') });
    expect(readFileSync(join(sandbox.directory, 'hosts'), 'utf8')).toBe('x');
    expect(hidden(sandbox.directory)).toEqual([]);
  },
  { launcher: ['unshare', '--mount', 'sh', '-c', bindHosts, 'sh'] },
);

test(
  'FILE-2 a writable file in a read-only directory is written in place',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'closed/file');
    await write(sandbox, { path, content: 'new' });
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).uid).toBe(0);
  },
  asTestAccount({
    prepare({ directory }) {
      mkdirSync(join(directory, 'closed'));
      writeFileSync(join(directory, 'closed/file'), 'a longer old content');
      chmodSync(join(directory, 'closed/file'), 0o666);
    },
  }),
);

test('FILE-2 kernel settings are written in place', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'sleep 100' });
  const { pid } = (await sandbox.ok(`GET /v2/commands/${id}`))['command'] as { pid: number };
  await write(sandbox, { path: `/proc/${pid}/oom_score_adj`, content: '500\n' });
  expect((await read(sandbox, { path: `/proc/${pid}/oom_score_adj` }))['content']).toBe('500\n');
  await sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' });
});

test('V2FS-CREATE a write with if_none_match or If-None-Match creates the file and never replaces one', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'new/file');
  const body = { path, if_none_match: '*' };
  expect(await write(sandbox, { ...body, content: 'first' })).toMatchObject({ path, size: 5 });
  for (const [extra, headers] of [
    [{ if_none_match: '*' }, {}],
    [{}, { 'if-none-match': '*' }],
    [{ if_none_match: '*', append: true }, {}],
  ] as const) {
    const answer = await sandbox.request('POST /v2/fs/write', { path, content: 'second', ...extra }, headers);
    expect(answer).toMatchObject({ status: 409, body: { data: { code: 'file_exists', errno_name: 'EEXIST', path } } });
  }
  expect(readFileSync(path, 'utf8')).toBe('first');

  symlinkSync('target', join(sandbox.directory, 'link'));
  await write(sandbox, { ...body, path: join(sandbox.directory, 'link'), content: 'through' });
  expect(readFileSync(join(sandbox.directory, 'target'), 'utf8')).toBe('through');

  const value = await sandbox.request('POST /v2/fs/write', { path, content: '', if_none_match: '"etag"' });
  expect(value).toMatchObject({ status: 422, body: { errors: [{ location: 'body.if_none_match' }] } });
  const header = await sandbox.request('POST /v2/fs/write', { path, content: '' }, { 'if-none-match': '"etag"' });
  expect(header).toMatchObject({
    status: 422,
    body: { errors: [{ location: 'header.if-none-match', message: 'must be *', type: 'enum' }] },
  });
});

test('V2FS-CREATE of two writers at once that create a file, exactly one succeeds', async ({ sandbox }) => {
  for (let round = 0; round < 20; round++) {
    const path = join(sandbox.directory, `race-${round}`);
    const writers = Array.from({ length: 8 }, (_, i) =>
      sandbox.request('POST /v2/fs/write', { path, content: `writer ${i}`, if_none_match: '*' }),
    );
    // Another process creates the file with O_EXCL.
    const { exit_code: code } = await sandbox.run({ command: `set -C; printf shell > ${path}`, shell: 'bash' });
    const answers = await Promise.all(writers);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(code === 0 ? 0 : 1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(code === 0 ? 8 : 7);
    expect(readFileSync(path, 'utf8')).toBe(code === 0 ? 'shell' : `writer ${winner}`);
  }
  expect(hidden(sandbox.directory)).toEqual([]);
});

test('FILE-4 stat resolves the links of a path, also where its end is missing', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  const real = realpathSync(sandbox.directory);
  mkdirSync(at('directory'));
  writeFileSync(at('directory/file'), '');
  symlinkSync('directory', at('way'));
  symlinkSync('way/file', at('link'));
  symlinkSync('way/absent/end', at('dangling'));
  symlinkSync('round', at('round'));
  const realPath = async (path: string, follow = 'true') => {
    const query = new URLSearchParams({ path, follow_symlinks: follow }).toString();
    const { status, body } = await sandbox.request(`GET /v2/fs/stat?${query}`);
    return [status, body.data['real_path']];
  };

  expect(await realPath(at('link'))).toEqual([200, `${real}/directory/file`]);
  expect(await realPath(at('link'), 'false')).toEqual([200, `${real}/directory/file`]);
  expect(await realPath(at('way/more/parts'))).toEqual([404, `${real}/directory/more/parts`]);
  expect(await realPath(at('dangling'))).toEqual([404, `${real}/directory/absent/end`]);
  expect(await realPath(at('dangling'), 'false')).toEqual([200, `${real}/directory/absent/end`]);
  expect(await realPath(at('round'), 'false')).toEqual([200, null]);
  expect(await realPath('/')).toEqual([200, '/']);
});

test('FILE-4 stat describes the target of a path, or the link itself on request', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('page.html'), 'content');
  chmodSync(at('page.html'), 0o640);
  symlinkSync('page.html', at('link'));
  const { ino, mode, mtime } = statSync(at('page.html'));

  const described = await stat(sandbox, { path: at('link') });
  expect(described).toMatchObject({
    path: at('link'),
    size: 7,
    permissions: '640',
    is_directory: false,
    is_symlink: true,
    modified_time: mtime.toISOString(),
    uid: 0,
    gid: 0,
    owner: 'root',
    group: 'root',
    mode,
    target: 'page.html',
    inode: ino,
  });
  expect((await stat(sandbox, { path: at('page.html') }))['mime']).toStartWith('text/html');
  const link = await stat(sandbox, { path: at('link'), follow_symlinks: 'false' });
  expect(link).toMatchObject({ size: 9, inode: lstatSync(at('link')).ino, mime: null, target: 'page.html' });
  symlinkSync('nowhere', at('dangling'));
  expect(await stat(sandbox, { path: at('dangling'), follow_symlinks: 'false' })).toMatchObject({ target: 'nowhere' });
  expect(await stat(sandbox, { path: '/' })).toMatchObject({ path: '/', is_directory: true, mime: null });
});

test('FILE-4 stat reads the content of a file for its SHA-256, where it is asked to', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  const asked = async (path: string, more: Query = {}) => {
    const query = new URLSearchParams({ path, sha256: 'true', ...more }).toString();
    const { status, body } = await sandbox.request(`GET /v2/fs/stat?${query}`);
    return [status, body.data['sha256'] ?? body.data['code'], body.data['size']];
  };
  const content = randomBytes(3_000_000);
  writeFileSync(at('large'), content);
  writeFileSync(at('empty'), '');
  symlinkSync('large', at('link'));
  expect(await asked(at('large'))).toEqual([200, digest(content), content.length]);
  expect(await asked(at('link'))).toEqual([200, digest(content), content.length]);
  expect(await asked(at('empty'))).toEqual([200, digest(''), 0]);
  const sizeless = readFileSync('/proc/filesystems');
  expect(await asked('/proc/filesystems')).toEqual([200, digest(sizeless), sizeless.length]);
  expect(await asked(at('link'), { follow_symlinks: 'false' })).toEqual([400, 'bad_argument', undefined]);
  expect(await asked(sandbox.directory)).toEqual([400, 'file_invalid_target', undefined]);
  expect(await stat(sandbox, { path: at('large') })).not.toHaveProperty('sha256');
});

test('FILE-8 mkdir creates one directory, or all missing ones', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  expect(await sandbox.ok('POST /v2/fs/mkdir', { path: at('a') })).toEqual({ path: at('a'), created: true });
  const again = await sandbox.request('POST /v2/fs/mkdir', { path: at('a') });
  expect(again).toMatchObject({
    status: 409,
    body: {
      message: `${at('a')}: File exists`,
      hint: 'Set parents to true to accept an existing directory.',
      data: { error_type: 'already_exists', exception_type: 'FileExistsError', operation: 'mkdir' },
    },
  });
  const parents = { path: at('a/b/c'), parents: true };
  expect(await sandbox.ok('POST /v2/fs/mkdir', parents)).toEqual({ path: at('a/b/c'), created: true });
  expect(await sandbox.ok('POST /v2/fs/mkdir', parents)).toEqual({ path: at('a/b/c'), created: false });
  expect(await sandbox.ok('POST /v2/fs/mkdir', { path: '/', parents: true })).toEqual({ path: '/', created: false });
  writeFileSync(at('file'), '');
  expect((await sandbox.request('POST /v2/fs/mkdir', { path: at('file'), parents: true })).status).toBe(409);

  const made = await Promise.all(
    Array.from({ length: 20 }, () => sandbox.ok('POST /v2/fs/mkdir', { path: at('x/y/z'), parents: true })),
  );
  expect(made.filter(({ created }) => created).length).toBe(1);
});

test(
  'IDENT-3 IDENT-4 the account owns created files, parents included, and existing files keep their owner',
  async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, name);
    const query = `?user=${testAccount.name}`;
    const ownerOf = (name: string) => [lstatSync(at(name)).uid, lstatSync(at(name)).gid];
    const theirs = [testAccount.uid, testAccount.gid];
    mkdirSync(at('ours'));
    writeFileSync(at('ours/file'), '');
    symlinkSync('file', at('ours/link'));
    mkdirSync(at('setgid'));
    chownSync(at('setgid'), 0, 4712);
    chmodSync(at('setgid'), 0o2775);

    await write(sandbox, { path: at('ours/a/b/new'), content: '' }, query);
    await write(sandbox, { path: at('ours/file'), content: 'new' }, query);
    await sandbox.ok(`POST /v2/fs/mkdir${query}`, { path: at('setgid/a/b'), parents: true });
    await write(sandbox, { path: at('setgid/a/file'), content: '' }, query);
    await sandbox.ok(`POST /v2/fs/copy${query}`, { path: at('ours'), destination: at('copied/tree') });
    await sandbox.ok(`POST /v2/fs/move${query}`, { path: at('ours/file'), destination: at('moved/file') });

    for (const name of ['ours/a', 'ours/a/b', 'ours/a/b/new', 'copied', 'copied/tree', 'moved']) {
      expect([name, ...ownerOf(name)]).toEqual([name, ...theirs]);
    }
    for (const name of ['copied/tree/file', 'copied/tree/link', 'copied/tree/a/b/new']) {
      expect([name, ...ownerOf(name)]).toEqual([name, ...theirs]);
    }
    for (const name of ['ours', 'moved/file']) expect([name, ...ownerOf(name)]).toEqual([name, 0, 0]);
    for (const name of ['setgid/a', 'setgid/a/b', 'setgid/a/file']) {
      expect([name, ...ownerOf(name)]).toEqual([name, testAccount.uid, 4712]);
    }
    await write(sandbox, { path: '~/at-home', content: '' }, query);
    expect(ownerOf('at-home')).toEqual(theirs);
  },
  withTestAccount({ env: { SVC_DEFAULT_USER: 'root' } }),
);

test('V2FS-TRICK a link of another account leads a root daemon only to files that this account could change itself', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  for (const name of ['home', 'ours', 'open']) mkdirSync(at(name));
  chmodSync(at('open'), 0o1777);
  for (const name of ['home/file', 'open/theirs']) {
    writeFileSync(at(name), 'old');
    chownSync(at(name), testAccount.uid, testAccount.gid);
  }
  for (const name of ['ours/file', 'ours/secret', 'open/ours']) writeFileSync(at(name), 'old');
  chmodSync(at('ours/secret'), 0o600);
  chownSync(at('home'), testAccount.uid, testAccount.gid);
  const link = (target: string, name: string, uid: number = testAccount.uid) => {
    symlinkSync(target, at(name));
    lchownSync(at(name), uid, uid);
  };
  link('../ours', 'home/way');
  link('../ours', 'home/rooted', 0);
  link('../open', 'home/open');
  link('file', 'home/own');
  link('../ours/file', 'home/last');
  link('../ours/secret', 'home/secret');
  const status = async (verb: string, body: object) => (await sandbox.request(`POST /v2/fs/${verb}`, body)).status;
  const writeTo = (name: string) => status('write', { path: at(name), content: 'new' });

  const refused = await sandbox.request('POST /v2/fs/write', { path: at('home/way/file'), content: 'new' });
  expect(refused).toMatchObject({
    status: 403,
    body: {
      message: `${at('home/way/file')}: a link of uid ${testAccount.uid} leads there, and that account may not change it`,
      hint: 'Pass the path of the target, without that link.',
      data: { errno_name: 'EACCES', error_type: 'permission_denied', path: at('home/way/file') },
    },
  });
  for (const name of ['home/last', 'home/way/new', 'home/way/a/b', 'home/open/ours']) {
    expect([name, await writeTo(name)]).toEqual([name, 403]);
  }
  for (const name of ['home/own', 'home/open/new', 'home/open/theirs', 'home/rooted/file']) {
    expect([name, await writeTo(name)]).toEqual([name, 200]);
  }
  expect(await status('mkdir', { path: at('home/way/a/b'), parents: true })).toBe(403);
  expect(await status('delete', { path: at('home/way/secret') })).toBe(403);
  expect(await status('move', { source: at('home/way/secret'), destination: at('home/moved') })).toBe(403);
  expect(await status('copy', { source: at('home/file'), destination: at('home/way/copy') })).toBe(403);
  expect(await status('copy', { source: at('home/secret'), destination: at('home/copy') })).toBe(403);
  expect(await status('copy', { source: at('home/last'), destination: at('home/copy') })).toBe(200);
  expect(await status('delete', { path: at('home/way') })).toBe(200); // The link itself is not followed.
  expect(readdirSync(at('ours')).toSorted()).toEqual(['file', 'secret']);
  expect(readFileSync(at('ours/secret'), 'utf8')).toBe('old');
});

test('FILE-16 names that are not UTF-8 are percent-encoded in a query, and in a file URL in a body', async ({
  sandbox,
}) => {
  const url = `file://${sandbox.directory}/caf%E9`;
  expect(await write(sandbox, { path: url, content: 'x' })).toMatchObject({ path: url });
  const names = readdirSync(sandbox.directory, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
  expect(names).toContain('caf\u00e9');
  expect(await sandbox.ok(`GET /v2/fs/read?path=${sandbox.directory}/caf%E9`)).toMatchObject({
    content: 'x',
    path: url,
  });
  expect(await stat(sandbox, { path: url })).toMatchObject({ size: 1, path: url });
  await sandbox.ok('POST /v2/fs/copy', { path: url, destination: `file://${sandbox.directory}/%FF/a` });
  await sandbox.ok('POST /v2/fs/move', { path: url, destination: `file://${sandbox.directory}/%FF/b` });
  await sandbox.ok('POST /v2/fs/delete', { path: `file://${sandbox.directory}/%FF`, recursive: true });
  expect(readdirSync(sandbox.directory).toSorted()).toEqual(['runtime', 'tmp']);
});

test('FILE-16 relative paths start at the workspace, and ~ is a home directory', async ({ sandbox }) => {
  const home = (await sandbox.run({ command: 'echo ~; pwd' }))['stdout'] as string;
  const [expected] = home.split('\n');
  expect(await stat(sandbox, { path: '~' })).toMatchObject({ path: expected, is_directory: true });
  expect(await stat(sandbox, { path: '.' })).toMatchObject({ path: expected, is_directory: true });
});
