/** The answers of file routes to bad input: the exact status and message, the hint, and all eight fields. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inRoom } from '../harness/disks.ts';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount, testAccount } from '../harness/test-account.ts';

/** Columns: route, path (`@` is the test's directory), status, errno, error_type, exception_type. */
type Row = readonly [string, Readonly<Record<string, unknown>>, number, string, string, string];

const words: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EEXIST: 'File exists',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  EROFS: 'Read-only file system',
  ENOTEMPTY: 'Directory not empty',
};

const hints: Readonly<Record<string, string>> = {
  not_found: 'GET /v2/fs/list shows what a directory contains.',
  permission_denied: 'The daemon does not have the permission. GET /v2/fs/stat shows the type, the owner and the mode.',
  invalid_target: 'GET /v2/fs/stat shows the type, the owner and the mode.',
  invalid_path: 'Pass another path. GET /v2/fs/stat shows the type, the owner and the mode.',
  read_only_filesystem: 'Write to another file system. GET /v2/sandbox names the workspace.',
};

const errnos: Readonly<Record<string, number>> = {
  ENOENT: 2,
  EACCES: 13,
  EEXIST: 17,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  EFBIG: 27,
  EROFS: 30,
  ENAMETOOLONG: 36,
  ENOTEMPTY: 39,
  ELOOP: 40,
  EILSEQ: 84,
};

const notFound = [404, 'ENOENT', 'not_found', 'FileNotFoundError'] as const;
const isDirectory = [400, 'EISDIR', 'invalid_target', 'IsADirectoryError'] as const;
const notDirectory = [400, 'ENOTDIR', 'invalid_path', 'NotADirectoryError'] as const;
const loops = [400, 'ELOOP', 'invalid_path', 'OSError'] as const;
const tooLong = [400, 'ENAMETOOLONG', 'invalid_path', 'OSError'] as const;
const longName = 'n'.repeat(256);
const longPath = `@/${'p/'.repeat(2500)}`;
const content = { content: 'x' };

const rows: readonly Row[] = [
  ['GET read', { path: '@/absent' }, ...notFound],
  ['GET read', { path: '@/directory' }, ...isDirectory],
  ['GET read', { path: '@/dangling' }, ...notFound],
  ['GET read', { path: '@/looping' }, ...loops],
  ['GET read', { path: '@/file/below' }, ...notDirectory],
  ['GET read', { path: `@/${longName}` }, ...tooLong],
  ['GET read', { path: longPath }, ...tooLong],
  ['GET stat', { path: '@/absent' }, ...notFound],
  ['GET stat', { path: '@/dangling' }, ...notFound],
  ['GET stat', { path: '@/looping' }, ...loops],
  ['GET stat', { path: '@/file/below' }, ...notDirectory],
  ['GET stat', { path: `@/${longName}` }, ...tooLong],
  ['POST write', { path: '@/directory', ...content }, ...isDirectory],
  ['POST write', { path: '@/looping', ...content }, ...loops],
  ['POST write', { path: '@/file/below', ...content }, ...notDirectory],
  ['POST write', { path: `@/${longName}`, ...content }, ...tooLong],
  ['POST write', { path: longPath, ...content }, ...tooLong],
  ['POST mkdir', { path: '@/absent/below' }, ...notFound],
  ['POST mkdir', { path: '@/file/below', parents: true }, ...notDirectory],
  ['POST mkdir', { path: '@/looping' }, ...loops],
  ['POST mkdir', { path: `@/${longName}` }, ...tooLong],
  ['POST copy', { path: '@/absent', destination: '@/new' }, ...notFound],
  ['POST copy', { path: '@/dangling', destination: '@/new' }, ...notFound],
  ['POST copy', { path: '@/looping', destination: '@/new' }, ...loops],
  ['POST copy', { path: `@/${longName}`, destination: '@/new' }, ...tooLong],
  ['POST move', { path: '@/absent', destination: '@/new' }, ...notFound],
  ['POST move', { path: '@/file/below', destination: '@/new' }, ...notDirectory],
  ['POST delete', { path: '@/absent' }, ...notFound],
  ['POST delete', { path: '@/file/below' }, ...notDirectory],
  ['POST delete', { path: `@/${longName}` }, ...tooLong],
];

