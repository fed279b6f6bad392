/** The behavior of file watchers for 1.x clients. */
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { sseMessages, type SseMessage } from '../harness/sse.ts';
import { until } from '../harness/until.ts';

function tree(sandbox: Sandbox): string {
  const root = join(sandbox.directory, 'tree');
  mkdirSync(root);
  return root;
}

/** The answer of a success, whose fields are in `data` and beside it. */
async function both(
  sandbox: Sandbox,
  route: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<JsonObject> {
  const reply = await sandbox.request(route, body, headers);
  if (reply.status !== 200) throw new Error(`${route}: ${reply.status} ${JSON.stringify(reply.body)}`);
  const { success, message, data, hint, ...top } = reply.body as unknown as Record<string, JsonObject>;
  expect([success, message, hint]).toEqual([true, 'Operation successful', null] as never);
  expect(top).toEqual(data ?? {});
  return data ?? {};
}

const watch = (sandbox: Sandbox, path: string, more: object = {}) =>
  both(sandbox, 'POST /v1/file/watch', { path, debounce: 50, ...more });

const wait = (sandbox: Sandbox, path: string, more: object = {}) =>
  sandbox.request('POST /v1/file/watch/wait', { path, timeout: 20, ...more });

test('V1WATCH-1 an invalid glob is refused', async ({ sandbox }) => {
  for (const field of ['include_patterns', 'exclude']) {
    const { status, body } = await sandbox.request('POST /v1/file/watch', { path: sandbox.directory, [field]: ['['] });
    const message = 'is not a glob: it has a [ without a ]';
    expect([status, body.errors]).toEqual([422, [{ location: `body.${field}.0`, message, type: 'value_error' }]]);
  }
});

test('V1WATCH-1 V1WATCH-2 V1WATCH-4 the guide’s sequence works: create, poll, poll again and delete', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const created = await both(sandbox, 'POST /v1/file/watch', {
    path: root,
    recursive: true,
    debounce: 200,
    exclude: ['.git', 'node_modules', 'dist', '.next'],
    include_patterns: ['*.py', '*.ts', '*.tsx', '*.json'],
  });
  const { watcher_id: id } = created;
  expect(created).toMatchObject({ path: root, recursive: true, debounce: 200, status: 'active', initial_cursor: 0 });
  mkdirSync(join(root, 'node_modules'));
  writeFileSync(join(root, 'node_modules/x.ts'), 'x');
  writeFileSync(join(root, 'notes.txt'), 'x');
  writeFileSync(join(root, 'app.ts'), 'hello');
  const page = await both(sandbox, `POST /v1/file/watch/${id}/poll`, { cursor: 0, limit: 100, timeout: 10 });
  expect(page).toEqual({
    events: [
      {
        ...{ seq: 1, type: 'create', path: join(root, 'app.ts'), relative_path: 'app.ts', old_path: null },
        ...{ is_dir: false, size: 5, inode: expect.any(Number) },
        ...{ timestamp: expect.any(Number), mtime: expect.any(Number) },
      },
    ],
    cursor: 1,
    overflow: false,
  });
  const [event] = page['events'] as JsonObject[];
  expect(Math.abs((event?.['timestamp'] as number) - Date.now() / 1000)).toBeLessThan(60);
  const again = await both(sandbox, `POST /v1/file/watch/${id}/poll`, { cursor: page['cursor'] });
  expect(again).toEqual({ events: [], cursor: 1, overflow: false });
  expect(await both(sandbox, `DELETE /v1/file/watch/${id}`)).toEqual({ watcher_id: id ?? null });
  for (const route of [`DELETE /v1/file/watch/${id}`, `GET /v1/file/watch/${id}/events`]) {
    expect((await sandbox.request(route)).status).toBe(404);
  }
  expect((await sandbox.request(`POST /v1/file/watch/${id}/poll`, {})).status).toBe(404);
});

test('V1WATCH-2 a poll accepts the older name of its cursor, and an absent body', async ({ sandbox }) => {
  const root = tree(sandbox);
  const { watcher_id: id } = await watch(sandbox, root);
  const poll = `POST /v1/file/watch/${id}/poll`;
  for (const name of ['a', 'b']) {
    writeFileSync(join(root, name), '');
    await until(`${name} is reported`, async () =>
      ((await both(sandbox, poll, {}))['events'] as JsonObject[]).some((event) => event['relative_path'] === name),
    );
  }
  const all = await both(sandbox, poll, '', { 'content-type': 'application/json' });
  expect(all['events']).toMatchObject([{ relative_path: 'a' }, { relative_path: 'b' }]);
  expect((await both(sandbox, poll, { since: 1 }))['events']).toMatchObject([{ relative_path: 'b' }]);
  expect(await both(sandbox, poll, { limit: 1 })).toMatchObject({ cursor: 1, events: [{ relative_path: 'a' }] });
  const waiting = both(sandbox, poll, { cursor: 2, timeout: 20 });
  renameSync(join(root, 'a'), join(root, 'c'));
  expect((await waiting)['events']).toMatchObject([
    { type: 'rename', path: join(root, 'c'), old_path: join(root, 'a') },
  ]);
});

