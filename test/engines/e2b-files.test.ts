/** Files through the protocol of E2B, for requests that no client sends. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { urlOf, withE2b } from '../harness/e2b.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const ask = (sandbox: Sandbox, path: string, query: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${urlOf(sandbox)}${path}?${new URLSearchParams(query).toString()}`, { keepalive: false, ...init });

const formOf = (...files: readonly (readonly [name: string, content: string])[]) => {
  const form = new FormData();
  form.append('note', 'ignored');
  for (const [name, content] of files) form.append('file', new Blob([content]), name);
  return form;
};

test(
  'E2B-TRANSFER the file of an upload is made, gets its owner and is written',
  async ({ sandbox }) => {
    const rpc = async (method: string, message: object) => {
      const init = { method: 'POST', body: JSON.stringify(message), headers: { 'content-type': 'application/json' } };
      return (await (await ask(sandbox, `/filesystem.Filesystem/${method}`, {}, init)).json()) as JsonObject;
    };
    const { watcherId = '' } = await rpc('CreateWatcher', { path: sandbox.directory });
    const headers = { 'content-type': 'application/octet-stream' };
    await ask(sandbox, '/files', { path: `${sandbox.directory}/sent` }, { method: 'POST', body: 'x', headers });
    const events: unknown[] = [];
    await until('three events have come', async () => {
      events.push(...(((await rpc('GetWatcherEvents', { watcherId }))['events'] ?? []) as unknown[]));
      return events.length >= 3;
    });
    const types = ['EVENT_TYPE_CREATE', 'EVENT_TYPE_CHMOD', 'EVENT_TYPE_WRITE'];
    expect(events).toEqual(types.map((type) => ({ name: 'sent', type })));
    await rpc('RemoveWatcher', { watcherId });
  },
  withE2b(),
);

test(
  'E2B-TRANSFER a request that is wrong changes nothing, and says why',
  async ({ sandbox }) => {
    const place = sandbox.directory;
    const post = async (query: Record<string, string>, init: RequestInit) => {
      const answer = await ask(sandbox, '/files', query, { method: 'POST', ...init });
      return [answer.status, await answer.json()];
    };
    const refused = (message: RegExp, code = 400) => [code, { code, message: expect.stringMatching(message) }];
    const bytes = (body: string | Uint8Array<ArrayBuffer>, headers: object = {}) => ({
      body,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
    const path = `${place}/new`;
    expect(await post({}, bytes('x'))).toEqual(refused(/\?path=/));
    expect(await post({ path }, { body: 'x', headers: { 'content-type': 'text/plain' } })).toEqual(
      refused(/octet-stream/),
    );
    expect(await post({ path }, bytes('x', { 'content-encoding': 'br' }))).toEqual(refused(/"br"/));
    expect(await post({ path }, bytes('x', { 'content-encoding': 'constructor' }))).toEqual(refused(/"constructor"/));
    expect(await post({ path }, bytes('x', { 'content-encoding': 'gzip' }))).toEqual(refused(/whole gzip/));
    expect(await post({ path }, bytes('x', { 'x-metadata-a': 'é' }))).toEqual(refused(/printable ASCII/));
    expect(await post({ path }, bytes('x', { 'x-metadata-a': 'y'.repeat(4096) }))).toEqual(refused(/4096 bytes/));
    expect(await post({ path: '~other/x' }, bytes('x'))).toEqual(refused(/another account/));
    symlinkSync(place, `${place}/link`);
    for (const same of [`${place}/./new`, `${place}/link/new`])
      expect(await post({}, { body: formOf([path, 'a'], [same, 'b']) })).toEqual(refused(/twice/));
    for (const names of [
      ['new', 'link/new/x'],
      ['new/x/y', 'new'],
    ])
      expect(
        await post({}, { body: formOf(...names.map((name): [string, string] => [`${place}/${name}`, 'a'])) }),
      ).toEqual(refused(/has no place/));
    expect(existsSync(path)).toBe(false);
    expect(await post({}, { body: formOf([path, 'a'], [place, 'b']) })).toEqual(refused(/directory/));
    expect(existsSync(path)).toBe(false);

    const gzip = Bun.gzipSync('raw');
    expect((await post({ path }, bytes(gzip)))[0]).toBe(200);
    expect(readFileSync(path)).toEqual(Buffer.from(gzip)); // Not decompressed, because no header says so.
    expect((await ask(sandbox, '/files', { path: `${place}/none` })).status).toBe(404);
    const none = { headers: { 'accept-encoding': 'identity;q=0, br' } };
    expect((await ask(sandbox, '/files', { path }, none)).status).toBe(406);
    const part = await ask(sandbox, '/files', { path }, { headers: { range: 'bytes=0-1' } });
    expect([part.status, await part.bytes(), part.headers.get('content-disposition')]).toEqual([
      206,
      gzip.slice(0, 2),
      `inline; filename="new"; filename*=UTF-8''new`,
    ]);
    expect(part.headers.get('content-security-policy')).toBe('sandbox');
  },
  withE2b(),
);

test(
  'E2B-TRANSFER a form lands many files; compose joins them; metrics say what the machine uses',
  async ({ sandbox }) => {
    const place = sandbox.directory;
    const names = Array.from({ length: 300 }, (_, i) => [`${place}/many/${i}`, String(i)] as const);
    const answer = await ask(sandbox, '/files', {}, { method: 'POST', body: formOf(...names) });
    expect(await answer.json()).toEqual(names.map(([path], i) => ({ name: String(i), path, type: 'file' })));
    const compose = async (source_paths: readonly string[], destination: string) => {
      const body = JSON.stringify({ source_paths, destination });
      const done = await ask(sandbox, '/files/compose', {}, { method: 'POST', body });
      return [done.status, (await done.json()) as JsonObject] as const;
    };
    const [one, two, joined] = [`${place}/many/1`, `${place}/many/2`, `${place}/new/joined`];
    expect(await compose([one, `${place}/none`], joined)).toMatchObject([404, { code: 404 }]);
    expect(await compose([one, place], joined)).toMatchObject([400, { code: 400 }]);
    expect(await compose([one, two], `${place}/many/../many/2`)).toMatchObject([400, { code: 400 }]);
    expect([existsSync(joined), existsSync(one)]).toEqual([false, true]);
    const again = `${place}/many/./2`;
    expect(await compose([two, one, again], joined)).toEqual([200, { name: 'joined', path: joined, type: 'file' }]);
    expect([readFileSync(joined, 'utf8'), existsSync(one), existsSync(two)]).toEqual(['212', false, false]);

    const use = (await (await ask(sandbox, '/metrics', {})).json()) as Record<string, number>;
    for (const [total, used] of [
      ['mem_total', 'mem_used'],
      ['disk_total', 'disk_used'],
    ] as const) {
      expect(use[total]).toBeGreaterThan(0);
      expect(use[used]).toBeWithin(1, use[total]!);
    }
    expect(use['cpu_count']).toBe(navigator.hardwareConcurrency);
    expect(use['cpu_used_pct']).toBeWithin(0, 101);
  },
  withE2b(),
);

test(
  'E2B-SIGNED a signature with the key, and only a whole and current one, opens a file',
  async ({ sandbox }) => {
    const path = `${sandbox.directory}/signed`;
    const signed = (operation: string, expiration?: number, key = 'secret') => {
      const until = expiration === undefined ? '' : `:${expiration}`;
      const hash = createHash('sha256')
        .update(`${path}:${operation}::${key}${until}`)
        .digest('base64')
        .replace('=', '');
      return { path, signature: `v1_${hash}`, ...(until && { signature_expiration: String(expiration) }) };
    };
    const now = Math.floor(Date.now() / 1000);
    const write = async (query: Record<string, string>, headers: Record<string, string> = {}) => {
      const type = { 'content-type': 'application/octet-stream' };
      return (await ask(sandbox, '/files', query, { method: 'POST', body: 'x', headers: { ...type, ...headers } }))
        .status;
    };
    const read = async (query: Record<string, string>) => (await ask(sandbox, '/files', query)).status;
    expect(await write({ path })).toBe(401);
    expect(await write(signed('read'))).toBe(401);
    expect(await write(signed('write', undefined, 'other'))).toBe(401);
    expect(await write(signed('write'), { 'x-access-token': 'wrong' })).toBe(401);
    expect(await write({ ...signed('write'), path: `${path}2` })).toBe(401);
    expect(await write({ ...signed('write'), signature: 'v1_' })).toBe(401);
    expect(await write(signed('write', now - 2))).toBe(401);
    expect(await write({ ...signed('write', now + 60), signature_expiration: String(now + 600) })).toBe(401);
    expect(existsSync(path)).toBe(false);
    expect(await write(signed('write', now + 60))).toBe(200);
    expect(await read(signed('read'))).toBe(200);
    expect(await read({ path })).toBe(401);
    expect(await write({ path }, { 'x-access-token': 'secret' })).toBe(200);
  },
  withE2b({ env: { SVC_API_KEY: 'secret' } }),
);
