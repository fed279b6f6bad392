/** The 1.x routes that receive and send whole files: forms as the clients build them, and bytes. */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { form, formType } from '../harness/form.ts';
import { exchange } from '../harness/raw-http.ts';
import { expect, test } from '../harness/sandbox.ts';
import { pathPart, uploadBody, uploadForm, uploadsOf } from '../harness/v1-files.ts';

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('V1FILE-15 a file is uploaded to its path, whichever part comes first, and arrives byte for byte', async ({
  sandbox,
}) => {
  const content = randomBytes(20_000_000);
  const path = join(sandbox.directory, 'made/on the way/ünï.bin');
  const parts = [{ name: 'file', content, fileName: 'other.bin' }, pathPart(path)];
  for (const order of [parts, parts.toReversed(), [{ name: 'extra', content: 'x' }, ...parts]]) {
    const { status, success, data } = await uploadForm(sandbox, order);
    expect([status, success, data]).toEqual([200, true, { file_path: path, file_size: 20_000_000, success: true }]);
    expect(digest(readFileSync(path))).toBe(digest(content));
    rmSync(path);
  }
  const directory = join(sandbox.directory, 'made');
  const named = await uploadForm(sandbox, [{ name: 'file', content: 'x', fileName: 'named.txt' }, pathPart(directory)]);
  expect(named.data).toEqual({ file_path: join(directory, 'named.txt'), file_size: 1, success: true });
  rmSync(uploadsOf(sandbox), { recursive: true });
});

test('V1FILE-15 without a path the file goes to the upload directory, under the name that its client gave', async ({
  sandbox,
}) => {
  const uploads = uploadsOf(sandbox);
  for (const [fileName, name] of [
    ['upload', 'upload'],
    ['blob', 'blob'],
    ['', 'upload'],
    ['../../etc/passwd', 'passwd'],
  ] as const) {
    for (const path of [[], [pathPart('')]]) {
      const { data } = await uploadForm(sandbox, [{ name: 'file', content: name, fileName }, ...path]);
      expect(data).toEqual({ file_path: join(uploads, name), file_size: name.length, success: true });
      expect(readFileSync(join(uploads, name), 'utf8')).toBe(name);
    }
  }
  rmSync(uploads, { recursive: true });
});

test('V1FILE-15 a request that is not a form with one file is refused, and leaves nothing', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'never');
  const file = { name: 'file', content: 'x', fileName: 'x' };
  const missing = [{ location: 'body.file', message: 'is required', type: 'missing' }];
  for (const [body, type, status, errors] of [
    [form([pathPart(path)]), formType, 422, missing],
    [Buffer.from('{"path":"/x"}'), 'application/json', 422, missing],
    [Buffer.of(), 'text/plain', 422, missing],
    [form([pathPart(path), file, file]), formType, 422, [{ location: 'body.file', message: 'appears twice' }]],
    [form([pathPart(path), { ...file, name: 'data' }]), formType, 422, [{ location: 'body.data' }]],
    [form([pathPart(path), file]).subarray(0, -20), formType, 400, undefined],
  ] as const) {
    const answer = await uploadBody(sandbox, body, type);
    expect([answer.status, answer.success, answer.errors]).toMatchObject([status, false, errors]);
  }
  const taken = await uploadForm(sandbox, [file, pathPart(join(sandbox.directory, 'runtime'))]);
  expect(taken.data).toMatchObject({ file_path: join(sandbox.directory, 'runtime/x') });
  rmSync(join(sandbox.directory, 'runtime/x'));
  const below = await uploadForm(sandbox, [file, pathPart('/dev/null/x')]);
  expect(below).toMatchObject({
    status: 200,
    success: false,
    data: { error_type: 'invalid_path', operation: 'upload' },
  });
  const impossible = await uploadForm(sandbox, [file, pathPart('a\0b')]);
  expect(impossible).toMatchObject({ status: 200, success: false, data: { error_type: 'invalid_path' } });
  expect(readdirSync(sandbox.directory).toSorted()).toEqual(['runtime', 'tmp']);
  rmSync(uploadsOf(sandbox), { recursive: true });
});