function plant(sandbox: Sandbox): void {
  const at = (name: string) => join(sandbox.directory, name);
  mkdirSync(at('directory'));
  writeFileSync(at('file'), 'content\n');
  symlinkSync('nowhere', at('dangling'));
  symlinkSync('looping', at('looping'));
}

async function ask(sandbox: Sandbox, route: string, input: Readonly<Record<string, unknown>>) {
  const [method, verb] = route.split(' ') as [string, string];
  const given = Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace('@', sandbox.directory) : value,
    ]),
  );
  if (method === 'POST') return sandbox.request(`POST /v2/fs/${verb}`, given);
  return sandbox.request(`GET /v2/fs/${verb}?${new URLSearchParams(given as Record<string, string>).toString()}`);
}

async function check(sandbox: Sandbox, [route, input, status, errnoName, errorType, exceptionType]: Row) {
  const { status: answered, body } = await ask(sandbox, route, input);
  const path = (body.data?.['path'] ?? '') as string;
  const message = `${path}: ${words[errnoName]}`;
  expect([route, input['path'], answered]).toEqual([route, input['path'], status]);
  expect(body).toEqual({
    success: false,
    message,
    hint: hints[errorType] ?? null,
    data: {
      code: expect.stringMatching(/^file_/),
      errno: errnos[errnoName] ?? 0,
      errno_name: errnoName,
      error_type: errorType,
      exception_type: exceptionType,
      message,
      operation: route.split(' ')[1],
      path,
      retryable: false,
      ...(route === 'GET stat' && status === 404 && { real_path: expect.stringMatching(/^\//) }),
    },
  });
  // The path of the request, or of the entry that causes the failure.
  const asked = `${input['path'] as string}`.replace('@', sandbox.directory).replace(/\/$/, '');
  expect(path).toStartWith(sandbox.directory);
  expect(asked.startsWith(path) || `${path}/`.startsWith(`${asked}/`)).toBe(true);
}

test('FERR-1 FERR-2 FERR-3 FERR-4 every system failure has its status and all eight fields', async ({ sandbox }) => {
  plant(sandbox);
  for (const row of rows) await check(sandbox, row);
});

test(
  'FERR-3 ERR-403 an operation that the daemon’s account may not perform is 403',
  async ({ sandbox }) => {
    const denied = [403, 'EACCES', 'permission_denied', 'PermissionError'] as const;
    for (const row of [
      ['GET read', { path: '@/closed/file' }, ...denied],
      ['GET read', { path: '@/secret' }, ...denied],
      ['GET stat', { path: '@/closed/file' }, ...denied],
      ['POST write', { path: '@/secret', append: true, ...content }, ...denied],
      ['POST write', { path: '@/full/new', ...content }, ...denied],
      ['POST mkdir', { path: '@/full/new' }, ...denied],
      ['POST copy', { path: '@/secret', destination: '@/copy' }, ...denied],
      ['POST copy', { path: '@/directory', destination: '@/full/copy' }, ...denied],
      ['POST move', { path: '@/full/file', destination: '@/moved' }, ...denied],
      ['POST delete', { path: '@/full/file' }, ...denied],
      ['POST delete', { path: '@/full', recursive: true }, ...denied],
    ] as const satisfies Row[]) {
      const { status, body } = await ask(sandbox, row[0], row[1]);
      expect([row[0], row[1]['path'], status]).toEqual([row[0], row[1]['path'], 403]);
      expect(body.data).toMatchObject({ errno_name: 'EACCES', exception_type: 'PermissionError', retryable: false });
      // The path of the entry that causes the failure, never an internal name of the daemon.
      expect(body.message).toBe(`${body.data['path']}: Permission denied`);
      expect(body.message).not.toContain('.svc-write');
    }
    expect((await ask(sandbox, 'GET read', { path: '@/full/file' })).body.data['content']).toBe('kept');
  },
  asTestAccount({
    prepare(sandbox) {
      const at = (name: string) => join(sandbox.directory, name);
      for (const name of ['closed', 'full', 'directory']) mkdirSync(at(name));
      for (const name of ['closed/file', 'full/file', 'secret']) writeFileSync(at(name), 'kept');
      chmodSync(at('closed'), 0o700);
      chmodSync(at('secret'), 0o600);
    },
  }),
);

test(
  'FERR-3 V2FS-ATOMIC V1FILE-2 MCP-TOOLS a file that the daemon’s account may not write is not replaced either',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'protected');
    const { ino } = statSync(path);
    const edit = { path, command: 'str_replace', old_str: 'kept', new_str: 'lost' };
    const upload = async (route: string, body: FormData | string) => {
      const reply = await sandbox.fetch(route, undefined, { body });
      return { status: reply.status, body: (await reply.json()) as Json };
    };
    const form = new FormData();
    form.append('path', path);
    form.append('file', new File(['lost'], 'file'));

    for (const reply of [
      await ask(sandbox, 'POST write', { path: '@/protected', content: 'lost' }),
      await ask(sandbox, 'POST write', { path: '@/protected', content: 'lost', append: true }),
      await ask(sandbox, 'POST write', { path: '@/protected', content: 'lost', mode: '644' }),
      await ask(sandbox, 'POST edit', edit),
      await ask(sandbox, 'POST edit', { path, edits: [{ insert_line: 0, new_str: 'lost' }] }),
      await upload(`POST /v2/fs/upload?path=${path}`, 'lost'),
      await upload('POST /v2/fs/upload', form),
      await sandbox.request('POST /v1/file/write', { file: path, content: 'lost' }),
      await sandbox.request('POST /v1/file/write', { file: path, content: 'lost', append: true }),
      await sandbox.request('POST /v1/file/replace', { file: path, old_str: 'kept', new_str: 'lost' }),
      await sandbox.request('POST /v1/file/str_replace_editor', edit),
      await upload('POST /v1/file/upload', form),
    ]) {
      expect([403, 200]).toContain(reply.status);
      expect(reply.body).toMatchObject({
        success: false,
        data: { errno_name: 'EACCES', error_type: 'permission_denied', exception_type: 'PermissionError', path },
      });
    }
    for (const [tool, input] of [
      ['sandbox_file_operations', { action: 'write', path, content: 'lost' }],
      ['sandbox_file_operations', { action: 'replace', path, old_str: 'kept', new_str: 'lost' }],
      ['sandbox_str_replace_editor', edit],
    ] as const) {
      const reply = await callTool(sandbox, tool, input);
      expect([reply.isError, reply.text]).toEqual([true, expect.stringContaining(`${path}: Permission denied`)]);
    }
    expect([readFileSync(path, 'utf8'), statSync(path).ino, statSync(path).mode & 0o777]).toEqual(['kept', ino, 0o444]);
    expect(readdirSync(sandbox.directory).filter((name) => name.includes('.svc-write'))).toEqual([]);
  },
  asTestAccount({
    prepare(sandbox) {
      const path = join(sandbox.directory, 'protected');
      writeFileSync(path, 'kept');
      chownSync(path, testAccount.uid, testAccount.gid);
      chmodSync(path, 0o444);
    },
  }),
);

const readOnly =
  'mkdir -p disk/inner && echo kept > disk/file && mount --bind disk disk && mount -o remount,bind,ro disk';
test(
  'FERR-3 a read-only file system is reported as such',
  async ({ sandbox }) => {
    const refused = [403, 'EROFS', 'read_only_filesystem', 'OSError'] as const;
    for (const row of [
      ['POST write', { path: '@/disk/new', ...content }, ...refused],
      ['POST mkdir', { path: '@/disk/new' }, ...refused],
      ['POST copy', { path: '@/file', destination: '@/disk/new' }, ...refused],
      ['POST move', { path: '@/file', destination: '@/disk/new' }, ...refused],
      ['POST delete', { path: '@/disk/file' }, ...refused],
      ['POST delete', { path: '@/disk/inner' }, ...refused],
    ] as const satisfies Row[]) {
      const { status, body } = await ask(sandbox, row[0], row[1]);
      expect([row[0], status, body.data?.['errno_name']]).toEqual([row[0], 403, 'EROFS']);
      expect(body.data).toMatchObject({ error_type: 'read_only_filesystem', exception_type: 'OSError' });
      expect(body.hint).toBe(hints['read_only_filesystem'] ?? '');
    }
    expect((await ask(sandbox, 'GET read', { path: '@/file' })).status).toBe(200);
    expect((await ask(sandbox, 'GET read', { path: '@/disk/file' })).status).toBe(200);
  },
  {
    launcher: ['unshare', '--mount', 'sh', '-c', `${readOnly} && exec "$@"`, 'sh'],
    prepare: (sandbox) => writeFileSync(join(sandbox.directory, 'file'), 'kept'),
  },
);

test('FILE-1 a binary file, a file too large and a directory are not read, and the hint gives the next step', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  writeFileSync(at('latin1'), Buffer.from('caf\u00e9', 'latin1'));
  writeFileSync(at('huge'), '');
  truncateSync(at('huge'), 16 * 1024 ** 2 + 1);
  await sandbox.run({ command: 'mkfifo pipe', cwd: sandbox.directory });

  const latin1 = await ask(sandbox, 'GET read', { path: '@/latin1' });
  expect(latin1).toMatchObject({
    status: 422,
    body: {
      message: `${at('latin1')}: is not UTF-8 text`,
      hint: 'GET /v2/fs/download streams the bytes of a file of any size.',
      errors: [{ location: 'query.path', type: 'value_error' }],
      data: { errno_name: 'EILSEQ', error_type: 'decode_error', exception_type: 'UnicodeDecodeError' },
    },
  });
  const huge = await ask(sandbox, 'GET read', { path: '@/huge' });
  expect(huge).toMatchObject({
    status: 413,
    body: {
      message: `${at('huge')}: has 16777217 bytes; at most 16777216 are read in one answer`,
      hint: 'Read some lines with start_line and end_line. GET /v2/fs/download streams the bytes of a file of any size.',
      data: { errno_name: 'EFBIG', error_type: 'too_large' },
    },
  });
  for (const [path, kind] of [
    [at('pipe'), 'a pipe'],
    ['/dev/null', 'a device'],
  ] as const) {
    for (const route of ['GET read', 'POST write']) {
      const answer = await ask(sandbox, route, { path, ...(route === 'POST write' ? content : {}) });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          message: `${path}: is ${kind}, not a regular file`,
          hint: 'Read or write pipes and devices with a command. POST /v2/commands starts a command.',
          data: { errno_name: 'EINVAL', error_type: 'invalid_target' },
        },
      });
    }
  }
});

