/** Files of agent-sandbox, with requests that no client sends. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { portsOf, rootOf, urlOf, withAgentSandbox } from '../harness/agent-sandbox.ts';
import { exchange } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const options = withAgentSandbox({
  prepare(sandbox) {
    const root = rootOf(sandbox);
    mkdirSync(join(root, 'folder'), { recursive: true });
    writeFileSync(join(root, 'folder/file.txt'), '0123456789', { mode: 0o640 });
    utimesSync(join(root, 'folder/file.txt'), 1_700_000_000, 1_700_000_000);
    symlinkSync('/etc', join(root, 'out'));
    symlinkSync('/etc/passwd', join(root, 'out-file'));
    symlinkSync('folder/file.txt', join(root, 'in'));
    symlinkSync('nothing', join(root, 'broken'));
    symlinkSync('loop', join(root, 'loop'));
  },
});

/** On a connection of its own, which ends with the answer. */
const ask = (url: string, request: RequestInit = {}) => fetch(url, { ...request, keepalive: false });

/** The status and the body of a request with this target, as the bytes are. */
async function raw(sandbox: Sandbox, method: string, target: string, body = ''): Promise<[number, string]> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
  const answer = await exchange(urlOf(sandbox), `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const [first = '', rest = ''] = answer.split('\r\n\r\n', 2);
  return [Number(first.split(' ')[1]), rest];
}

const statusOf = async (sandbox: Sandbox, method: string, target: string, body?: string) =>
  (await raw(sandbox, method, target, body))[0];

const outside = [
  '..%2F..%2Fetc%2Fpasswd',
  '%2E%2E%2F%2E%2E%2Fetc%2Fpasswd',
  'folder%2F..%2F..%2F..%2Fetc',
  'out',
  'out%2Fpasswd',
  'out-file',
  'out/passwd',
];

test(
  'AGS-FILES every way out of the root is 403, and changes nothing',
  async ({ sandbox }) => {
    for (const path of outside)
      for (const method of ['GET', 'PUT'])
        expect([method, path, await statusOf(sandbox, method, `/v1/files/${path}`, 'x')]).toEqual([method, path, 403]);
    expect(await statusOf(sandbox, 'DELETE', '/v1/files/..%2F..%2Fetc')).toBe(403);
    expect(await statusOf(sandbox, 'DELETE', '/v1/files/out%2Fpasswd')).toBe(403);
    for (const target of ['/v1/files/../x', '/v1/files/%2e%2e/x', '/../etc/passwd'])
      expect([target, await statusOf(sandbox, 'GET', target)]).toEqual([target, 404]);
    expect(await statusOf(sandbox, 'PUT', '/v1/files/etc%2Fown', 'x')).toBe(204);
    expect(readFileSync(join(rootOf(sandbox), 'etc/own'), 'utf8')).toBe('x');
    expect(await statusOf(sandbox, 'GET', `/v1/files/${encodeURIComponent(join(rootOf(sandbox), 'etc/own'))}`)).toBe(
      200,
    );
  },
  options,
);

/** Replaces a file by a link out of the root and back, as fast as it can. */
const swapping = `const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
for (;;) {
  symlinkSync('/etc/passwd', 'link');
  renameSync('link', 'swapped');
  writeFileSync('file', 'inside');
  renameSync('file', 'swapped');
}`;

test(
  'AGS-FILES a link that is swapped in during a request does not lead out of the root',
  async ({ sandbox }) => {
    writeFileSync(join(rootOf(sandbox), 'swapped'), 'inside');
    await using swapper = Bun.spawn([process.execPath, '-e', swapping], { cwd: rootOf(sandbox) });
    const answers = new Set<string>();
    const urls = [`${urlOf(sandbox)}/v1/files/swapped`, `${urlOf(sandbox, 'legacy')}/download/swapped`];
    for (const url of Array.from({ length: 500 }, () => urls).flat()) {
      const answer = await ask(url);
      answers.add(`${answer.status} ${answer.ok ? await answer.text() : ''}`);
    }
    swapper.kill();
    answers.delete('400 '); // The link became a file before its text was read.
    expect([...answers].toSorted()).toEqual(['200 inside', '403 ']);
  },
  options,
);

test(
  'AGS-FILES a path has the answer of the protocol, however it is written',
  async ({ sandbox }) => {
    const rows: [string, string, number][] = [
      ['GET', '/v1/files/folder%2Ffile.txt', 200],
      ['GET', '/v1/files//folder/file.txt', 200],
      ['GET', '/v1/files/folder/file.txt/', 200],
      ['GET', '/v1/files', 200],
      ['GET', '/v1/files/', 200],
      ['GET', '/v1/files/.', 200],
      ['GET', '/v1/files/%2E', 200],
      ['HEAD', '/v1/files/in', 200],
      ['GET', '/v1/files/folder%2Ffile.txt%2Fx', 400],
      ['GET', '/v1/files/a%00b', 400],
      ['GET', '/v1/files/loop', 400],
      ['GET', '/v1/files/missing', 404],
      ['GET', '/v1/files/folder%252Ffile.txt', 404],
      ['PUT', '/v1/files/folder/new%0Aline', 204],
      ['GET', '/v1/files/folder%2Fnew%0Aline', 200],
      ['DELETE', '/v1/files/folder/new%0Aline', 204],
      ['GET', '/v1/files/broken', 404],
      ['PUT', '/v1/files/folder', 400],
      ['PUT', '/v1/files/new?mode=0999', 400],
      ['PUT', '/v1/files/new?mode=644', 400],
      ['DELETE', '/v1/files/folder', 409],
      ['DELETE', '/v1/files/folder?recursive=yes', 400],
      ['DELETE', '/v1/files/', 409],
      ['DELETE', '/v1/files/missing', 404],
      ['PATCH', '/v1/files/folder', 405],
      ['GET', '/v1/else', 404],
    ];
    for (const [method, target, status] of rows)
      expect([method, target, await statusOf(sandbox, method, target)]).toEqual([method, target, status]);
    expect(JSON.parse((await raw(sandbox, 'GET', '/v1/files/missing'))[1])).toEqual({
      code: 'NOT_FOUND',
      message: expect.stringContaining('missing') as string,
    });
  },
  options,
);

test(
  'AGS-FILES a listing shows links that stay inside, sorted, and a file has ranges and conditions',
  async ({ sandbox }) => {
    const url = `${urlOf(sandbox)}/v1/files/`;
    const listing = (await (await ask(url)).json()) as { path: string; entries: { name: string }[] };
    expect([listing.path, listing.entries.map(({ name }) => name)]).toEqual(['/', ['folder', 'in']]);
    expect(await (await ask(`${url}folder`)).json()).toEqual({
      path: '/folder',
      entries: [{ name: 'file.txt', size: 10, type: 'file', modified_at: '2023-11-14T22:13:20Z', mode: '0640' }],
    });
    const whole = await ask(`${url}in`);
    expect([whole.headers.get('content-type'), whole.headers.get('last-modified'), await whole.text()]).toEqual([
      'application/octet-stream',
      'Tue, 14 Nov 2023 22:13:20 GMT',
      '0123456789',
    ]);
    const part = await ask(`${url}in`, { headers: { range: 'bytes=2-4' } });
    expect([part.status, await part.text()]).toEqual([206, '234']);
    expect((await ask(`${url}in`, { headers: { range: 'bytes=99-' } })).status).toBe(416);
    const since = { 'if-modified-since': whole.headers.get('last-modified') ?? '' };
    expect((await ask(`${url}in`, { headers: since })).status).toBe(304);
  },
  options,
);

test(
  'AGS-FILES a file is written in one step, raw or from a form, and its mode is set',
  async ({ sandbox }) => {
    const at = (path: string) => join(rootOf(sandbox), path);
    const put = async (path: string, body: string | FormData) =>
      (await ask(`${urlOf(sandbox)}/v1/files/${path}`, { method: 'PUT', body })).status;
    expect(await put('a%2Fb%2Fraw?mode=0751', 'raw')).toBe(204);
    expect([readFileSync(at('a/b/raw'), 'utf8'), statSync(at('a/b/raw')).mode & 0o777]).toEqual(['raw', 0o751]);
    expect(await put('a/b/raw', 'again')).toBe(204);
    expect([readFileSync(at('a/b/raw'), 'utf8'), statSync(at('a/b/raw')).mode & 0o777]).toEqual(['again', 0o644]);
    const form = new FormData();
    form.append('other', new File(['other'], 'x'));
    form.append('file', new File(['form'], 'y'));
    expect(await put('form', form)).toBe(204);
    expect(readFileSync(at('form'), 'utf8')).toBe('form');
    const without = new FormData();
    without.append('other', 'x');
    expect(await put('none', without)).toBe(400);

    const cut = `PUT /v1/files/cut%2Foff HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf`;
    const socket = await Bun.connect({ hostname: '127.0.0.1', port: portsOf(sandbox).rest, socket: { data() {} } });
    socket.write(cut);
    socket.end();
    await until('the request has ended', () => sandbox.logLines().some(({ status }) => status === 400));
    expect(readdirSync(rootOf(sandbox)).filter((name) => /cut|svc-write/.test(name))).toEqual([]);
  },
  options,
);

test(
  'AGS-FILES a link is removed and what it leads to stays; the root is emptied and stays',
  async ({ sandbox }) => {
    for (const link of ['in', 'out-file', 'broken'])
      expect(await statusOf(sandbox, 'DELETE', `/v1/files/${link}`)).toBe(204);
    expect(readFileSync(join(rootOf(sandbox), 'folder/file.txt'), 'utf8')).toBe('0123456789');
    expect(statSync('/etc/passwd').size).toBeGreaterThan(0);
    expect(await statusOf(sandbox, 'DELETE', '/v1/files/?recursive=T')).toBe(204);
    expect(readdirSync(rootOf(sandbox))).toEqual([]);
    expect(readdirSync('/etc').length).toBeGreaterThan(0);
  },
  options,
);

test(
  'AGS-FILES the health and the metadata are those of the protocol, without what looks like a secret',
  async ({ sandbox }) => {
    const get = async (path: string) => (await ask(`${urlOf(sandbox)}${path}`)).json();
    expect(await get('/v1/health')).toEqual({ status: 'ok', uptime_seconds: expect.any(Number) as number });
    expect(await get('/v1/metadata')).toEqual({ env: { SANDBOX_ID: 'box' } });
  },
  withAgentSandbox({
    env: {
      SANDBOX_ID: 'box',
      SANDBOX_API_token: 'x',
      SANDBOX_MY_KEY_FILE: 'x',
      OTHER: 'x',
      SANDBOX_API_KEY: 'k'.repeat(20),
    },
  }),
);

test(
  'AGS-LEGACY the older interface is confined too, and refuses in its own words',
  async ({ sandbox }) => {
    const url = urlOf(sandbox, 'legacy');
    const get = async (path: string) => {
      const answer = await ask(`${url}${path}`);
      return [answer.status, await answer.json()];
    };
    expect((await get('/'))[0]).toBe(200);
    for (const path of ['/download/..%2F..%2Fetc%2Fpasswd', '/list/out', '/exists/out%2Fpasswd'])
      expect(await get(path)).toEqual([403, { message: 'Access denied' }]);
    expect(await get('/download/missing')).toEqual([404, { message: 'File not found' }]);
    expect((await get('/list/in'))[0]).toBe(404);
    expect(await get('/list/folder')).toEqual([
      200,
      [{ name: 'file.txt', size: 10, type: 'file', mod_time: 1_700_000_000 }],
    ]);
    expect(await get('/exists/folder%2Ffile.txt')).toEqual([200, { path: 'folder/file.txt', exists: true }]);
    const form = new FormData();
    form.append('file', new File(['x'], '../../outside'));
    expect((await ask(`${url}/upload`, { method: 'POST', body: form })).status).toBe(403);
    const execute = async (body: object) =>
      (await ask(`${url}/execute`, { method: 'POST', body: JSON.stringify(body) })).json();
    expect(await execute({ command: `printf '%s|' "a \\"b" c\\ d $HOME` })).toEqual({
      stdout: 'a "b|c d|$HOME|',
      stderr: '',
      exit_code: 0,
      timed_out: false,
    });
    expect(await execute({ command: '/no/such/program' })).toMatchObject({ exit_code: 1, timed_out: false });
    expect(await execute({ command: 'sleep 600', timeout_seconds: 0.2 })).toMatchObject({
      exit_code: 124,
      timed_out: true,
    });
    expect(await execute({ command: 'true', timeout_seconds: 1e9 })).toMatchObject({ exit_code: 0, timed_out: false });
    expect(await get('/exists/new%0Aline')).toEqual([200, { path: 'new\nline', exists: false }]);
    expect((await ask(`${url}/execute`, { method: 'POST', body: '{"command": "echo \\"x"}' })).status).toBe(400);
  },
  options,
);
