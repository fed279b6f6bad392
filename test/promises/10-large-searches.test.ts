/** Promise 10: what a call finds, and what calls find at once, fits into the daemon's share of a small machine. */
import { existsSync, mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'bun:test';
import { testRun } from '../../tools/test-run.mjs';
import { inControlGroup } from '../harness/control-group.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const mebibyte = 1024 * 1024;
const smallMachine = inControlGroup({ memoryBytes: 256 * mebibyte });
/** The daemon has 60 MiB in use; the room for what requests hold is 128 MiB. */
const peakMib = 190;

/** In memory if possible, because a disk takes long to create a hundred thousand files. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const planted = mkdtempSync(join(memory, `boxkeep-${testRun}-`));
afterAll(() => rmSync(planted, { recursive: true, force: true }));

const entryCount = 60_000;
const nameOf = (at: number) => `${String(at).padStart(6, '0')}${'x'.repeat(240)}`;

/** One directory with very many long names. */
function plantDirectory(): string {
  const path = join(planted, 'names');
  if (existsSync(path)) return path;
  mkdirSync(path);
  for (let at = 0; at < entryCount; at++) closeSync(openSync(join(path, nameOf(at)), 'w'));
  return path;
}

/** Every answer is whole, or asks to come back. */
async function allAtOnce(sandbox: Sandbox, calls: readonly [route: string, body?: object][]): Promise<JsonObject[]> {
  const outcomes: (JsonObject | 429)[] = [];
  const peak = await peakDuring(sandbox, async () => {
    await Promise.all(
      calls.map(async ([route, body]) => {
        const { status, headers, body: answer } = await sandbox.request(route, body);
        if (status !== 200)
          expect([status, headers.get('retry-after'), typeof answer.hint]).toEqual([429, '1', 'string']);
        outcomes.push(status === 200 ? answer.data : 429);
      }),
    );
  });
  expect(peak).toBeLessThan(peakMib);
  expect(outcomes.some((outcome) => outcome !== 429)).toBe(true);
  return outcomes.filter((outcome) => outcome !== 429);
}

const repeated = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

test(
  'PROMISE-10 V2FS-GREP ten thousand matches with a hundred lines around each end early, and go on by offset',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'long.log');
    writeFileSync(path, `needle ${'x'.repeat(2500)}\n`.repeat(12_000));
    const asked = { path, pattern: 'needle', max_results: 10_000, context_before: 100, context_after: 100 };
    const found = await allAtOnce(sandbox, repeated(3, ['POST /v2/fs/grep', asked]));
    for (const { matches, ...rest } of found) {
      expect(rest).toMatchObject({ truncated: true, engine: 'ripgrep', match_count: matches.length });
      expect(matches.length).toBeGreaterThan(10);
      const next = await sandbox.ok('POST /v2/fs/grep', { ...asked, offset: matches.length, max_results: 2 });
      const lines = (next['matches'] as JsonObject[]).map((match) => match['line_number']);
      expect(lines).toEqual([matches.length + 1, matches.length + 2]);
      expect(next['matches'][0].context_before).toHaveLength(Math.min(100, matches.length));
    }
  },
  smallMachine,
);

test(
  'PROMISE-10 V2FS-GREPANY a match across lines in a file that does not fit is refused with the size that does',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'large.log');
    writeFileSync(path, `${'x'.repeat(99)}\n`.repeat(1_500_000));
    const asked = { path, pattern: 'x\\nx', multiline: true, max_file_size: '512M', max_results: 5 };
    const peak = await peakDuring(sandbox, async () => {
      const { status, body } = await sandbox.request('POST /v2/fs/grep', asked);
      expect([status, body.hint]).toEqual([400, 'Pass a max_file_size up to 32M.']);
    });
    expect(peak).toBeLessThan(peakMib);
  },
  smallMachine,
);

