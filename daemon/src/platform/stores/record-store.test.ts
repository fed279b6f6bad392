/** Records that survive the daemon: their file, its version, and what an unreadable file leaves. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ownership } from '../../kit/ownership.ts';
import { RecordStore } from './record-store.ts';

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-record-store-'));
  path = join(directory, 'sessions.json');
});
afterEach(() => rmSync(directory, { recursive: true }));

function open(records: string[], faults: string[] = [], ownership = new Ownership()) {
  const store = new RecordStore<string>({ path, what: 'sessions', ownership, onFault: (what) => faults.push(what) });
  const stored = store.open(() => records);
  return { store, stored, ownership };
}

test('the next daemon finds the records, and the file names its version', () => {
  const { store, stored } = open(['a', 'b']);
  expect(stored).toEqual([]);
  store.save();
  expect(open([]).stored).toEqual(['a', 'b']);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ version: 1, records: ['a', 'b'] });
});

test('the bare list of an earlier daemon is read', () => {
  writeFileSync(path, '["a"]');
  expect(open([]).stored).toEqual(['a']);
});

test.each(['{', '{"version":2,"records":[]}', '{}', 'null'])('a file with %s is set aside and reported', (text) => {
  const faults: string[] = [];
  writeFileSync(path, text);
  expect(open([], faults).stored).toEqual([]);
  expect([faults, readFileSync(`${path}.bad`, 'utf8')]).toEqual([[path], text]);
});

test('many changes cost one write, and a flush writes the pending one', () => {
  const records = ['a'];
  const { store } = open(records);
  store.saveSoon();
  records.push('b');
  store.saveSoon();
  expect(existsSync(path)).toBe(false);
  store.flush();
  expect(open([]).stored).toEqual(['a', 'b']);
  rmSync(path);
  store.flush();
  expect(existsSync(path)).toBe(false);
});

test('a failed write throws, or is reported by a save, and the old content stays', () => {
  const faults: string[] = [];
  const { store } = open(['new'], faults);
  store.write(['old']);
  mkdirSync(`${path}.next`);
  expect(() => store.write(['new'])).toThrow('EISDIR');
  store.save();
  expect([faults, open([]).stored]).toEqual([['sessions could not be written'], ['old']]);
});

test('nothing is written before the store is open, or after the processes are left to another daemon', () => {
  const closed = new RecordStore({ path, what: 'sessions', ownership: new Ownership(), onFault: expect.unreachable });
  closed.save();
  const { store, ownership } = open(['a']);
  ownership.startLeaving();
  ownership.finishLeaving();
  store.save();
  expect(existsSync(path)).toBe(false);
  ownership.takeBack();
  store.save();
  expect(open([]).stored).toEqual(['a']);
});
