/** Key names of X, of the web, of pyautogui and of agents lead to the same keys. */
import { expect, test } from 'bun:test';
import { keyTables } from '../../../assets/desktop.ts';
import { chordOf, parseChord, parseChords } from '../../../protocols/chord.ts';
import { KeyNames } from './key-names.ts';

const names = new KeyNames(keyTables);

test.each([
  [0xff0d, ['Return', 'Enter', 'ENTER', 'enter', '\n']],
  [0xffe3, ['ctrl', 'CTRL', 'Control', 'ControlLeft', 'ctrlleft', 'Control_L']],
  [0xffeb, ['Meta', 'cmd', 'SUPER', 'win', 'Super_L']],
  [0xff55, ['Page_Up', 'PageUp', 'pgup', 'Prior']],
  [0xff52, ['Up', 'ArrowUp', 'ARROWUP', 'up']],
  [0xffbe, ['F1', 'f1']],
  [0x61, ['a', 'KeyA', 'U0061']],
  [0x35, ['5', 'Digit5']],
  [0xffb5, ['KP_5', 'Numpad5', 'num5']],
  [0x20, ['space', ' ', 'Space']],
  [0x20ac, ['EuroSign', '€', 'U+20AC']],
  [0x0100_4e00, ['一', 'U4E00', '0x1004e00']],
  [0xfe52, ['dead_circumflex']],
  [0xc1, ['Aacute', 'Á']],
])('DESK-1 the keysym 0x%x has the names %j', (keysym, keyNames) => {
  for (const name of keyNames) expect([name, names.keysymsOf(name)[0]]).toEqual([name, keysym]);
});

test.each(['', 'nokey', 'x'.repeat(300), 'U110000', '\u0007'])('DESK-1 the name %j is refused', (name) => {
  expect(() => names.keysymsOf(name)).toThrow('is not known');
});

test('DESK-1 keysyms from before Unicode stand for the same characters', () => {
  expect(names.keysymsOf('я')).toEqual([0x6d1, 0x0100_044f]);
});

test('DESK-1 a plus sign joins keys, and upper case means Shift only without a shortcut', () => {
  expect(parseChord('ctrl++')).toEqual(['ctrl', '+']);
  expect(parseChord('+')).toEqual(['+']);
  expect(parseChord('Ctrl+Shift+T')).toEqual(['Ctrl', 'Shift', 't']);
  expect(parseChord('A')).toEqual(['A']);
  expect(chordOf(['ctrl+alt', 'Delete'])).toEqual(['ctrl', 'alt', 'Delete']);
  expect(parseChords('Tab  ctrl+s')).toEqual([['Tab'], ['ctrl', 's']]);
});
