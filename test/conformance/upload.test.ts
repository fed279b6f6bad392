/** Uploads of files of any size: forms and plain bodies, invalid ones, and the state after a broken upload. */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { boundary, form, formType, send, sendForm, type Part } from '../harness/form.ts';
import { fillDisk, freeDisk, insideRuntime, onSmallDisk } from '../harness/full-disk.ts';
import { exchange } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount, testAccount, withTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const query = (path: string) => `path=${encodeURIComponent(path)}`;

function partsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.part'));
}

function notesOf(sandbox: Sandbox): string[] {
  const notes = join(sandbox.runtimeDirectory, 'parts');
  return existsSync(notes) ? readdirSync(notes) : [];
}

for (const place of ['before', 'after'] as const) {
  test(`FILE-12 POST /v2/fs/upload accepts a form whose path comes ${place} the file`, async ({ sandbox }) => {
    const content = randomBytes(3_000_000);
    const path = join(sandbox.directory, 'made/on the way/ünï.bin');
    const parts = [
      { name: 'path', content: path },
      { name: 'file', content, fileName: 'other.bin' },
    ];
    const { status, body } = await sendForm(sandbox, place === 'before' ? parts : parts.toReversed());
    expect(status).toBe(200);
    const size = content.length;
    expect(body.data).toEqual({ path, file_path: path, file_size: size, success: true, sha256: sha256(content) });
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(notesOf(sandbox)).toEqual([]);
    rmSync(join(sandbox.directory, 'tmp/other.bin'), { force: true });
  });
}

test('FILE-12 a directory receives the file under its own name, and a path with a trailing slash means a directory', async ({
  sandbox,
}) => {
  const there = join(sandbox.directory, 'there');
  mkdirSync(there);
  for (const [path, fileName, name] of [
    [there, 'a.txt', 'a.txt'],
    [`${there}/new/`, '../../b.txt', 'b.txt'],
    [`${there}/new/`, 'C:\\\\data\\\\c.txt', 'c.txt'],
  ] as const) {
    const { body } = await sendForm(sandbox, [
      { name: 'path', content: path },
      { name: 'file', content: name, fileName },
    ]);
    expect(body.data['path']).toBe(join(path, name));
    expect(readFileSync(join(path, name), 'utf8')).toBe(name);
  }
});

test('FILE-12 without a path the file goes to the temporary directory, and never through a link there', async ({
  sandbox,
}) => {
  const uploads = join(sandbox.directory, 'tmp');
  const first = await sendForm(sandbox, [{ name: 'file', content: 'one', fileName: 'name.txt' }]);
  expect(first.body.data['file_path']).toBe(join(uploads, 'name.txt'));
  const second = await sendForm(sandbox, [{ name: 'file', content: 'two', fileName: 'name.txt' }]);
  expect(second.status).toBe(200);
  expect(readFileSync(join(uploads, 'name.txt'), 'utf8')).toBe('two');
  const victim = join(sandbox.directory, 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(uploads, 'link'));
  const third = await sendForm(sandbox, [{ name: 'file', content: 'three', fileName: 'link' }]);
  expect([third.status, third.body.data['error_type'], third.body.message]).toEqual([
    400,
    'invalid_path',
    `${uploads}/link: is a link`,
  ]);
  expect(readFileSync(victim, 'utf8')).toBe('mine');
  for (const name of ['name.txt', 'link']) rmSync(join(uploads, name));
});

test('FILE-12 a part without a file name is a file, before and after its path', async ({ sandbox }) => {
  const parts = [
    { name: 'path', content: join(sandbox.directory, 'from-a-reader') },
    { name: 'file', content: 'read' },
  ];
  for (const ordered of [parts, parts.toReversed()]) {
    expect((await sendForm(sandbox, ordered)).body.data).toMatchObject({ file_size: 4, success: true });
    expect(readFileSync(join(sandbox.directory, 'from-a-reader'), 'utf8')).toBe('read');
    rmSync(join(sandbox.directory, 'from-a-reader'));
  }
  const unnamed = await sendForm(sandbox, [{ name: 'file', content: 'read' }]);
  expect(unnamed.body.data['path']).toBe(join(sandbox.directory, 'tmp/upload'));
  rmSync(join(sandbox.directory, 'tmp/upload'));
});

