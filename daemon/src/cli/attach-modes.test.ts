/** What programs switch on at a terminal is switched off again, and nothing else. */
import { expect, test } from 'bun:test';
import { TerminalModes } from './attach-modes.ts';

function undoOf(...pieces: string[]): string {
  const modes = new TerminalModes();
  for (const piece of pieces) modes.watch(Buffer.from(piece));
  return modes.undo().toString();
}

test('nothing is done where nothing is left on', () => {
  expect(undoOf('plain text, \u001b[31mred\u001b[0m and \u001b[1mbold\u001b[m')).toBe('');
  expect(undoOf('\u001b[?2004h$ ls\r\n\u001b[?2004l', '\u001b[?1049h\u001b[?25l\u001b[?1049l\u001b[?25h')).toBe('');
  expect(undoOf('\u001b[?1049h\u001b[?1000h\u001b[5;9r\u001bc')).toBe('');
});

test('an editor is left with its alternate screen, its mouse, its keys and its cursor', () => {
  const undo = undoOf('\u001b[?1049h\u001b[?1h\u001b=\u001b[?1006;1002h\u001b[?25l\u001b[2 q\u001b[1;23r\u001b[7mtext');
  expect(undo).toBe(
    '\u001b>\u001b[0 q\u001b7\u001b[r\u001b8\u001b[0m\u001b[?1l\u001b[?1006l\u001b[?1002l\u001b[?25h\u001b[?1049l',
  );
});

test('sequences that are cut anywhere count as whole ones', () => {
  const whole = 'text\u001b[?2004hmore\u001b[?1049hscreen\u001b[4h\u001b[>4;2m';
  const once = undoOf(whole);
  expect(once).toBe('\u001b[4l\u001b[>4;0m\u001b[?2004l\u001b[?1049l');
  for (let at = 1; at < whole.length; at++) expect(undoOf(whole.slice(0, at), whole.slice(at))).toBe(once);
  expect(undoOf(...whole.split(''))).toBe(once);
});
