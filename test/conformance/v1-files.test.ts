/** The 1.x routes of single files: requests, answers, and failures. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inRoom, otherDisk } from '../harness/disks.ts';
import { expect, test } from '../harness/sandbox.ts';
import { asTestAccount, testAccount, withTestAccount } from '../harness/test-account.ts';
import { attempt, failed, pathPart, post, uploadForm, uploadsOf } from '../harness/v1-files.ts';

test('V1FILE-1 a file is read whole, or as a line range, counted from 0', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'lines');
  writeFileSync(file, 'one\r\ntwo\nthrée');
  expect(await post(sandbox, 'read', { file })).toEqual({ content: 'one\r\ntwo\nthrée', file, line_count: 3 });
  expect(await post(sandbox, 'read', { file, start_line: 0, end_line: 2 })).toMatchObject({ line_count: 2 });

  const lines = async (body: object) => (await post(sandbox, 'read', { file, ...body }))['content'] as string;
  expect(await lines({ start_line: 1 })).toBe('two\nthrée');
  expect(await lines({ end_line: 1 })).toBe('one\r\n');
  expect(await lines({ start_line: 1, end_line: 2 })).toBe('two\n');
  expect(await lines({ start_line: 9, end_line: 12 })).toBe('');
  expect(await lines({ start_line: 2, end_line: 1 })).toBe('');
  expect(await lines({ start_line: -1 })).toBe('thrée');
  expect(await lines({ start_line: -99, end_line: -1 })).toBe('one\r\ntwo\n');
  expect(await lines({ start_line: null, end_line: null, sudo: null })).toBe('one\r\ntwo\nthrée');
  writeFileSync(file, '');
  expect(await post(sandbox, 'read', { file })).toEqual({ content: '', file, line_count: 0 });
});

test('V1FILE-2 a write creates the file and its parents, in each encoding and with newlines around text', async ({
  sandbox,
}) => {
  const file = join(sandbox.directory, 'fresh/tree/file');
  const written = async (body: object) => {
    const answer = await post(sandbox, 'write', { file, ...body });
    expect(Object.keys(answer)).toEqual(['file', 'bytes_written']);
    return [answer['bytes_written'], ...readFileSync(file)];
  };
  expect(await written({ content: 'é' })).toEqual([2, 0xc3, 0xa9]);
  expect(await written({ content: 'b', append: true })).toEqual([1, 0xc3, 0xa9, 98]);
  expect(await written({ content: 'a', leading_newline: true, trailing_newline: true })).toEqual([3, 10, 97, 10]);
  expect(await written({ content: 'AP8K', encoding: 'base64' })).toEqual([3, 0, 255, 10]);
  expect(await written({ content: '\u0000ÿ\u0080', encoding: 'raw' })).toEqual([3, 0, 255, 128]);
  // Newlines apply to text; with bytes they are ignored.
  expect(await written({ content: 'AP8K', encoding: 'base64', trailing_newline: true })).toEqual([3, 0, 255, 10]);
  expect(await written({ content: '', encoding: null, append: null, leading_newline: null })).toEqual([0]);
  expect(readdirSync(join(sandbox.directory, 'fresh/tree'))).toEqual(['file']);
});

test('V1FILE-4 each occurrence is replaced and counted, and no match is not a failure', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'text');
  writeFileSync(file, 'one two one\n');
  expect(await post(sandbox, 'replace', { file, old_str: 'one', new_str: '$&1' })).toEqual({ file, replaced_count: 2 });
  expect(readFileSync(file, 'utf8')).toBe('$&1 two $&1\n');
  const before = statSync(file).ino;
  expect(await post(sandbox, 'replace', { file, old_str: 'three', new_str: '' })).toEqual({ file, replaced_count: 0 });
  expect(statSync(file).ino).toBe(before);
  expect(await post(sandbox, 'replace', { file, old_str: 'aa', new_str: 'b' })).toMatchObject({ replaced_count: 0 });
  writeFileSync(file, 'aaaaa');
  expect(await post(sandbox, 'replace', { file, old_str: 'aa', new_str: 'b' })).toMatchObject({ replaced_count: 2 });
  expect(readFileSync(file, 'utf8')).toBe('bba');
});

test('V1FILE-4 a text that would exceed the memory is refused, and the file stays unchanged', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'text');
  writeFileSync(file, 'a'.repeat(1_000_000));
  const data = await failed(sandbox, 'replace', { file, old_str: 'a', new_str: 'b'.repeat(10_000) });
  expect(data['message']).toContain('the text would have more than 33554432 characters');
  expect(statSync(file).size).toBe(1_000_000);
});

test('V1FILE-5 V1FILE-11 V1FILE-12 V1FILE-13 V1FILE-14 stat, mkdir, copy, move and delete answer as v2 does', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  const bodies = [
    ['stat', { path: at('file') }],
    ['mkdir', { path: at('new/directory'), parents: true }],
    ['copy', { source: at('file'), destination: at('copied') }],
    ['copy', { path: at('file'), destination: at('copied'), overwrite: true }],
    ['move', { source: at('copied'), destination: at('moved') }],
    ['delete', { path: at('moved') }],
    ['delete', { path: at('new'), recursive: true }],
  ] as const;
  writeFileSync(at('file'), 'x');
  const counts = { is_directory: false, files_copied: 1, bytes_copied: 1 };
  const answers = [];
  for (const [verb, body] of bodies) answers.push(await post(sandbox, verb, body));
  expect(answers.slice(1)).toEqual([
    { path: at('new/directory'), created: true },
    { path: at('file'), source: at('file'), destination: at('copied'), skipped: [], ...counts },
    { path: at('file'), source: at('file'), destination: at('copied'), skipped: [], ...counts },
    { path: at('copied'), source: at('copied'), destination: at('moved') },
    { path: at('moved'), deleted: true, is_directory: false },
    { path: at('new'), deleted: true, is_directory: true },
  ]);
  expect(answers[0]).toEqual(await sandbox.ok(`GET /v2/fs/stat?path=${at('file')}`));
  expect(readdirSync(sandbox.directory).toSorted()).toEqual(['file', 'runtime', 'tmp']);
});

test('V1FILE-17 file and path are one field on every route, and the 1.x name wins', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  const plant = () => {
    mkdirSync(at('tree'), { recursive: true });
    for (const name of ['a', 'tree/b', 'decoy']) writeFileSync(at(name), 'needle\n');
  };
  const rows: readonly (readonly [string, 'file' | 'path', string, object])[] = [
    ['read', 'file', 'a', {}],
    ['write', 'file', 'a', { content: 'x' }],
    ['replace', 'file', 'a', { old_str: 'needle', new_str: 'x' }],
    ['search', 'file', 'a', { regex: 'needle' }],
    ['find', 'path', 'tree', { glob: '*' }],
    ['glob', 'path', 'tree', { pattern: '*' }],
    ['grep', 'path', 'tree', { pattern: 'needle' }],
    ['list', 'path', 'tree', {}],
    ['str_replace_editor', 'path', 'a', { command: 'view' }],
    ['stat', 'path', 'a', {}],
    ['mkdir', 'path', 'fresh', {}],
    ['copy', 'path', 'a', { destination: at('copy') }],
    ['move', 'path', 'a', { destination: at('moved') }],
    ['delete', 'path', 'a', {}],
  ];
  for (const [verb, own, name, body] of rows) {
    const other = own === 'file' ? 'path' : 'file';
    for (const named of [{ [own]: at(name) }, { [other]: at(name) }, { [own]: at(name), [other]: at('absent') }]) {
      plant();
      const { success, message } = await attempt(sandbox, verb, { ...named, ...body });
      expect([verb, named, success, message]).toEqual([verb, named, true, 'Operation successful']);
      for (const made of ['fresh', 'copy', 'moved']) rmSync(at(made), { recursive: true, force: true });
    }
    const { status, body: refused } = await sandbox.request(`POST /v1/file/${verb}`, { ...body, files: at(name) });
    const location = `body.${['copy', 'move'].includes(verb) ? 'source' : own}`;
    expect([verb, status, refused.errors]).toEqual([
      verb,
      422,
      [{ location, message: 'is required', type: 'missing' }],
    ]);
  }
  for (const name of ['path', 'file']) {
    expect((await sandbox.fetch(`GET /v1/file/download?${name}=${at('decoy')}`)).status).toBe(200);
  }
  expect((await sandbox.request('GET /v1/file/download')).body.errors).toEqual([
    { location: 'query.path', message: 'is required', type: 'missing' },
  ]);
});

test('V1FILE-1 V1FILE-17 an empty body and unknown fields are read as 1.x read them', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'file');
  writeFileSync(file, 'x');
  const empty = await sandbox.fetch('POST /v1/file/read', undefined, {
    body: '',
    headers: { 'content-type': 'application/json' },
  });
  expect([empty.status, ((await empty.json()) as { errors: unknown }).errors]).toEqual([
    422,
    [{ location: 'body.file', message: 'is required', type: 'missing' }],
  ]);
  expect(await post(sandbox, 'read', { file, unknown: { deep: [1] }, encoding: 'utf-16' })).toMatchObject({ file });
  for (const [body, location, type] of [
    [{ file: 1 }, 'body.file', 'string_type'],
    [{ file, start_line: '1' }, 'body.start_line', 'int_type'],
    [{ file, end_line: 1.5 }, 'body.end_line', 'int_type'],
    [{ file, sudo: 'yes' }, 'body.sudo', 'bool_type'],
  ] as const) {
    const { status, body: refused } = await sandbox.request('POST /v1/file/read', body);
    expect([status, refused.errors?.[0]]).toMatchObject([422, { location, type }]);
  }
});

const notFound = ['ENOENT', 2, 'not_found', 'FileNotFoundError', 'No such file or directory'] as const;
const isDirectory = ['EISDIR', 21, 'invalid_target', 'IsADirectoryError', 'Is a directory'] as const;
const notDirectory = ['ENOTDIR', 20, 'invalid_path', 'NotADirectoryError', 'Not a directory'] as const;
const exists = ['EEXIST', 17, 'already_exists', 'FileExistsError', 'File exists'] as const;

test('V1FILE-1 V1FILE-2 every system failure is 200 and success false, with all eight fields', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('file'), 'x');
  mkdirSync(at('directory'));
  symlinkSync('gone', at('dangling'));
  const rows = [
    ['read', { file: at('absent') }, 'read file', at('absent'), notFound],
    ['read', { file: at('directory') }, 'read file', at('directory'), isDirectory],
    ['read', { file: at('dangling') }, 'read file', at('dangling'), notFound],
    ['read', { file: at('file/below') }, 'read file', at('file/below'), notDirectory],
    ['write', { file: at('directory'), content: '' }, 'write file', at('directory'), isDirectory],
    ['write', { file: at('file/below'), content: '' }, 'write file', at('file'), notDirectory],
    ['replace', { file: at('absent'), old_str: 'a', new_str: '' }, 'replace in file', at('absent'), notFound],
    ['search', { file: at('absent'), regex: 'a' }, 'search in file', at('absent'), notFound],
    ['search', { file: at('directory'), regex: 'a' }, 'search in file', at('directory'), isDirectory],
    ['find', { path: at('absent'), glob: '*' }, 'find files', at('absent'), notFound],
    ['glob', { path: at('absent'), pattern: '*' }, 'glob files', at('absent'), notFound],
    ['glob', { path: at('file'), pattern: '*' }, 'glob files', at('file'), notDirectory],
    ['grep', { path: at('absent'), pattern: 'a' }, 'grep files', at('absent'), notFound],
    ['list', { path: at('absent') }, 'list path', at('absent'), notFound],
    ['list', { path: at('file') }, 'list path', at('file'), notDirectory],
    ['stat', { path: at('absent') }, 'stat path', at('absent'), notFound],
    ['mkdir', { path: at('file') }, 'create directory', at('file'), exists],
    ['copy', { path: at('absent'), destination: at('new') }, 'copy path', at('absent'), notFound],
    ['copy', { path: at('file'), destination: at('directory') }, 'copy path', at('directory'), exists],
    ['move', { path: at('file'), destination: at('directory') }, 'move path', at('directory'), exists],
    ['delete', { path: at('absent') }, 'delete path', at('absent'), notFound],
  ] as const;
  for (const [verb, body, deed, path, [errnoName, errno, errorType, exceptionType, words]] of rows) {
    const message = `Failed to ${deed}: [Errno ${errno}] ${words}: '${path}'`;
    const answer = await attempt(sandbox, verb, body);
    expect([verb, answer]).toEqual([
      verb,
      {
        success: false,
        message,
        hint: expect.any(String),
        data: {
          ...(verb === 'find' || verb === 'glob' ? { files: [] } : {}),
          ...(verb === 'grep' ? { matches: [] } : {}),
          path,
          operation: verb,
          message,
          error_type: errorType,
          retryable: false,
          errno,
          errno_name: errnoName,
          exception_type: exceptionType,
        },
      },
    ]);
    expect(answer.hint).not.toContain('/v2/fs');
  }
});

test('V1FILE-1 V1FILE-2 a wrong file type and an impossible name are reported in the same way', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'file');
  writeFileSync(file, Buffer.of(0xff, 0xfe, 0x41));
  for (const [verb, body, errorType, exceptionType, message] of [
    ['read', { file }, 'decode_error', 'UnicodeDecodeError', `Failed to read file: ${file}: is not UTF-8 text`],
    ['replace', { file, old_str: 'A', new_str: '' }, 'decode_error', 'UnicodeDecodeError', /is not UTF-8 text$/],
    ['read', { file: '/dev/null' }, 'invalid_target', 'OSError', /is a device, not a regular file$/],
    ['read', { file: '' }, 'invalid_path', 'OSError', 'Failed to read file: no file can be called ""'],
    ['write', { file: 'a\0b', content: '' }, 'invalid_path', 'OSError', /no file can be called "a\\u0000b"$/],
    ['read', { file: `/${'n'.repeat(300)}` }, 'invalid_path', 'OSError', /\[Errno 36\] File name too long: /],
  ] as const) {
    const data = await failed(sandbox, verb, body);
    expect(data).toMatchObject({ error_type: errorType, exception_type: exceptionType, operation: verb });
    if (typeof message === 'string') expect(data['message']).toBe(message);
    else expect(data['message']).toMatch(message);
  }
});

test('V1FILE-2 content that does not match its encoding is a malformed request, and nothing is written', async ({
  sandbox,
}) => {
  const file = join(sandbox.directory, 'file');
  for (const [body, message] of [
    [{ content: 'A===', encoding: 'base64' }, 'content is not base64'],
    [{ content: 'ab€', encoding: 'raw' }, 'raw content has a character above U+00FF at 2'],
  ] as const) {
    const { status, body: refused } = await sandbox.request('POST /v1/file/write', { file, ...body });
    expect([status, refused.message]).toEqual([400, message]);
  }
  const { status } = await sandbox.request('POST /v1/file/write', { file, content: '', encoding: 'utf-16' });
  expect([status, existsSync(file)]).toEqual([422, false]);
});

test(
  'V1FILE-1 V1FILE-2 V1FILE-17 missing permission is permission_denied, and sudo needs root',
  async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, name);
    writeFileSync(at('secret'), 'x');
    chownSync(at('secret'), 0, 0);
    chmodSync(at('secret'), 0o600);
    writeFileSync(at('mine'), 'needle');
    const denied = { error_type: 'permission_denied', exception_type: 'PermissionError' };
    expect(await failed(sandbox, 'read', { file: at('secret') })).toEqual({
      ...denied,
      path: at('secret'),
      operation: 'read',
      message: `Failed to read file: [Errno 13] Permission denied: '${at('secret')}'`,
      retryable: false,
      errno: 13,
      errno_name: 'EACCES',
    });
    for (const [verb, body] of [
      ['read', {}],
      ['write', { content: 'new' }],
      ['replace', { old_str: 'needle', new_str: 'x' }],
      ['search', { regex: 'needle' }],
    ] as const) {
      const data = await failed(sandbox, verb, { file: at('mine'), sudo: true, ...body });
      expect(data).toMatchObject({ ...denied, operation: verb, errno: 1, errno_name: 'EPERM', path: at('mine') });
      expect(data['message']).toEndWith(`[Errno 1] Operation not permitted: '${at('mine')}'`);
    }
    expect(readFileSync(at('mine'), 'utf8')).toBe('needle');
    mkdirSync(at('closed'));
    for (const name of ['closed/file', 'closed/new/file']) {
      const data = await failed(sandbox, 'write', { file: at(name), content: '' });
      expect(data['message']).toBe(`Failed to write file: [Errno 13] Permission denied: '${data['path']}'`);
      expect(at(name)).toStartWith(data['path'] as string);
    }
  },
  asTestAccount(),
);

test(
  'V1FILE-17 IDENT-3 created files belong to the default account, and with sudo to root',
  async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, name);
    const owners = (...names: string[]) => names.map((name) => [statSync(at(name)).uid, statSync(at(name)).gid]);
    const { uid, gid } = testAccount;
    const [theirs, roots] = [
      [uid, gid],
      [0, 0],
    ];
    await post(sandbox, 'write', { file: at('new/file'), content: 'needle' });
    await post(sandbox, 'write', { file: at('roots/file'), content: 'needle', sudo: true });
    expect(owners('new', 'new/file', 'roots', 'roots/file')).toEqual([theirs, theirs, roots, roots]);
    // Existing files keep their owner.
    await post(sandbox, 'replace', { file: at('new/file'), old_str: 'needle', new_str: 'x', sudo: true });
    expect(await post(sandbox, 'read', { file: at('new/file'), sudo: true })).toMatchObject({ content: 'x' });
    expect(await post(sandbox, 'search', { file: at('new/file'), regex: 'x', sudo: true })).toMatchObject({
      matches: ['x'],
    });
    await post(sandbox, 'mkdir', { path: at('made') });
    await post(sandbox, 'copy', { path: at('roots/file'), destination: at('copied') });
    await post(sandbox, 'str_replace_editor', { command: 'create', path: at('created/file'), file_text: 'x' });
    await uploadForm(sandbox, [
      { name: 'file', content: 'x', fileName: 'x' },
      { name: 'path', content: at('uploaded/file') },
    ]);
    const made = ['new/file', 'made', 'copied', 'created', 'created/file', 'uploaded', 'uploaded/file'];
    expect(owners(...made)).toEqual(made.map(() => theirs));
    rmSync(uploadsOf(sandbox, uid), { recursive: true });
  },
  withTestAccount({ args: ['--default-user', testAccount.name] }),
);

const readOnly = 'mkdir disk && mount --bind disk disk && mount -o remount,bind,ro disk && exec "$@"';

test(
  'V1FILE-2 a read-only file system is read_only_filesystem',
  async ({ sandbox }) => {
    const data = await failed(sandbox, 'write', { file: join(sandbox.directory, 'disk/file'), content: 'x' });
    expect(data).toMatchObject({ error_type: 'read_only_filesystem', errno_name: 'EROFS', exception_type: 'OSError' });
    expect(data['message']).toContain('Failed to write file: [Errno 30] Read-only file system: ');
  },
  { launcher: ['unshare', '--mount', 'sh', '-c', readOnly, 'sh'] },
);

test(
  'V1FILE-2 V1FILE-15 a full disk is no_space_left, and existing files stay whole',
  async ({ sandbox }) => {
    const file = join(sandbox.directory, 'disk/file');
    await post(sandbox, 'write', { file, content: 'old content' });
    const full = { error_type: 'no_space_left', errno_name: 'ENOSPC', exception_type: 'OSError' };
    const content = 'x'.repeat(2_000_000);
    expect(await failed(sandbox, 'write', { file, content })).toMatchObject(full);
    const upload = await uploadForm(sandbox, [{ name: 'file', content, fileName: 'x' }, pathPart(file)]);
    expect([upload.status, upload.success, upload.data]).toMatchObject([200, false, { ...full, operation: 'upload' }]);
    expect(readdirSync(otherDisk(sandbox))).toEqual(['file']);
    expect(await post(sandbox, 'read', { file })).toMatchObject({ content: 'old content' });
    rmSync(uploadsOf(sandbox), { recursive: true });
  },
  inRoom(1),
);

test('V1FILE-1 V1FILE-6 V1FILE-14 names with newlines and names that are not text are valid names', async ({
  sandbox,
}) => {
  const directory = join(sandbox.directory, 'names');
  for (const name of ['two\nlines', ' spaces ', '-dash', 'quote\'"', 'ünï', '日本']) {
    const file = join(directory, name);
    await post(sandbox, 'write', { file, content: name });
    expect(await post(sandbox, 'read', { file })).toEqual({ content: name, file, line_count: name.split('\n').length });
    expect((await post(sandbox, 'find', { path: directory, glob: name }))['files']).toEqual([file]);
    const bytes = await sandbox.fetch(`GET /v1/file/download?path=${encodeURIComponent(file)}`);
    expect(await bytes.text()).toBe(name);
  }
  const stray = Buffer.concat([Buffer.from(`${directory}/stray-`), Buffer.of(0xff)]);
  writeFileSync(stray, 'stray');
  const { files } = await post(sandbox, 'list', { path: directory });
  expect(files).toHaveLength(7);
  const [odd] = (files as { name: string; path: string }[]).filter(({ path }) => path.startsWith('file://'));
  expect(odd).toMatchObject({ name: 'stray-\ufffd', path: `file://${directory}/stray-%FF` });
  expect(await post(sandbox, 'read', { file: odd?.path })).toMatchObject({ content: 'stray' });
  expect(await post(sandbox, 'delete', { path: odd?.path })).toMatchObject({ deleted: true });
});

test('V1FILE-1 a file larger than an answer is refused, with lines and download as the ways to read it', async ({
  sandbox,
}) => {
  const file = join(sandbox.directory, 'large');
  writeFileSync(file, Buffer.alloc(16 * 1024 * 1024 + 1, 'x'));
  const data = await failed(sandbox, 'read', { file });
  expect(data).toMatchObject({ error_type: 'io_error', errno_name: 'EFBIG' });
  const { hint } = await attempt(sandbox, 'read', { file });
  expect(hint).toBe(
    'Read some lines with start_line and end_line. GET /v1/file/download streams the bytes of a file of any size.',
  );
  writeFileSync(file, Buffer.alloc(16 * 1024 * 1024, 'x'));
  expect((await post(sandbox, 'read', { file }))['content']).toHaveLength(16 * 1024 * 1024);
});

test('V1FILE-1 V1FILE-2 V1FILE-3 V1FILE-6 V1FILE-7 V1FILE-16 the file calls of agent back ends work in sequence, from create to delete', async ({
  sandbox,
}) => {
  const directory = join(sandbox.directory, 'agent');
  const file = join(directory, 'notes.md');
  expect(await attempt(sandbox, 'find', { path: directory, glob: 'notes.md' })).toMatchObject({ success: false });
  await post(sandbox, 'write', { file, content: '# Notes\n\nNEXT: first\nNEXT: second\n' });
  expect(await post(sandbox, 'find', { path: directory, glob: 'notes.md' })).toEqual({
    path: directory,
    files: [file],
  });
  const count = await sandbox.ok('POST /v1/bash/exec', { command: 'cat notes.md | wc -l', exec_dir: directory });
  expect(count).toMatchObject({ status: 'completed', exit_code: 0, stdout: '4\n' });
  const listed = await post(sandbox, 'list', { path: directory });
  expect(listed).toMatchObject({ total_count: 1, file_count: 1, directory_count: 0, files: [{ path: file }] });
  const { content } = await post(sandbox, 'read', { file });
  expect((content as string).split('\n')).toHaveLength(5);
  const found = await post(sandbox, 'grep', { path: directory, pattern: 'NEXT', fixed_strings: true });
  expect((found['matches'] as { line_number: number }[]).map((match) => match.line_number)).toEqual([3, 4]);

  const edit = { command: 'str_replace', path: file, old_str: 'NEXT', new_str: 'DONE' };
  const refused = await sandbox.request('POST /v1/file/str_replace_editor', { ...edit, replace_mode: null });
  expect([refused.status, refused.body.success]).toEqual([400, false]);
  expect(refused.body.message).toContain('multiple occurrences');
  expect(refused.body.data['message']).toBe(refused.body.message);
  const edited = await post(sandbox, 'str_replace_editor', { ...edit, replace_mode: 'ALL' });
  expect((edited['old_content'] as string).split('NEXT')).toHaveLength(3);
  const bytes = await sandbox.fetch(`GET /v1/file/download?path=${file}`);
  expect(await bytes.text()).toBe('# Notes\n\nDONE: first\nDONE: second\n');

  await post(sandbox, 'delete', { path: directory, recursive: true });
  expect(existsSync(directory)).toBe(false);
});
