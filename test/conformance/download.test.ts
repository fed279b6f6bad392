/** Downloads of files of any size: whole, in part, compressed, conditional, and while the file changes. */
import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { send } from '../harness/form.ts';
import { expect, test, type EnvelopeBody, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const query = (path: string) => `path=${encodeURIComponent(path)}`;

async function get(
  sandbox: Sandbox,
  path: string,
  headers: Record<string, string> = {},
  more = '',
): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const response = await sandbox.fetch(`GET /v2/fs/download?${query(path)}${more}`, undefined, {
    headers: { 'accept-encoding': 'identity', ...headers },
    decompress: false,
  } as RequestInit);
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const sizes = [0, 1, 1024 * 1024, 1024 * 1024 + 1, 20_000_000];
test('FILE-13 GET /v2/fs/download sends the raw bytes of files of every size, and HEAD their headers', async ({
  sandbox,
}) => {
  for (const size of sizes) {
    const path = join(sandbox.directory, `file-${size}.bin`);
    const content = randomBytes(size);
    writeFileSync(path, content);
    for (const policy of ['ignore', 'abort']) {
      const { status, headers, bytes } = await get(sandbox, path, {}, `&change_policy=${policy}`);
      expect([status, bytes.equals(content)]).toEqual([200, true]);
      const isStream = policy === 'abort' && size > 1024 * 1024;
      expect(headers.get('content-length')).toBe(isStream ? null : String(size));
      expect(headers.get('content-type')).toBe('application/octet-stream');
      expect(headers.get('accept-ranges')).toBe('bytes');
      expect(headers.get('content-disposition')).toStartWith(`attachment; filename="file-${size}.bin"`);
    }
    const head = await sandbox.fetch(`HEAD /v2/fs/download?${query(path)}`);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)]);
    expect(await head.text()).toBe('');
  }
});

test('FILE-13 Content-Disposition carries a name of any script', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'naïve "file" 100% 日本.txt');
  writeFileSync(path, 'x');
  const { headers } = await get(sandbox, path);
  expect(headers.get('content-disposition')).toBe(
    'attachment; filename="na_ve _file_ 100_ __.txt"; ' +
      "filename*=UTF-8''na%C3%AFve%20%22file%22%20100%25%20%E6%97%A5%E6%9C%AC.txt",
  );
});

const ranges: readonly (readonly [range: string, status: number, from: number, to: number])[] = [
  ['bytes=0-0', 206, 0, 1],
  ['bytes=10-19', 206, 10, 20],
  ['bytes=99990-', 206, 99_990, 100_000],
  ['bytes=-5', 206, 99_995, 100_000],
  ['bytes=-200000', 206, 0, 100_000],
  ['bytes=50000-9999999', 206, 50_000, 100_000],
  ['BYTES=1-2', 206, 1, 3],
  ['bytes=0-1,5-6', 200, 0, 100_000],
  ['lines=0-1', 200, 0, 100_000],
  ['bytes=100000-', 416, 0, 0],
  ['bytes=-0', 416, 0, 0],
  ['bytes=5-4', 416, 0, 0],
  ['bytes=a-b', 416, 0, 0],
  ['bytes=', 416, 0, 0],
  ['bytes=0-1,x', 416, 0, 0],
];

test('FILE-13 a range returns a part, several ranges return the whole file, and an empty range is 416', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'file');
  const content = randomBytes(100_000);
  writeFileSync(path, content);
  for (const [range, status, from, to] of ranges) {
    const reply = await get(sandbox, path, { range });
    expect([range, reply.status]).toEqual([range, status]);
    const contentRange = reply.headers.get('content-range');
    if (status === 416) {
      expect(contentRange).toBe('bytes */100000');
      const { data, message, hint } = JSON.parse(reply.bytes.toString()) as EnvelopeBody;
      const facts = { error_type: 'bad_request', errno_name: 'EINVAL', operation: 'download', path, retryable: false };
      expect(data).toMatchObject({ ...facts, size: 100_000 });
      expect(message).toBe(`${path}: has 100000 bytes, and none of them is in the range ${JSON.stringify(range)}`);
      expect(hint).toBe('Ask for bytes=0-99999, for bytes=-N, the last N, or for the whole without Range.');
      continue;
    }
    expect(contentRange).toBe(status === 206 ? `bytes ${from}-${to - 1}/100000` : null);
    expect(reply.headers.get('content-length')).toBe(String(to - from));
    expect(reply.bytes.equals(content.subarray(from, to))).toBe(true);
  }
});

test('FILE-13 a large range has exact bounds', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'file');
  const content = randomBytes(9_000_000);
  writeFileSync(path, content);
  for (const policy of ['ignore', 'abort']) {
    const more = `&change_policy=${policy}`;
    const { status, headers, bytes } = await get(sandbox, path, { range: 'bytes=1000001-8000000' }, more);
    expect([status, headers.get('content-range')]).toEqual([206, 'bytes 1000001-8000000/9000000']);
    expect(bytes.equals(content.subarray(1_000_001, 8_000_001))).toBe(true);
  }
});

