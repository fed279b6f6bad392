/** Small values in files that are overwritten: only the last value is read, with no remains of earlier ones. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NoteFiles } from './note-files.ts';

function makeNotes() {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-notes-'));
  const faults: unknown[] = [];
  const notes = new NoteFiles<{ readonly text: string }>(join(directory, 'notes'), (_, error) => faults.push(error));
  return {
    notes,
    faults,
    path: join(directory, 'notes/key'),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

test('the last saved value is read, whatever the sizes of the earlier ones', () => {
  using made = makeNotes();
  const { notes, path } = made;
  expect(notes.load('key')).toBeNull();
  for (const size of [100, 3, 5000, 40, 100_000, 7, 0]) {
    const value = { text: 'é'.repeat(size) };
    notes.save('key', value);
    expect(notes.load('key')).toEqual(value);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  expect(made.faults).toEqual([]);
});

test('a cleared or removed value is gone, with its text, and another value can follow', () => {
  using made = makeNotes();
  const { notes, path } = made;
  for (const text of ['secret', 'secret'.repeat(1000)]) {
    notes.save('key', { text });
    notes.clear('key');
    expect(notes.load('key')).toBeNull();
    expect(statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : '').not.toContain('secret');
    notes.save('key', { text: 'next' });
    expect(notes.load('key')).toEqual({ text: 'next' });
    notes.remove('key');
    expect(notes.load('key')).toBeNull();
  }
  notes.clear('key');
  notes.remove('key');
  expect(made.faults).toEqual([]);
});

test('a truncated value reads as none, and is reported', () => {
  using made = makeNotes();
  made.notes.save('key', { text: 'whole' });
  writeFileSync(made.path, '{"text": "who');
  expect(made.notes.load('key')).toBeNull();
  expect(made.faults).toHaveLength(1);
});
