/** The behavior of long walks: exact counts, no delay for other requests, and an end with the client. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'bun:test';
import { testRun } from '../../tools/test-run.mjs';
import { KeptConnection } from '../harness/kept-connection.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { cpuTicks, until } from '../harness/until.ts';

function query(values: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)] as [string, string]);
  return new URLSearchParams(texts).toString();
}

/** In memory if possible, because a disk takes long to create a hundred thousand files. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const large = join(mkdtempSync(join(memory, `boxkeep-${testRun}-`)), 'tree');
afterAll(() => rmSync(large.slice(0, -'/tree'.length), { recursive: true, force: true }));

/** 50 000 files in one directory and 50 000 in a thousand. */
function largeTree(): string {
  if (existsSync(large)) return large;
  const draft = `${large}-draft`;
  for (let at = 0; at < 1000; at++) {
    mkdirSync(`${draft}/many/d${at}`, { recursive: true });
    for (let file = 0; file < 50; file++) writeFileSync(`${draft}/many/d${at}/f${file}.txt`, '');
  }
  mkdirSync(`${draft}/one`);
  for (let at = 0; at < 50_000; at++) writeFileSync(`${draft}/one/f${at}.txt`, '');
  renameSync(draft, large);
  return large;
}

const largeCount = 101_002;

test('V2FS-CALM a hundred thousand entries are counted exactly and truncated with a note, and other requests do not wait', async ({
  sandbox,
}) => {
  const root = largeTree();
  const work = [
    `list?${query({ path: root, recursive: true })}`,
    `list?${query({ path: root, recursive: true, sort: 'size', order: 'desc' })}`,
    `search?${query({ path: root, pattern: '**/*.txt' })}`,
  ];
  for (const route of work) {
    const late: number[] = [];
    for (let attempt = 0; attempt < 4 && !late.some((ms) => ms < 20); attempt++) {
      const answer = sandbox.ok(`GET /v2/fs/${route}`);
      // On a busy machine everything takes longer, whatever the cause.
      late.push((await healthP99(sandbox, answer)) / Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()));
      const count = route.startsWith('list') ? largeCount : 100_000;
      expect(await answer).toMatchObject({ truncated: true, total_count: count });
      expect((await answer)['files']).toHaveLength(10_000);
    }
    expect([route, late.some((ms) => ms < 20) ? 'calm' : late]).toEqual([route, 'calm']);
  }
});

/** The 99th percentile of /health, polled until the work is done. */
async function healthP99(sandbox: Sandbox, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const ended = work.finally(() => (isDone = true));
  using connection = new KeptConnection(sandbox.url);
  const took: number[] = [];
  while (!isDone) took.push((await connection.request('GET /health')).ms);
  await ended;
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
}

test('V2FS-ABORT a client that disconnects ends the walk', async ({ sandbox }) => {
  const route = `/v2/fs/list?${query({ path: largeTree(), recursive: true, sort: 'size' })}`;
  const logged = () => sandbox.logLines().filter((line) => line['route'] === '/v2/fs/list');
  await sandbox.ok(`GET ${route}`);
  const before = cpuTicks(sandbox);
  const leaving = new AbortController();
  // The test aborts this request.
  const answer = sandbox.fetch(`GET ${route}`, undefined, { signal: leaving.signal }).catch(() => null);
  await until('the second walk is on its way', () => cpuTicks(sandbox) > before + 5);
  leaving.abort();
  await answer;

  await until('both are logged', () => logged().length === 2);

  const [whole, left] = logged().map((line) => line['ms'] as number);
  expect(left).toBeLessThan((whole ?? 0) / 2);
});