test('FILE-13 conditions: an unchanged file is 304, a failed precondition 409, a stale If-Range the whole file', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'file.txt');
  writeFileSync(path, 'x'.repeat(5000));
  const { headers } = await get(sandbox, path);
  const etag = headers.get('etag') ?? '';
  const modified = headers.get('last-modified') ?? '';
  const later = new Date(Date.parse(modified) + 5000).toUTCString();
  const earlier = new Date(Date.parse(modified) - 5000).toUTCString();
  const cases: readonly (readonly [Record<string, string>, number])[] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `"other", W/${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"other"', 'if-modified-since': later }, 200],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': earlier }, 200],
    [{ 'if-modified-since': 'some day' }, 200],
    [{ 'if-match': etag }, 200],
    [{ 'if-match': '"other"' }, 409],
    [{ 'if-unmodified-since': earlier }, 409],
    [{ 'if-range': etag, range: 'bytes=0-9' }, 206],
    [{ 'if-range': modified, range: 'bytes=0-9' }, 206],
    [{ 'if-range': '"other"', range: 'bytes=0-9' }, 200],
    [{ 'if-range': earlier, range: 'bytes=0-9' }, 200],
  ];
  for (const [asked, status] of cases) {
    const reply = await get(sandbox, path, asked);
    expect([asked, reply.status]).toEqual([asked, status]);
    if (status === 304) expect([reply.bytes.length, reply.headers.get('etag')]).toEqual([0, etag]);
  }
  appendFileSync(path, 'y');
  expect((await get(sandbox, path, { 'if-none-match': etag })).status).toBe(200);
});

test('FILE-13 text is compressed for clients that accept it, under its own etag; a range and a small file are not', async ({
  sandbox,
}) => {
  for (const size of [5000, 5_000_000]) {
    const path = join(sandbox.directory, `${size}.json`);
    const content = Buffer.from('{"some": "json"}\n'.repeat(size / 10)).subarray(0, size);
    writeFileSync(path, content);
    for (const [accepted, coding, decode] of [
      ['gzip', 'gzip', gunzipSync],
      ['gzip;q=0.5, zstd', 'zstd', zstdDecompressSync],
      ['br, *;q=0.1, zstd;q=0', 'gzip', gunzipSync],
    ] as const) {
      const { headers, bytes } = await get(sandbox, path, { 'accept-encoding': accepted });
      expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([coding, 'Accept-Encoding']);
      expect(decode(bytes).equals(content)).toBe(true);
      const etag = headers.get('etag') ?? '';
      expect(etag).toEndWith(`-${coding}"`);
      const again = await get(sandbox, path, { 'accept-encoding': accepted, 'if-none-match': etag });
      expect(again.status).toBe(304);
    }
    const part = await get(sandbox, path, { 'accept-encoding': 'gzip', range: 'bytes=0-1999' });
    expect([part.status, part.headers.get('content-encoding'), part.bytes.length]).toEqual([206, null, 2000]);
    expect((await get(sandbox, path, { 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding')).toBe(null);
  }
  const small = join(sandbox.directory, 'small.json');
  writeFileSync(small, '{}');
  expect((await get(sandbox, small, { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBe(null);
  const image = join(sandbox.directory, 'image.png');
  writeFileSync(image, Buffer.alloc(5000));
  expect((await get(sandbox, image, { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBe(null);
});

/** A client that reads the first bytes, then nothing until the test requests the rest. */
async function readSlowly(sandbox: Sandbox, target: string): Promise<{ rest(): Promise<Buffer> }> {
  const { hostname, port } = new URL(sandbox.url);
  const socket = connect({ port: Number(port), host: hostname });
  const pieces: Buffer[] = [];
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined); // The test expects the connection to break.
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await new Promise<void>((resolve) => {
    socket.once('data', (piece: Buffer) => {
      socket.pause();
      pieces.push(piece);
      resolve();
    });
  });
  return {
    async rest() {
      socket.on('data', (piece: Buffer) => pieces.push(piece));
      socket.resume();
      await ended;
      return Buffer.concat(pieces);
    },
  };
}

const large = 64 * 1024 * 1024;
/** The runtime checks for idle connections every 4 seconds. */
const longerThanIdleMs = 6000;

test('FILE-13 a file that replaces the one being sent does not mix with it', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'file');
  writeFileSync(path, Buffer.alloc(large, 'a'));
  const slow = await readSlowly(sandbox, `/v2/fs/download?${query(path)}`);
  writeFileSync(`${path}.new`, Buffer.alloc(large, 'b'));
  renameSync(`${path}.new`, path);
  const all = await slow.rest();
  const start = all.indexOf('\r\n\r\n') + 4;
  expect(all.length - start).toBe(large);
  expect(all.indexOf('b', start)).toBe(-1);
});

test('FILE-13 change_policy=abort stops the download when the file changes, with a log line', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'file');
  writeFileSync(path, Buffer.alloc(large, 'a'));
  const slow = await readSlowly(sandbox, `/v2/fs/download?${query(path)}&change_policy=abort`);
  appendFileSync(path, 'b');
  const all = await slow.rest();
  expect(all.toString('latin1', all.length - 7)).not.toBe('\r\n0\r\n\r\n');
  expect(all.length).toBeLessThan(large);
  const line = () => sandbox.logLines().find((entry) => entry['broken_off'] !== undefined);
  await until('the log has the line', () => line() !== undefined);
  expect(line()).toMatchObject({ route: '/v2/fs/download', broken_off: `${path}: has changed while it was read` });
});

for (const policy of ['ignore', 'abort']) {
  test(
    `FILE-13 a download stops when its file shrinks (${policy})`,
    async ({ sandbox }) => {
      const path = join(sandbox.directory, 'file');
      writeFileSync(path, Buffer.alloc(large, 'a'));
      const slow = await readSlowly(sandbox, `/v2/fs/download?${query(path)}&change_policy=${policy}`);
      truncateSync(path, 1_000_000);
      const all = await slow.rest();
      expect(all.length).toBeLessThan(large);
      expect(all.toString('latin1', all.length - 7)).not.toBe('\r\n0\r\n\r\n');
    },
    { args: ['--idle-seconds', '1'] },
  );
}

test(
  'FILE-13 a client that pauses longer than the idle timeout still gets the rest',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'file');
    writeFileSync(path, Buffer.alloc(large, 'a'));
    const slow = await readSlowly(sandbox, `/v2/fs/download?${query(path)}`);
    await Bun.sleep(longerThanIdleMs);
    const all = await slow.rest();
    expect(all.length - all.indexOf('\r\n\r\n') - 4).toBe(large);
  },
  { args: ['--idle-seconds', '1'] },
);

test('FILE-13 a client that disconnects during a download leaves nothing open', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'file.txt');
  writeFileSync(path, Buffer.alloc(large, 'a'));
  for (const [policy, coding] of [
    ['ignore', 'identity'],
    ['abort', 'identity'],
    ['ignore', 'gzip'],
  ] as const) {
    const gone = new AbortController();
    const response = await sandbox.fetch(`GET /v2/fs/download?${query(path)}&change_policy=${policy}`, undefined, {
      headers: { 'accept-encoding': coding },
      signal: gone.signal,
    });
    await response.body?.getReader().read();
    gone.abort();
  }
  await until('the file is closed', () => !sandbox.descriptors().includes(path));
});