test('V1WATCH-1 a watcher has the 1.x defaults, is listed, and is shared by equal requests', async ({ sandbox }) => {
  const root = tree(sandbox);
  const first = await both(sandbox, 'POST /v1/file/watch', { path: root });
  expect(first).toMatchObject({
    ...{ recursive: true, debounce: 300, include_patterns: [], reused: false },
    exclude: ['.git', 'node_modules', '__pycache__', '.venv', '*.pyc', '*.pyo', '.DS_Store', '*.swp', '*.swo'],
  });
  const second = await both(sandbox, 'POST /v1/file/watch', { file: root });
  expect(second).toMatchObject({ watcher_id: first['watcher_id'], reused: true });
  expect((await both(sandbox, 'GET /v1/file/watch'))['watchers']).toMatchObject([{ path: root, status: 'active' }]);
  await both(sandbox, `DELETE /v1/file/watch/${first['watcher_id']}`);
  await both(sandbox, `POST /v1/file/watch/${first['watcher_id']}/poll`, {});
  await both(sandbox, `DELETE /v1/file/watch/${first['watcher_id']}`);
  expect(await both(sandbox, 'GET /v1/file/watch')).toEqual({ watchers: [] });
});

test('V1WATCH-1 an unwatchable path is an HTTP error, and an invalid field is named', async ({ sandbox }) => {
  const missing = await sandbox.request('POST /v1/file/watch', { path: '/no/such' });
  expect(missing).toMatchObject({ status: 404, body: { success: false, data: { error_type: 'not_found', errno: 2 } } });
  const wrong = async (route: string, body: object) => {
    const reply = await sandbox.request(`POST /v1/file/watch${route}`, body);
    return [reply.status, reply.body.errors?.map(({ location, type }) => `${location} ${type}`)];
  };
  expect(await wrong('', {})).toEqual([422, ['body.path missing']]);
  expect(await wrong('/wait', {})).toEqual([422, ['body.path missing']]);
  expect(await wrong('', { path: '/', debounce: 49 })).toEqual([422, ['body.debounce too_small']]);
  expect(await wrong('', { path: 'a\0' })).toEqual([400, undefined]);
  expect(await wrong('', { path: '/', exclude: Array.from({ length: 257 }, String) })).toEqual([400, undefined]);
  expect(await wrong('', { path: '/', include_patterns: ['x'.repeat(1025)] })).toEqual([400, undefined]);
  expect(await wrong('/wait', { path: '/a', event_types: ['made'] })).toEqual([422, ['body.event_types.0 enum']]);
  expect(await wrong('/x/poll', { cursor: -1, limit: 1001, timeout: 61 })).toEqual([
    422,
    ['body.cursor too_small', 'body.limit too_large', 'body.timeout too_large'],
  ]);
});

test('V1WATCH-2 waiting for one file answers when it appears, or at once when it exists', async ({ sandbox }) => {
  const root = tree(sandbox);
  const file = join(root, 'result.json');
  const others = ['*', '[a]', 'result.json.tmp'].map((name) => join(root, name));
  const waiting = both(sandbox, 'POST /v1/file/watch/wait', {
    path: file,
    timeout: 30,
    event_types: ['create', 'write'],
  });
  await until('it waits', async () => ((await sandbox.ok('GET /v1/file/watch'))['watchers'] as unknown[]).length === 1);
  for (const other of others) writeFileSync(other, 'x');
  writeFileSync(file, '{}');
  expect(await waiting).toEqual({
    event: {
      ...{ seq: expect.any(Number), type: 'create', path: file, relative_path: 'result.json', old_path: null },
      ...{ is_dir: false, size: 2, inode: expect.any(Number) },
      ...{ timestamp: expect.any(Number), mtime: expect.any(Number) },
    },
  } as never);
  const there = await both(sandbox, 'POST /v1/file/watch/wait', { file });
  expect(there['event']).toMatchObject({ type: 'create', path: file, size: 2 });
  expect(await both(sandbox, 'GET /v1/file/watch')).toEqual({ watchers: [] });
});