test('FILE-12 HTTP-UNKNOWN-FIELD a part that the form does not have, or has twice, is refused, and nothing is written', async ({
  sandbox,
}) => {
  const target = join(sandbox.directory, 'target');
  const file = { name: 'file', content: 'read', fileName: 'up.txt' };
  const path = { name: 'path', content: target };
  const refused: readonly (readonly [parts: Part[], query: string, message: string])[] = [
    [[file, { name: 'pth', content: target }], '', 'pth is not a field; did you mean path?'],
    [[path, file, path], '', 'appears twice'],
    [[file, path], '?path=/tmp/elsewhere', 'differs from path in the query'],
    [[{ name: 'path', content: Buffer.from([0x2f, 0xff]) }, file], '', 'is not UTF-8'],
  ];
  for (const [parts, query, message] of refused) {
    const { status, body } = await sendForm(sandbox, parts, query);
    expect([status, body.message]).toEqual([422, expect.stringContaining(message)]);
  }
  expect(existsSync(target)).toBe(false);
  const both = await sendForm(sandbox, [file, path], `?path=${target}`);
  expect(both.body.data['path']).toBe(target);
});

test('HTTP-415 a compressed body is refused with the name of its coding, and nothing is written or run', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'encoded');
  const routes = ['POST /v2/commands', `POST /v2/fs/upload?${query(path)}`, 'POST /v1/bash/exec'];
  for (const route of routes) {
    for (const coding of ['gzip', 'br', 'zstd, gzip']) {
      const body = Bun.gzipSync(Buffer.from('{"command":"true"}'));
      const answer = await sandbox.fetch(route, undefined, { body, headers: { 'content-encoding': coding } });
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(await answer.json()).toMatchObject({
        message: `a body with the content encoding "${coding}" is not read here`,
        hint: 'Send the body as it is, without Content-Encoding.',
      });
    }
    const plain = { body: '{"command":"true"}', headers: { 'content-encoding': 'Identity' } };
    expect((await sandbox.fetch(route, undefined, plain)).status).toBe(200);
  }
  expect((await sandbox.ok('GET /v2/commands'))['commands']).toHaveLength(2);
  expect(readFileSync(path, 'utf8')).toBe('{"command":"true"}');
});

test('FILE-12 an upload has the mode that it names', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'run');
  for (const mode of ['750', '0600']) {
    const { status } = await send(sandbox, Buffer.from('#!/bin/sh'), 'text/plain', `?${query(path)}&mode=${mode}`);
    expect([status, statSync(path).mode & 0o777]).toEqual([200, Number.parseInt(mode, 8)]);
  }
  const { status, body } = await send(sandbox, Buffer.from('x'), 'text/plain', `?${query(path)}&mode=rwx`);
  expect([status, body.errors?.[0]?.location]).toEqual([422, 'query.mode']);
});

test('FILE-12 a body that is not a form goes to ?path=, through a link to its target, and keeps the mode', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'tool');
  const link = join(sandbox.directory, 'link');
  writeFileSync(path, 'old');
  chmodSync(path, 0o4751);
  symlinkSync('tool', link);
  const { body } = await send(sandbox, Buffer.from('new content'), 'application/octet-stream', `?${query(link)}`);
  expect(body.data).toMatchObject({ path, file_size: 11, sha256: sha256('new content') });
  expect(readFileSync(path, 'utf8')).toBe('new content');
  expect(statSync(path).mode & 0o7777).toBe(0o4751);
});

test(
  'IDENT-3 uploaded files belong to the named account, created directories too',
  async ({ sandbox }) => {
    const { uid, gid, name } = testAccount;
    const path = join(sandbox.directory, 'new/file');
    expect((await send(sandbox, Buffer.from('x'), 'text/plain', `?user=${name}&${query(path)}`)).status).toBe(200);
    expect([statSync(path).uid, statSync(path).gid, statSync(join(path, '..')).uid]).toEqual([uid, gid, uid]);
  },
  withTestAccount(),
);

test(
  'FERR-4 a refused upload names the requested path',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'closed/new/file');
    for (const to of [path, join(path, '../../file'), `${path}/`]) {
      const { status, body } = await sendForm(sandbox, [{ name: 'path', content: to }, file]);
      expect([status, body.data['path']]).toEqual([403, to.replace(/\/$/, '')]);
    }
  },
  asTestAccount({ prepare: (sandbox) => mkdirSync(join(sandbox.directory, 'closed')) }),
);

test('FILE-12 an empty file and an empty form field are content too', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'empty');
  expect((await send(sandbox, Buffer.of(), 'application/octet-stream', `?${query(path)}`)).status).toBe(200);
  expect(statSync(path).size).toBe(0);
});

interface Bad {
  readonly what: string;
  readonly body: (directory: string) => Uint8Array;
  readonly type?: string;
  readonly query?: string;
  readonly status: number;
  readonly message: string | RegExp;
  readonly hint: string;
  readonly errors?: readonly string[];
  readonly facts?: Readonly<Record<string, unknown>>;
}

const seeErrors = 'See errors for each field that has to change.';
const formHint = 'Send multipart/form-data with a boundary, a part called file, and a field called path.';
const file = { name: 'file', content: 'x', fileName: 'x' };
const pathTo = (directory: string, name = 'not/there/yet') => ({ name: 'path', content: join(directory, name) });

