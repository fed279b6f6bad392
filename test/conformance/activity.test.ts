/** The feed of what has happened: what it tells, what it leaves out, and how a reader goes on. */
import { join } from 'node:path';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

interface Page extends JsonObject {
  entries: JsonObject[];
  cursor: number;
  gap: boolean;
}

test('ACTIVITY-FEED commands and calls that change something are reported in order', async ({ sandbox }) => {
  const { cursor } = (await sandbox.ok('GET /v2/activity')) as Page;
  const file = join(sandbox.directory, 'note.txt');
  const { command_id: id } = await sandbox.run({ command: 'printf secret-output; exit 3' });
  await sandbox.ok('POST /v2/fs/write', { path: file, content: 'secret content' });
  await sandbox.request('POST /v2/fs/write', { path: '/proc/none', content: 'x' });
  await callTool(sandbox, 'sandbox_file_operations', { action: 'read', path: file });
  await sandbox.ok('GET /v2/commands');
  const page = await pageOf(5);

  const told = page.entries.map(({ kind, operation, subject, outcome }) => [kind, operation, subject, outcome]);
  expect(told.filter(([kind]) => kind !== 'called')).toEqual([
    ['started', 'commands.run', id, undefined],
    ['ended', 'commands.run', id, 'completed'],
  ]);
  expect(told.filter(([kind]) => kind === 'called')).toEqual([
    ['called', 'commands.run', id, 'ok'],
    ['called', 'files.write', file, 'ok'],
    ['called', 'files.write', '/proc/none', 'failed'],
    ['called', 'mcp.message', 'sandbox_file_operations', 'ok'],
  ]);
  expect(page.entries.find(({ kind }) => kind === 'ended')).toMatchObject({
    command: 'printf secret-output; exit 3',
    exit_code: 3,
    account: expect.any(String),
    duration_ms: expect.any(Number),
  });
  expect(page.entries.find(({ tool }) => tool === 'sandbox_file_operations')?.['request_id']).toEqual(
    expect.any(String),
  );
  expect(page.gap).toBe(false);
  expect(JSON.stringify(page)).not.toContain('secret content');

  async function pageOf(calls: number): Promise<Page> {
    let now = (await sandbox.ok(`GET /v2/activity?cursor=${cursor}`)) as Page;
    // A call is reported after its answer has been sent.
    await until('every call is reported', async () => {
      now = (await sandbox.ok(`GET /v2/activity?cursor=${cursor}`)) as Page;
      return now.entries.length >= calls + 1;
    });
    return now;
  }
});

test('ACTIVITY-SECRETS of an address, the feed has no query, no fragment and no account', async ({ sandbox }) => {
  const { cursor } = (await sandbox.ok('GET /v2/activity')) as Page;
  const url = 'https://user:password@example.org/page?token=secret#part';
  await sandbox.request('POST /v2/browser/navigate', { url });
  await sandbox.request('POST /v2/browser/navigate', { url: 'data:text/html,secret' });
  await until('both calls are reported', async () => {
    const { entries } = (await sandbox.ok(`GET /v2/activity?cursor=${cursor}`)) as Page;
    const subjects = entries.map(({ subject }) => subject);
    return JSON.stringify(subjects) === JSON.stringify(['https://example.org/page', 'data:']);
  });
  await sandbox.run({ command: `: ${'a'.repeat(500)}` });
  const { entries } = (await sandbox.ok(`GET /v2/activity?cursor=${cursor}`)) as Page;
  const { command } = entries.find(({ kind }) => kind === 'ended') as { command: string };
  expect(command).toBe(`: ${'a'.repeat(298)}…`);
});

test('ACTIVITY-STREAM a stream goes on at its cursor, tells a gap, and ends with the daemon', async ({ sandbox }) => {
  const { cursor } = (await sandbox.ok('GET /v2/activity')) as Page;
  const stream = sandbox.lines(`/v2/activity?cursor=${cursor}`)[Symbol.asyncIterator]();
  const next = async () => (await stream.next()).value as JsonObject;
  await sandbox.run({ command: 'true' });
  expect(await next()).toMatchObject({ type: 'activity', kind: 'started', seq: cursor + 1 });
  expect(await next()).toMatchObject({ type: 'activity', seq: cursor + 2 });
  const again = sandbox.lines(`/v2/activity?cursor=${cursor + 1}`)[Symbol.asyncIterator]();
  expect((await again.next()).value).toMatchObject({ seq: cursor + 2 });
  await again.return(undefined);

  for (let call = 0; call < 1001; call += 1) await sandbox.request('POST /v2/fs/mkdir', { path: '/proc/none' });
  const behind = (await sandbox.ok(`GET /v2/activity?cursor=${cursor}&limit=1`)) as Page;
  expect(behind).toMatchObject({ gap: true, entries: [{ seq: behind.cursor }] });
  expect(behind.cursor).toBeGreaterThan(cursor + 1);
  const late = sandbox.lines(`/v2/activity?cursor=${cursor}`)[Symbol.asyncIterator]();
  expect((await late.next()).value).toMatchObject({ type: 'gap' });

  const stopped = sandbox.stop();
  let last: JsonObject = {};
  for (let line = await late.next(); line.done !== true; line = await late.next()) last = line.value;
  expect(last).toMatchObject({ type: 'closing', cursor: expect.any(Number) });
  await stopped;
});

test(
  'ACTIVITY-RESTART the next daemon tells that earlier entries are gone',
  async ({ sandbox }) => {
    await sandbox.run({ command: 'true' });
    const { cursor } = (await sandbox.ok('GET /v2/activity')) as Page;
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await sandbox.run({ command: 'true' });
    const page = (await sandbox.ok(`GET /v2/activity?cursor=${cursor}`)) as Page;
    expect(page.gap).toBe(true);
    expect(page.entries[0]).toMatchObject({ kind: 'started' });
    expect(page.entries[0]?.['seq'] as number).toBeGreaterThan(cursor);
  },
  { expectedWarnings: ['started again by init'] },
);

test('ACTIVITY-FEED a call may wait for the next entry', async ({ sandbox }) => {
  const { cursor } = (await sandbox.ok('GET /v2/activity')) as Page;
  const waiting = sandbox.ok(`GET /v2/activity?cursor=${cursor}&timeout=60`);
  await sandbox.run({ command: 'true' });
  expect(((await waiting) as Page).entries[0]).toMatchObject({ kind: 'started' });
});