test('V1WATCH-2 waiting supports each kind of event, and a file that appears by rename', async ({ sandbox }) => {
  const root = tree(sandbox);
  const file = join(root, 'result.json');
  const other = join(root, 'other');
  const during = async (types: string[], change: () => void) => {
    const waiting = wait(sandbox, file, { event_types: types });
    await until(
      'it waits',
      async () => ((await sandbox.ok('GET /v1/file/watch'))['watchers'] as unknown[]).length === 1,
    );
    change();
    const reply = await waiting;
    return [(reply.body as unknown as JsonObject)['event']?.type, reply.body.data['event']?.path];
  };
  expect(await during(['write'], () => writeFileSync(file, 'new'))).toEqual(['write', file]);
  expect(await during(['write'], () => appendFileSync(file, 'more'))).toEqual(['write', file]);
  expect(await during(['chmod'], () => chmodSync(file, 0o600))).toEqual(['chmod', file]);
  expect(await during(['rename'], () => renameSync(file, other))).toEqual(['rename', other]);
  expect(await during(['create'], () => renameSync(other, file))).toEqual(['create', file]);
  expect(await during(['remove'], () => renameSync(file, other))).toEqual(['remove', file]);
  expect(await during(['create'], () => mkdirSync(file))).toEqual(['create', file]);
  expect(await during(['remove'], () => rmSync(file, { recursive: true }))).toEqual(['remove', file]);
});

test('V1WATCH-2 a wait that times out, or whose directory is missing or removed, is reported', async ({ sandbox }) => {
  const root = tree(sandbox);
  const vain = await wait(sandbox, join(root, 'never'), { timeout: 1 });
  expect([vain.status, vain.body.message]).toEqual([503, 'timed out waiting for file event']);
  expect((await wait(sandbox, '/no/such/file')).status).toBe(404);
  expect((await wait(sandbox, '/')).status).toBe(400);
  const tooLong = await wait(sandbox, join(root, 'x'.repeat(256)));
  expect([tooLong.status, tooLong.body.data['errno_name']]).toEqual([400, 'ENAMETOOLONG']);
  const going = wait(sandbox, join(root, 'never'));
  await until('it waits', async () => ((await sandbox.ok('GET /v1/file/watch'))['watchers'] as unknown[]).length === 1);
  rmSync(root, { recursive: true });
  expect([(await going).status, (await going).body.message]).toEqual([503, expect.stringContaining('has gone')]);
  expect(await both(sandbox, 'GET /v1/file/watch')).toEqual({ watchers: [] });
});

test('V1WATCH-3 events are streamed as they occur, and resume after the last event seen', async ({ sandbox }) => {
  const root = tree(sandbox);
  const { watcher_id: id } = await watch(sandbox, root);
  const path = `/v1/file/watch/${id}/events`;
  const read = async (count: number, lastEventId?: string) => {
    const stop = new AbortController();
    const messages: SseMessage[] = [];
    for await (const message of sseMessages(sandbox, path, {
      signal: stop.signal,
      ...(lastEventId && { lastEventId }),
    })) {
      messages.push(message);
      if (messages.length === count) break;
    }
    stop.abort();
    return messages;
  };
  const following = read(3);
  writeFileSync(join(root, 'a'), '');
  await until('a is reported', async () => (await sandbox.ok(`POST /v1/file/watch/${id}/poll`, {}))['cursor'] === 1);
  writeFileSync(join(root, 'b'), '');
  expect(await following).toMatchObject([
    { event: 'watch_started', data: { watcher_id: id, path: root } },
    { event: 'file_change', id: `${id}:1`, data: { seq: 1, relative_path: 'a' } },
    { event: 'file_change', id: `${id}:2`, data: { seq: 2, relative_path: 'b' } },
  ]);
  expect(await read(2, `${id}:1`)).toMatchObject([{ event: 'watch_started' }, { id: `${id}:2` }]);
  expect(await read(3, 'another:7')).toMatchObject([
    { event: 'watch_started' },
    { event: 'overflow', data: { watcher_id: id } },
    { id: `${id}:1` },
  ]);
});

test('V1WATCH-3 V1WATCH-4 a stream ends with its watcher, and sends nothing that 1.x did not have', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  const { watcher_id: id } = await watch(sandbox, root);
  const messages = Array.fromAsync(sseMessages(sandbox, `/v1/file/watch/${id}/events`));
  await sandbox.ok(`DELETE /v1/file/watch/${id}`);
  expect((await messages).map(({ event }) => event)).toEqual(['watch_started']);
});
