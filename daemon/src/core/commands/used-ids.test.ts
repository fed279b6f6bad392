/** Tests which ids are remembered and how much is written for them. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { LineFile } from '../../platform/stores/line-file.ts';
import { UsedIds, type UsedId } from './used-ids.ts';

const dayMs = 24 * 3600 * 1000;
const unexpected = (_what: string, error: unknown): void => {
  throw error;
};
let directory = '';
let path = '';
let nowMs = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-ids-'));
  path = join(directory, 'used-ids');
  nowMs = 0;
});

afterEach(() => rmSync(directory, { recursive: true }));

/** The ids as a freshly started daemon loads them. */
function opened(store = new LineFile<UsedId>(path, unexpected), onFault = unexpected): UsedIds {
  const ids = new UsedIds(store, () => nowMs, onFault);
  ids.load();
  return ids;
}

function batch(first: number, count = 100): string[] {
  return Array.from({ length: count }, (_, n) => `id-${first + n}`);
}

test('the newest 10 000 ids are known, also to the next daemon, and the file stays bounded', () => {
  let written = 0;
  class CountedFile extends LineFile<UsedId> {
    override append(ids: readonly UsedId[]): void {
      written += ids.length;
      super.append(ids);
    }
    override replace(ids: readonly UsedId[]): void {
      written += ids.length;
      super.replace(ids);
    }
  }
  const ids = opened(new CountedFile(path, unexpected));
  for (let first = 0; first < 50_000; first += 100) ids.add(batch(first));

  expect(written).toBeLessThanOrEqual(2 * 50_000);
  expect(new LineFile<UsedId>(path, unexpected).load().length).toBeLessThanOrEqual(20_000);
  for (const known of [ids, opened()]) {
    expect([known.has('id-39999'), known.has('id-40000'), known.has('id-49999')]).toEqual([false, true, true]);
  }
});

test('an id is known for one day', () => {
  const ids = opened();
  ids.add(['early']);
  nowMs = dayMs;
  ids.add(['late']);
  expect([ids.has('early'), opened().has('early')]).toEqual([true, true]);
  nowMs = dayMs + 1;
  ids.add(['later']);
  for (const known of [ids, opened()]) expect([known.has('early'), known.has('late')]).toEqual([false, true]);
});

test('an id that cannot be written to the file is refused', () => {
  const ids = opened();
  mkdirSync(path);
  expect(() => ids.add(['a'])).toThrow('EISDIR');
  expect(ids.has('a')).toBe(false);
});

test('a file that cannot be compacted is reported only now and then, and no id is lost', () => {
  mkdirSync(`${path}.next`);
  const faults: string[] = [];
  const ids = opened(undefined, (what) => void faults.push(what));
  for (let first = 0; first < 20_200; first += 100) ids.add(batch(first));
  expect(faults).toHaveLength(1);
  expect([ids.has('id-20199'), opened().has('id-20199')]).toEqual([true, true]);
});