test('V1FILE-16 a file is sent as bytes, whole or in part, and never encoded', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'big.txt');
  const content = Buffer.from('line of text\n'.repeat(1_000_000));
  writeFileSync(path, content);
  const get = (query: string, headers = {}) => sandbox.fetch(`GET /v1/file/download?${query}`, undefined, { headers });
  const whole = await get(`path=${path}`, { 'accept-encoding': 'gzip, deflate, zstd' });
  expect([whole.status, whole.headers.get('content-type'), whole.headers.get('content-encoding')]).toEqual([
    200,
    'application/octet-stream',
    null,
  ]);
  expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="big.txt"; filename*=UTF-8''big.txt`);
  expect(digest(await whole.bytes())).toBe(digest(content));
  const part = await get(`path=${path}`, { range: 'bytes=13-16' });
  expect([part.status, await part.text()]).toEqual([206, 'line']);
  const beyond = await get(`path=${path}`, { range: 'bytes=99000000-' });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */13000000']);
  const head = await sandbox.fetch(`HEAD /v1/file/download?path=${path}`);
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)]);
  const pinned = await get(`path=${path}&change_policy=abort`);
  expect(digest(await pinned.bytes())).toBe(digest(content));
});

test('V1FILE-16 a download fails with HTTP status codes, and with all eight fields', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'absent');
  const message = `Failed to download file: [Errno 2] No such file or directory: '${path}'`;
  expect(await sandbox.request(`GET /v1/file/download?path=${path}`)).toMatchObject({
    status: 404,
    body: {
      success: false,
      message,
      data: {
        path,
        operation: 'download',
        message,
        error_type: 'not_found',
        retryable: false,
        errno: 2,
        errno_name: 'ENOENT',
        exception_type: 'FileNotFoundError',
      },
    },
  });
  const directory = await sandbox.request(`GET /v1/file/download?path=${sandbox.directory}`);
  expect([directory.status, directory.body.data['error_type']]).toEqual([400, 'invalid_target']);
  expect((await sandbox.request('GET /v1/file/download?path=')).body.data['error_type']).toBe('invalid_path');
  expect((await sandbox.request('GET /v1/file/download?path=/x&change_policy=wait')).status).toBe(422);
  writeFileSync(path, 'x');
  const stale = await sandbox.request(`GET /v1/file/download?path=${path}`, undefined, { 'if-match': '"other"' });
  expect([stale.status, stale.body.data['operation']]).toEqual([409, 'download']);
});

test('V1FILE-16 change_policy abort stops the transfer of a file that changes', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'changing');
  writeFileSync(path, Buffer.alloc(64_000_000, 'a'));
  const answer = await sandbox.fetch(`GET /v1/file/download?path=${path}&change_policy=abort`);
  const reader = answer.body?.getReader();
  await reader?.read();
  writeFileSync(path, Buffer.alloc(64_000_000, 'b'));
  let received = 0;
  const rest = async () => {
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
      received += piece.value.length;
  };
  const failure = await rest().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(received).toBeLessThan(64_000_000);
});

test('V1FILE-15 a form with only a Content-Length is read to its end', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'raw');
  const body = form([{ name: 'file', content: 'by hand', fileName: 'x' }, pathPart(path)]);
  const head = [
    'POST /v1/file/upload HTTP/1.1',
    'Host: 127.0.0.1',
    `Content-Type: ${formType}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  const answer = await exchange(sandbox.url, Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  expect(answer).toStartWith('HTTP/1.1 200 ');
  expect(readFileSync(path, 'utf8')).toBe('by hand');
  rmSync(uploadsOf(sandbox), { recursive: true });
});
