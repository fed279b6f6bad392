/** Modes that a program switches on at a terminal are switched off again, and no others. */
import { expect, test } from 'bun:test';
import { TerminalModes } from './modes.ts';

function undoOf(...pieces: string[]): string {
  const modes = new TerminalModes();
  for (const piece of pieces) modes.watch(Buffer.from(piece));
  return modes.undo().toString();
}

test('no reset is printed when no mode is left on', () => {
  expect(undoOf('plain text, \u001b[31mred\u001b[0m and \u001b[1mbold\u001b[m')).toBe('');
  expect(undoOf('\u001b[?2004h$ ls\r\n\u001b[?2004l', '\u001b[?1049h\u001b[?25l\u001b[?1049l\u001b[?25h')).toBe('');
  expect(undoOf('\u001b[?1049h\u001b[?1000h\u001b[5;9r\u001bc')).toBe('');
});

test('after an editor, the alternate screen, the mouse, the keys and the cursor are reset', () => {
  const undo = undoOf('\u001b[?1049h\u001b[?1h\u001b=\u001b[?1006;1002h\u001b[?25l\u001b[2 q\u001b[1;23r\u001b[7mtext');
  expect(undo).toBe(
    '\u001b>\u001b[0 q\u001b7\u001b[r\u001b8\u001b[0m\u001b[?1l\u001b[?1006l\u001b[?1002l\u001b[?25h\u001b[?1049l',
  );
});

test('sequences split anywhere count as whole ones', () => {
  const whole = 'text\u001b[?2004hmore\u001b[?1049hscreen\u001b[4h\u001b[>4;2m';
  const once = undoOf(whole);
  expect(once).toBe('\u001b[4l\u001b[>4;0m\u001b[?2004l\u001b[?1049l');
  for (let at = 1; at < whole.length; at++) expect(undoOf(whole.slice(0, at), whole.slice(at))).toBe(once);
  expect(undoOf(...whole.split(''))).toBe(once);
});
