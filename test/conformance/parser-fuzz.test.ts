/** Sends a few hundred damaged requests, each made from a valid one, and finds no parser that breaks. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { archive, pax } from '../harness/archive.ts';
import { many } from '../harness/counts.ts';
import { damage } from '../harness/damage.ts';
import { within } from '../harness/fair-clock.ts';
import { showFigures } from '../harness/figures.ts';
import { form, formType } from '../harness/form.ts';
import { headOf, statusOf } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { seed } from '../harness/seed.ts';
import { numbers } from '../harness/terminal-fuzz-bytes.ts';

/** Of each valid request. */
const variants = many(28);
const answerWithinMs = 10_000;
const key = 'key-of-parser-fuzz';
/** Not a fault of the daemon: what is not built in, is absent here, or finds no room. */
const permitted: ReadonlySet<number> = new Set([501, 503, 507]);

/** A valid request whose `«marked»` text is damaged, in the target, a header or the body. */
interface Sample {
  readonly line: string;
  readonly headers?: readonly string[];
  /** Sent as it is before the damaged part. */
  readonly beginning?: Uint8Array;
  readonly damaged?: string | Uint8Array;
}

type Change = (bytes: Uint8Array) => Buffer;

/** Changes the marked text without breaking the line that holds it. */
function changeMarked(line: string, change: Change, forbidden: RegExp): string {
  return line.replaceAll(/«(.*?)»/gs, (_, text: string) =>
    change(Buffer.from(text, 'latin1')).toString('latin1').replaceAll(forbidden, '~'),
  );
}