test('FERR-1 bad download requests get their exact answers', async ({ sandbox }) => {
  const at = (name: string) => join(sandbox.directory, name);
  symlinkSync('nowhere', at('dangling'));
  symlinkSync('loop', at('loop'));
  for (const [path, status, errno, type, kind] of [
    [at('absent'), 404, 'ENOENT', 'not_found', 'FileNotFoundError'],
    [at('dangling'), 404, 'ENOENT', 'not_found', 'FileNotFoundError'],
    [at('loop'), 400, 'ELOOP', 'invalid_path', 'OSError'],
    [sandbox.directory, 400, 'EISDIR', 'invalid_target', 'IsADirectoryError'],
    ['/dev/zero', 400, 'EINVAL', 'invalid_target', 'OSError'],
    [`/tmp/${'n'.repeat(256)}`, 400, 'ENAMETOOLONG', 'invalid_path', 'OSError'],
  ] as const) {
    const { status: got, bytes } = await get(sandbox, path);
    const { data, hint } = JSON.parse(bytes.toString()) as EnvelopeBody;
    expect([path, got]).toEqual([path, status]);
    expect(data).toMatchObject({ errno_name: errno, error_type: type, exception_type: kind, operation: 'download' });
    expect(Object.keys(data).toSorted()).toEqual(
      [
        'code',
        'errno',
        'errno_name',
        'error_type',
        'exception_type',
        'message',
        'operation',
        'path',
        'retryable',
      ].toSorted(),
    );
    expect(hint).not.toBe(null);
  }
  const wrong = await sandbox.request('GET /v2/fs/download?path=/etc/passwd&change_policy=maybe');
  expect([wrong.status, wrong.body.errors?.[0]?.type]).toEqual([422, 'enum']);
});

test('FILE-13 kernel files of reported size zero are sent whole', async ({ sandbox }) => {
  const { bytes, headers } = await get(sandbox, '/proc/version');
  expect(bytes.toString()).toBe(readFileSync('/proc/version', 'utf8'));
  expect(headers.get('content-length')).toBe(String(bytes.length));
});

test('FILE-13 a file returns unchanged, whichever route uploads and downloads it', async ({ sandbox }) => {
  const content = randomBytes(30_000_000);
  const path = join(sandbox.directory, 'round trip');
  await send(sandbox, content, 'application/octet-stream', `?${query(path)}`);
  expect(sha256((await get(sandbox, path)).bytes)).toBe(sha256(content));
});