test(
  'PROMISE-10 V2FS-GREPANY a line without an end is searched, and shown by its beginning',
  async ({ sandbox }) => {
    const path = join(planted, 'endless');
    mkdirSync(path);
    writeFileSync(join(path, 'endless.log'), `first\n${'x'.repeat(200 * mebibyte)} needle`);
    writeFileSync(join(path, 'binary'), 'a needle\0');
    writeFileSync(join(path, 'short.txt'), 'a needle\nlast');
    const asked = { path, pattern: '[x ]needle', context_before: 1, context_after: 1 };
    const found = await allAtOnce(sandbox, repeated(2, ['POST /v2/fs/grep', asked]));
    for (const { matches, skipped } of found) {
      expect(matches).toMatchObject([
        {
          file: join(path, 'endless.log'),
          line_number: 2,
          line_content: `${'x'.repeat(1900)} [more characters …]`,
          context_before: ['first'],
        },
        { file: join(path, 'short.txt'), line_number: 1, line_content: 'a needle', context_after: ['last'] },
      ]);
      expect(skipped).toEqual([{ path: join(path, 'binary'), errno_name: 'EILSEQ' }]);
    }
    rmSync(path, { recursive: true });
  },
  smallMachine,
);

test(
  'PROMISE-10 V2FS-GREPANY what does not fit into the memory of a search is refused, with what to do',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'large.txt');
    const refused = async (asked: object) => {
      const { status, body } = await sandbox.request('POST /v2/fs/grep', { path, ...asked });
      return [status, body.message, body.hint];
    };
    writeFileSync(path, Buffer.from(`\ufeff${'x'.repeat(80 * mebibyte)}`, 'utf16le'));
    expect(await refused({ pattern: 'needle' })).toEqual([
      413,
      'a line of a file in another encoding than UTF-8 is too long for the memory of a search',
      'Leave the file out, or split its lines.',
    ]);
    writeFileSync(path, 'x\n'.repeat(5 * mebibyte));
    expect(await refused({ pattern: '.*', multiline: true })).toEqual([
      413,
      'a match across lines is too long for an answer',
      'Write a pattern that matches less.',
    ]);
  },
  smallMachine,
);

test(
  'PROMISE-10 V1FILE-10 four searches at once for a hundred thousand long lines each are cut with a word, or 429',
  async ({ sandbox }) => {
    const file = join(sandbox.directory, 'lines.txt');
    writeFileSync(file, `line ${'x'.repeat(1895)}\n`.repeat(100_000));
    const found = await allAtOnce(sandbox, repeated(4, ['POST /v1/file/search', { file, regex: 'line' }]));
    for (const { matches, line_numbers: lines } of found) {
      expect(matches.length).toBeGreaterThan(1000);
      expect([lines.length, lines.at(-1)]).toEqual([matches.length, matches.length - 1]);
    }
  },
  smallMachine,
);

test(
  'PROMISE-10 V1FILE-6 four lists at once of sixty thousand long names are whole, or 429',
  async ({ sandbox }) => {
    const path = plantDirectory();
    const asked = { path, recursive: true };
    for (const listed of await allAtOnce(sandbox, repeated(4, ['POST /v1/file/list', asked])))
      expect(listed).toMatchObject({ total_count: entryCount, files: { length: 50_000 } });
  },
  smallMachine,
);

for (const [name, route] of [
  ['V2FS-LIST lists', 'list?limit=10000'],
  ['V2FS-SEARCH searches', 'search?pattern=*'],
] as const) {
  test(
    `PROMISE-10 ${name}: twelve at once of sixty thousand long names are whole, or 429`,
    async ({ sandbox }) => {
      const path = plantDirectory();
      const calls = repeated<[string]>(12, [`GET /v2/fs/${route}&path=${path}`]);
      for (const found of await allAtOnce(sandbox, calls))
        expect(found).toMatchObject({ total_count: entryCount, files: { length: 10_000 }, truncated: true });
    },
    smallMachine,
  );
}

test(
  'PROMISE-10 FILE-3 an edit that would make a file too large is refused, and the file stays as it was',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'a.txt');
    const text = 'a'.repeat(mebibyte);
    writeFileSync(path, text);
    const new_str = 'b'.repeat(240);
    const edit = { path, edits: [{ old_str: 'a', new_str, replace_mode: 'ALL' }] };
    const peak = await peakDuring(sandbox, async () => {
      const v2 = await sandbox.request('POST /v2/fs/edit', edit);
      expect([v2.status, v2.body.message]).toEqual([400, expect.stringContaining('would have more than')]);
      const v1 = await sandbox.request('POST /v1/file/replace', { file: path, old_str: 'a', new_str });
      expect(v1.body).toMatchObject({ success: false, message: expect.stringContaining('would have more than') });
    });
    expect(peak).toBeLessThan(peakMib);
    expect(readFileSync(path, 'utf8') === text).toBe(true);
  },
  smallMachine,
);