function requestOf({ line, headers = [], beginning = new Uint8Array(), damaged }: Sample, change: Change): Buffer {
  const body = Buffer.concat([beginning, damaged === undefined ? Buffer.alloc(0) : change(Buffer.from(damaged))]);
  const usual = ['Host: localhost', 'Connection: close'];
  const has = (name: string) => headers.some((header) => header.startsWith(name));
  const head = [
    // oxlint-disable-next-line no-control-regex -- a control character would end the line or the target
    `${changeMarked(line, change, /[\0-\x20\x7f]/g)} HTTP/1.1`,
    ...usual.filter((header) => !has(header.slice(0, header.indexOf(' ')))),
    ...['User-Agent: fuzz', `X-Api-Key: ${key}`],
    // oxlint-disable-next-line no-control-regex -- as above
    ...headers.map((header) => changeMarked(header, change, /[\0\r\n]/g)),
    ...(damaged === undefined ? [] : [`Content-Length: ${body.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

const json = (line: string, value: unknown): Sample => ({
  line,
  headers: ['Content-Type: application/json'],
  damaged: JSON.stringify(value),
});

function jsonBodies(path: string): Sample[] {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'sandbox_file_operations', arguments: { action: 'list', path } },
  };
  return [
    json('POST /v2/commands/sessions', { cwd: path, env: { A: '1', B: null } }),
    json('POST /v2/commands/fuzz/kill', { signal: 'TERM' }),
    json('POST /v2/commands/fuzz/stdin', { input_base64: 'aGk=', offset: 0 }),
    json('POST /v2/fs/grep', { path, pattern: 'a(b|c)+', include: ['*.txt'], context_before: 1, max_results: 5 }),
    json('POST /v2/fs/edit', { path: `${path}/a.txt`, old_str: 'no such text', new_str: 'é\ud83d\ude00', line: 1 }),
    json('POST /v2/browser/actions', { action_type: 'CLICK', x: 1, y: 2.5, button: 'left' }),
    json('POST /v2/computer/actions/batch', {
      actions: [{ action_type: 'TYPING', text: 'a' }],
      include_screenshot: true,
    }),
    json('POST /v1/file/list', { path, recursive: true, sort_by: 'name', file_types: ['.txt'] }),
    json('POST /v1/file/read', { file: `${path}/a.txt`, start_line: 0, end_line: 2 }),
    json('POST /v1/bash/output', { session_id: 'fuzz', offset: 0, wait: false }),
    json('POST /v1/file/str_replace_editor', { command: 'view', path: `${path}/a.txt`, view_range: [1, 2] }),
    json('POST /mcp', call),
    json('POST /mcp', [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, call]),
    json('POST /mcp', { jsonrpc: '2.0', id: 'a', method: 'initialize', params: { protocolVersion: '2025-06-18' } }),
    { ...json('POST /mcp', call), headers: ['MCP-Protocol-Version: «2025-06-18»', 'Accept: «text/event-stream, */*»'] },
  ];
}

function uploads(path: string): Sample[] {
  const field = form([{ name: 'path', content: `${path}/in` }], '');
  const file = form([{ name: 'file', fileName: 'a.bin', content: 'content' }]);
  const upload = `POST /v2/fs/upload?path=${path}/in`;
  const tree = `PUT /v2/fs/tree?path=${path}/tree`;
  const tar = Buffer.concat([
    pax({ path: 'long/ä', 'SCHILY.xattr.user.a': 'b', mtime: '1.5' }),
    archive([
      { name: 'f', content: 'x' },
      { name: 'l', flag: '2', target: 'f' },
      { name: 'd', flag: '5' },
    ]),
  ]);
  const form1 = ['Content-Type: multipart/form-data; boundary=the-boundary'];
  return [
    { line: upload, headers: form1, damaged: file },
    { line: upload, headers: form1, damaged: file.subarray(0, 90) },
    { line: upload, headers: [`Content-Type: «${formType}»`], damaged: file },
    { line: 'POST /v1/file/upload', headers: form1, beginning: field, damaged: file },
    { line: tree, headers: ['Content-Type: application/x-tar'], damaged: tar },
    { line: tree, headers: ['Content-Type: application/x-tar'], damaged: tar.subarray(0, 700) },
    { line: tree, headers: ['Content-Type: «application/x-tar»', 'Content-Encoding: «gzip»'], damaged: gzipSync(tar) },
    { line: tree, headers: ['Content-Encoding: gzip'], damaged: gzipSync(tar) },
    { line: tree, headers: ['Content-Encoding: zstd'], damaged: zstdCompressSync(tar) },
  ];
}

function queries(path: string): Sample[] {
  const lines = [
    `GET /v2/fs/list?path=«${path}»&«recursive=true&max_depth=2»&sort=name`,
    `GET /v2/fs/search?path=${path}&pattern=«**/*.{txt,md}»&«type=file&ignore=a»`,
    `GET /v2/fs/list?path=${path}&limit=1&cursor=«eyJhIjoxfQ»`,
    `GET /v2/commands/fuzz?offset=«0»&«wait=true&wait_timeout=0»&limit_bytes=«10»&encoding=«base64»`,
    `GET /v2/commands/«fuzz»?«stream=true»`,
    `GET /v2/fs/tree?path=${path}&«format=tar.gz&exclude=%2A.txt»`,
    `GET /v2/computer/screenshot?«format=png&quality=1&scale_to=640x480»`,
    `GET /«v2/fs/stat?path=%2Ftmp%2F%C3%A4»`,
    `GET /v1/sandbox/packages/«python?lang=%70»`,
    `GET /?«api_key=a»`,
  ];
  return lines.map((line) => ({ line }));
}

function headers(path: string): Sample[] {
  const values: readonly [string, string][] = [
    [`GET /v2/fs/download?path=${path}/a.txt`, 'Range: «bytes=0-1»'],
    [`GET /v2/fs/download?path=${path}/a.txt`, 'If-Range: «"0-1"»\r\nRange: bytes=0-'],
    [`GET /v2/fs/download?path=${path}/a.txt`, 'If-None-Match: «W/"a", *»'],
    [`GET /v2/fs/download?path=${path}/a.txt`, 'If-Match: «"a", "b"»'],
    [`GET /v2/fs/download?path=${path}/a.txt`, 'If-Modified-Since: «Sun, 06 Nov 1994 08:49:37 GMT»'],
    [`GET /v2/fs/download?path=${path}/a.txt`, 'If-Unmodified-Since: «Sunday, 06-Nov-94 08:49:37 GMT»'],
    [`GET /v2/fs/list?path=${path}`, 'Accept: «application/json;q=0.5, text/*;q=1»'],
    [`GET /v2/fs/list?path=${path}`, 'Accept-Encoding: «gzip;q=0, br, *»'],
    ['GET /v2/commands/fuzz?stream=true', 'Accept: «text/event-stream»\r\nLast-Event-ID: «2»'],
    ['GET /v2/commands', 'Authorization: «Bearer YQ==»'],
    ['GET /v2/commands', 'Cookie: «svc_key="a%20b"; session=1»'],
    ['GET /v2/commands', 'Host: «box.example:8080»'],
    ['GET /v2/commands', 'Origin: «https://app.example:443»'],
    ['GET /v2/commands', 'Referer: «http://localhost/a?b#c»\r\nSec-Fetch-Site: «same-site»'],
    ['OPTIONS /v2/commands', 'Origin: https://app.example\r\nAccess-Control-Request-Headers: «x-a, x-b»'],
    [
      'GET /v2/commands',
      'Traceparent: «00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01»\r\nX-Request-Id: «a.b»',
    ],
    ['GET /internal/auth', 'X-Original-URI: «/v2/commands?api_key=a»\r\nCookie: «a=b»'],
    ['POST /v2/commands/sessions', 'Content-Type: «application/json; charset="utf-8"»\r\nContent-Length: 0'],
  ];
  return values.map(([line, header]) => ({ line, headers: [header] }));
}

function upgrades(terminal: string): Sample[] {
  const socket = ['Upgrade: «websocket»', 'Sec-WebSocket-Version: «13»', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  const accepted = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: «dGhlIHNhbXBsZSBub25jZQ==»'];
  const line = `GET /v2/pty/sessions/${terminal}/ws`;
  return [
    { line, headers: ['Connection: Upgrade', ...socket] },
    { line, headers: ['Connection: «keep-alive, Upgrade»', ...accepted] },
    {
      line: `${line}?«protocol=svc.v2&mode=rw&offset=0»&cols=«80»&rows=«24»`,
      headers: ['Connection: Upgrade', ...accepted],
    },
    { line, headers: ['Connection: Upgrade', ...accepted, 'Sec-WebSocket-Protocol: «svc.v2, svc.key.YQ»'] },
    { line, headers: ['Connection: Upgrade', ...accepted, 'Sec-WebSocket-Extensions: «permessage-deflate; a="b"»'] },
    { line: `GET /v1/shell/ws?«session_id=${terminal}»`, headers: ['Connection: Upgrade', ...accepted] },
  ];
}

function prepare(sandbox: Sandbox): string {
  const path = join(sandbox.directory, 'files');
  for (const name of ['', 'in', 'tree']) mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, 'a.txt'), 'abc\nabcabc\n');
  return path;
}

test(
  'HTTP-PARSE no damaged body, query, header, upgrade, message or archive is answered as a fault of the daemon',
  async ({ sandbox }) => {
    const path = prepare(sandbox);
    const headersOfTest = { 'x-api-key': key };
    await sandbox.ok('POST /v2/commands', { command: 'echo hi', command_id: 'fuzz' }, headersOfTest);
    const terminal = await sandbox.ok('POST /v2/pty/sessions', { cwd: path }, headersOfTest);
    const id = String(terminal['id']);
    // Forms and archives have the most ways to break.
    const bodies = [...uploads(path), ...uploads(path), ...uploads(path), ...jsonBodies(path)];
    const samples = [...bodies, ...queries(path), ...headers(path), ...upgrades(id)];

    const next = numbers(seed);
    const counts: Record<number, number> = {};
    for (let n = 0; n < variants * samples.length; n++) {
      // The first round is sent as it is, which shows that the requests come past the first checks.
      const change: Change = n < samples.length ? Buffer.from : (bytes) => damage(bytes, next);
      const request = requestOf(samples[n % samples.length]!, change);
      const head = await within(`answer ${n}`, headOf(sandbox.url, request), answerWithinMs);
      const status = statusOf(head);
      counts[status] = (counts[status] ?? 0) + 1;
      const isRight = status < 500 || permitted.has(status);
      if (!isRight) throw new Error(`request ${n}: ${JSON.stringify(request.toString('latin1'))}\n${head}`);
    }

    showFigures({ requests: variants * samples.length });
    expect(Object.keys(counts).map(Number)).toEqual(expect.arrayContaining([101, 200, 206, 400, 422]));
    await sandbox.ok(`DELETE /v2/pty/sessions/${id}`, undefined, headersOfTest);
  },
  { env: { SVC_API_KEY: key, SVC_ALLOWED_HOSTS: 'box.example', SVC_CORS_ORIGINS: 'https://app.example' } },
);