test('FILE-16 an invalid body or query names each field', async ({ sandbox }) => {
  const cases: readonly [string, Readonly<Record<string, unknown>>, string, string][] = [
    ['GET read', {}, 'query.path', 'missing'],
    ['GET read', { path: '' }, 'query.path', 'too_short'],
    ['GET read', { path: 'a\0b' }, 'query.path', 'value_error'],
    ['GET read', { path: '/a', start_line: '-1' }, 'query.start_line', 'too_small'],
    ['GET read', { path: '/a', start_line: '1.5' }, 'query.start_line', 'int_type'],
    ['GET read', { path: '/a', encoding: 'latin1' }, 'query.encoding', 'enum'],
    ['GET stat', { path: '/a', follow_symlinks: 'perhaps' }, 'query.follow_symlinks', 'bool_type'],
    ['POST write', { path: '/a' }, 'body.content', 'missing'],
    ['POST write', { path: 7, content: '' }, 'body.path', 'string_type'],
    ['POST write', { path: 'file:///a%00b', content: '' }, 'body.path', 'value_error'],
    ['POST write', { path: '/a', content: '', mode: '999' }, 'body.mode', 'pattern'],
    ['POST write', { path: '/a', content: '', append: 'yes' }, 'body.append', 'bool_type'],
    ['POST write', { path: '/a', content: '', if_match: '' }, 'body.if_match', 'too_short'],
    ['POST mkdir', { path: ['a'] }, 'body.path', 'string_type'],
    ['POST copy', { path: '/a' }, 'body.destination', 'missing'],
    ['POST copy', { path: '/a', destination: '' }, 'body.destination', 'too_short'],
    ['POST move', { path: '/a', destination: '/b', overwrite: 1 }, 'body.overwrite', 'bool_type'],
    ['POST delete', { recursive: true }, 'body.path', 'missing'],
  ];
  for (const [route, input, location, type] of cases) {
    const { status, body } = await ask(sandbox, route, input);
    expect([route, input, status, body.errors?.[0]]).toMatchObject([route, input, 422, { location, type }]);
  }
  const refused = [
    [{ content: '!', encoding: 'base64' }, 'content is not base64'],
    [{ content: 'QQ', encoding: 'base64' }, 'content is not base64'],
    [{ content: '\u0100', encoding: 'raw' }, 'raw content has a character above U+00FF at 0'],
    [{ content: 'QQ==', encoding: 'base64', trailing_newline: true }, 'a newline cannot be added to base64 content'],
  ] as const;
  for (const [input, message] of refused) {
    expect(await ask(sandbox, 'POST write', { path: '@/new', ...input })).toMatchObject({
      status: 400,
      body: { message },
    });
  }
  const user = await sandbox.request('POST /v2/fs/write?user=no-such-account', { path: '/a', content: '' });
  expect(user).toMatchObject({ status: 400, body: { message: 'no account is named "no-such-account"' } });
});

