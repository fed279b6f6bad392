/** Notes name their plane; notes of earlier and later versions are recognised. */
import { expect, test } from 'bun:test';
import { decodeNote, encodeNote } from './process-note.ts';

test('a note starts with its plane and round-trips', () => {
  const text = encodeNote('terminals', { terminal: { from: 3 } });
  expect(text).toBe('{"plane":"terminals","terminal":{"from":3}}');
  expect(decodeNote(text)).toEqual({ plane: 'terminals', note: { terminal: { from: 3 } } });
});

test('a note of an earlier version, without a plane, is recognised by its fields', () => {
  const notes = [
    { id: 'cmd_1', command: 'sleep 1', cwd: '/' },
    { terminal: { terminalId: 'pty_1', from: 0, backend: 'native' } },
    { code: { id: 'interpreter_1', backend: 'native', language: 'python' } },
    { tool: 'rg' },
  ];
  const decoded = notes.map((note) => decodeNote(JSON.stringify(note)));
  expect(decoded.map((one) => one?.plane)).toEqual(['commands', 'terminals', 'code', 'tools']);
  expect(decoded.map((one) => one?.note)).toEqual(notes);
});

test('a note of a later version belongs to no plane of this one', () => {
  expect(decodeNote('{"plane":"desktop","command":"xterm"}')).toEqual({ plane: null, note: { command: 'xterm' } });
  expect(decodeNote('{"something":1}')?.plane).toBeNull();
});

test('an incomplete note reads as none', () => {
  for (const text of ['', '{"plane":"comm', 'null']) expect(decodeNote(text)).toBeNull();
});