const bad: readonly Bad[] = [
  {
    what: 'a form without a file',
    body: (directory) => form([pathTo(directory)]),
    status: 422,
    message: 'body.file: is required',
    hint: seeErrors,
    errors: ['body.file missing'],
  },
  {
    what: 'an empty body that calls itself a form',
    body: () => Buffer.of(),
    status: 400,
    message: /^the body is not a form: /,
    hint: formHint,
  },
  {
    what: 'a form without a boundary',
    body: (directory) => form([pathTo(directory), file]),
    type: 'multipart/form-data',
    status: 400,
    message: 'the body is not a form: Multipart: Boundary not found',
    hint: formHint,
  },
  {
    what: 'two files',
    body: (directory) => form([pathTo(directory), file, file]),
    status: 422,
    message: 'body.file: appears twice',
    hint: seeErrors,
    errors: ['body.file value_error'],
  },
  {
    what: 'a file by another name',
    body: (directory) => form([pathTo(directory), { ...file, name: 'files' }]),
    status: 422,
    message: 'body.files: is not a part of this form; the file is called file',
    hint: seeErrors,
    errors: ['body.files value_error'],
  },
  {
    what: 'a form that is cut in the middle of the file',
    body: (directory) => form([pathTo(directory), { ...file, content: 'x'.repeat(500_000) }], '').subarray(0, -3),
    status: 400,
    message: 'the body is not a form: the form ends in the middle of a part',
    hint: formHint,
  },
  {
    what: 'a small form that comes at once and is cut in the middle of the file',
    body: (directory) => form([pathTo(directory), file], '').subarray(0, -2),
    status: 400,
    message: 'the body is not a form: the form ends in the middle of a part',
    hint: formHint,
  },
  ...['file', 'field'].map((kind) => ({
    what: `a ${kind} without a name`,
    body: () =>
      Buffer.concat([
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data${kind === 'file' ? '; filename="x"' : ''}\r\n\r\nhi\r\n`,
        ),
        form([file]),
      ]),
    status: 400,
    message: 'the body is not a form: a part has no name',
    hint: formHint,
  })),
  {
    what: 'too many fields',
    body: (directory) =>
      form([pathTo(directory), ...Array.from({ length: 80 }, (_, i) => ({ name: `f${i}`, content: '' })), file]),
    status: 400,
    message: 'the body is not a form: the form has more than 64 fields',
    hint: formHint,
  },
  {
    what: 'a huge field',
    body: () => form([{ name: 'path', content: '/x'.repeat(100_000) }, file]),
    status: 422,
    message: 'body.path: must have at most 65536 bytes',
    hint: seeErrors,
    errors: ['body.path too_long'],
  },
  {
    what: 'a NUL in the path',
    body: () => form([{ name: 'path', content: '/tmp/a\0b' }, file]),
    status: 422,
    message: 'body.path: must not contain a NUL byte or half a surrogate pair',
    hint: seeErrors,
    errors: ['body.path value_error'],
  },
  {
    what: 'a body that is not a form, without a path',
    body: () => Buffer.from('x'),
    type: 'application/octet-stream',
    status: 400,
    message: 'a body that is not a form names no destination',
    hint: 'Give ?path=, or send multipart/form-data with a part called file and a field called path.',
  },
  {
    what: 'a body without a name for a directory',
    body: () => Buffer.from('x'),
    type: 'application/octet-stream',
    query: '/tmp/',
    status: 400,
    message: '/tmp: is a directory, and the file came without a name',
    hint: 'Pass the path of the file itself.',
    facts: { error_type: 'invalid_target', errno_name: 'EISDIR', operation: 'upload', path: '/tmp', retryable: false },
  },
  {
    what: 'a device',
    body: () => Buffer.from('x'),
    type: 'application/octet-stream',
    query: '/dev/null',
    status: 400,
    message: '/dev/null: is a device, not a regular file',
    hint: 'Read or write pipes and devices with a command. POST /v2/commands starts a command.',
    facts: { error_type: 'invalid_target', errno_name: 'EINVAL', operation: 'upload' },
  },
  {
    what: 'a name of 256 bytes',
    body: () => Buffer.from('x'),
    type: 'application/octet-stream',
    query: `/tmp/${'n'.repeat(256)}`,
    status: 400,
    message: /: File name too long$/,
    hint: 'Pass another path. GET /v2/fs/stat shows the type, the owner and the mode.',
    facts: { error_type: 'invalid_path', errno_name: 'ENAMETOOLONG', exception_type: 'OSError' },
  },
  {
    what: 'a file on the way',
    body: () => Buffer.from('x'),
    type: 'application/octet-stream',
    query: '/etc/passwd/below',
    status: 400,
    message: '/etc/passwd: Not a directory',
    hint: 'Pass another path. GET /v2/fs/stat shows the type, the owner and the mode.',
    facts: { error_type: 'invalid_path', errno_name: 'ENOTDIR', errno: 20, operation: 'upload' },
  },
  {
    what: 'an empty path',
    body: () => form([{ name: 'path', content: '' }, file]),
    status: 422,
    message: 'body.path: must have at least 1 characters or entries',
    hint: seeErrors,
    errors: ['body.path too_short'],
  },
];

test('FERR-1 bad uploads get their exact answers, with nothing left behind', async ({ sandbox }) => {
  for (const { what, body, type = formType, query: path, status, message, hint, errors, facts } of bad) {
    const reply = await send(sandbox, body(sandbox.directory), type, path === undefined ? '' : `?${query(path)}`);
    const answer = { what, status: reply.status, message: reply.body.message, hint: reply.body.hint };
    const wanted = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(answer).toEqual({ what, status, message: wanted, hint });
    expect(reply.body.errors?.map(({ location, type: kind }) => `${location} ${kind}`)).toEqual(errors as string[]);
    if (facts) expect(reply.body.data).toMatchObject(facts);
    expect([partsIn(sandbox.directory), notesOf(sandbox)]).toEqual([[], []]);
    expect(existsSync(join(sandbox.directory, 'not'))).toBe(false);
    rmSync(join(sandbox.directory, 'tmp/x'), { force: true });
  }
});

for (const kind of ['a body of known length', 'a body in chunks', 'a form'] as const) {
  test(`PROMISE-5 a client that disconnects during ${kind} leaves the old file and nothing else`, async ({
    sandbox,
  }) => {
    const path = join(sandbox.directory, 'kept');
    writeFileSync(path, 'old');
    const start = `POST /v2/fs/upload?${query(path)} HTTP/1.1\r\nHost: localhost\r\n`;
    const type = kind === 'a form' ? `Content-Type: ${formType}\r\n` : '';
    const length = kind === 'a body in chunks' ? 'Transfer-Encoding: chunked' : 'Content-Length: 1000000';
    const content = form([{ ...file, content: 'n'.repeat(200_000) }], '').subarray(0, -2);
    const chunk = kind === 'a body in chunks' ? `${content.length.toString(16)}\r\n` : '';
    const { hostname, port } = new URL(sandbox.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // The daemon may close the connection during the write.
    socket.write(`${start}${type}${length}\r\n\r\n${chunk}`);
    socket.write(content);
    await until('the part is being written', () => partsIn(sandbox.directory).length === 1);
    socket.destroy();
    await until('the part is gone', () => partsIn(sandbox.directory).length === 0 && notesOf(sandbox).length === 0);
    expect(readFileSync(path, 'utf8')).toBe('old');
  });
}

test(
  'HTTP-STALL an upload that stalls is refused after a timeout, and nothing of it stays',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'stalled');
    const request = `POST /v2/fs/upload?${query(path)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc`;
    const answer = await exchange(sandbox.url, request, 4000);
    expect(answer).toStartWith('HTTP/1.1 400 ');
    expect(answer).toContain('the body has stalled for 1 s');
    expect([existsSync(path), partsIn(sandbox.directory)]).toEqual([false, []]);
  },
  { env: { SVC_BODY_STALL_SECONDS: '1' } },
);

test(
  'PROMISE-5 an upload to a full disk answers 507, and the old file is whole',
  async ({ sandbox }) => {
    const path = join(sandbox.runtimeDirectory, 'target');
    writeFileSync(insideRuntime(sandbox, 'target'), 'the old content');
    const large = Buffer.alloc(2_000_000, 'x');
    const bodies = [
      () => send(sandbox, large, 'application/octet-stream', `?${query(path)}`),
      () =>
        sendForm(sandbox, [
          { name: 'path', content: path },
          { ...file, content: large },
        ]),
      () =>
        sendForm(sandbox, [
          { ...file, content: large },
          { name: 'path', content: path },
        ]),
    ];
    for (const upload of bodies) {
      const { status, body } = await upload();
      expect([status, body.data['error_type'], body.data['errno_name']]).toEqual([507, 'no_space_left', 'ENOSPC']);
      expect(body.data).toMatchObject({ operation: 'upload', errno: 28, exception_type: 'OSError', retryable: false });
      expect(body.hint).toBe('Free some space and try again. The earlier content is intact.');
      expect(readFileSync(insideRuntime(sandbox, 'target'), 'utf8')).toBe('the old content');
      expect(partsIn(insideRuntime(sandbox))).toEqual([]);
    }
    fillDisk(sandbox);
    expect((await send(sandbox, Buffer.from('y'), 'text/plain', `?${query(path)}`)).status).toBe(507);
    freeDisk(sandbox);
    expect((await send(sandbox, Buffer.from('y'), 'text/plain', `?${query(path)}`)).status).toBe(200);
  },
  onSmallDisk(),
);