test(
  'FERR-3 V2FS-ATOMIC a full disk is 507, and the old file is whole',
  async ({ sandbox }) => {
    const old = 'o'.repeat(300_000);
    await sandbox.ok('POST /v2/fs/write', { path: join(sandbox.directory, 'disk/file'), content: old });
    for (const append of [false, true]) {
      const answer = await ask(sandbox, 'POST write', { path: '@/disk/file', content: 'n'.repeat(900_000), append });
      expect(answer).toMatchObject({
        status: 507,
        body: {
          message: `${join(sandbox.directory, 'disk/file')}: No space left on device`,
          hint: 'Free some space and try again. The earlier content is intact.',
          data: { errno_name: 'ENOSPC', error_type: 'no_space_left', exception_type: 'OSError', operation: 'write' },
        },
      });
      expect((await ask(sandbox, 'GET read', { path: '@/disk/file' })).body.data['content']).toBe(old);
      const { stdout } = await sandbox.run({ command: 'ls -A', cwd: join(sandbox.directory, 'disk') });
      expect(stdout).toBe('file\n');
    }
  },
  inRoom(1),
);

test(
  'IDENT-3 a daemon that is not root cannot give created files to another account',
  async ({ sandbox }) => {
    const answer = await sandbox.request('POST /v2/fs/write?user=0', {
      path: join(sandbox.directory, 'a'),
      content: '',
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { message: `the daemon runs as uid ${testAccount.uid} and cannot become root` },
    });
  },
  asTestAccount(),
);
