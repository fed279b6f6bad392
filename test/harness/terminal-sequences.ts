/** Terminal output for tests: single sequences, and random mixes of them. */
import fc from 'fast-check';

/** For a screen of 40 columns and 12 rows. */
export const sequences: Readonly<Record<string, string>> = {
  'wide characters': '日本語 한국어 中文\r\n' + 'x'.repeat(39) + '日本\r\n\x1b[5;39H日本',
  emoji: '👩 🚀 😀x\r\n' + '🚀'.repeat(25),
  'combining marks': 'e\u0301 a\u0308 n\u0303 o\u0302\u0301 |\r\nZ\u0351\u036b\u0343',
  'colours of 24 bits and of palettes':
    '\x1b[38;2;10;20;30mfore\x1b[48;2;200;100;50mback\x1b[0m \x1b[38;5;200mp\x1b[48;5;17mq\x1b[91;44mr\x1b[0ms',
  styles: '\x1b[1mb\x1b[2md\x1b[0m\x1b[3mi\x1b[4mu\x1b[0m\x1b[5mk\x1b[7mr\x1b[27m\x1b[9ms\x1b[0m.',
  'erasing with a background': '\x1b[44mabc\x1b[K\r\nxyz\x1b[1K\r\n\x1b[41m\x1b[4;4H\x1b[5X\x1b[6;1H\x1b[J',
  'the alternate screen': 'behind\x1b[?1049h\x1b[2J\x1b[3;3Hin front\x1b[?25l',
  'the screen behind': 'behind\x1b[?1049h\x1b[2J\x1b[3;3Hin front\x1b[?1049l after',
  'a scroll region':
    '\x1b[3;6r\x1b[3;1H' + Array.from({ length: 9 }, (_, n) => `line ${n}`).join('\r\n') + '\x1b[9;1Hbelow',
  'lines that scroll in from above': '\x1b[2;8ra\r\nb\r\nc\x1b[2;1H\x1bMtop\x1b[2;1H\x1bMmore\x1b[3T\x1b[S',
  'origin mode': '\x1b[4;9r\x1b[?6h\x1b[1;1Hfirst\x1b[99;99Hlast\x1b[2;3Hx\x1b[?6l\x1b[1;1Hhome',
  'tab stops': 'a\tb\tc\r\n\x1b[3g\x1b[2;5H\x1bH\x1b[2;20H\x1bH\r\n\tfive\ttwenty\tend\r\n\t\ty\x1b[Zz',
  'inserted and deleted lines':
    Array.from({ length: 12 }, (_, n) => `row ${n}`).join('\r\n') + '\x1b[3;2H\x1b[2L\x1b[8;1H\x1b[3M',
  'inserted and deleted characters': 'abcdefghij\x1b[1;3H\x1b[3@XY\x1b[1;8H\x1b[2P\x1b[2;1H\x1b[4hcba\rz\x1b[4l',
  'the last column': 'x'.repeat(40) + '\r\n' + 'y'.repeat(41) + '\x1b[?7l\r\n' + 'z'.repeat(45) + 'Z',
  'a saved cursor': '\x1b[4;10H\x1b[31m\x1b7\x1b[H\x1b[0mhome\x1b8red',
  'the alignment pattern': '\x1b#8\x1b[5;5H\x1b[1J',
  'controls inside of sequences': 'ab\x1b[2\bCx\x1b[3\rDy\x1b[1\x18z',
  'moves past every edge': '\x1b[99A\x1b[99Da\x1b[99B\x1b[99Cb\x1b[5G\x1b[3dc\x1b[2Ed\x1b[Fe',
};

/** Sequences where tmux 3.3 deviates from the standard, with the rows that the standard requires. */
export const beyondTmux: Readonly<Record<string, readonly [bytes: string, ...lines: string[]]>> = {
  'half of a wide character is none': ['日本語\x1b[1;2HX\x1b[2;1H日本語\x1b[2;4HY', ' X本語', '日 Y語'],
  'a backspace in the last column': [`${'x'.repeat(40)}\bY`, `${'x'.repeat(38)}Yx`],
  'tabs forwards and backwards': ['\x1b[2Ia\x1b[Zb\x1b[2ZZ', '        Z       b'],
  'line drawing': ['\x1b(0lqqk\r\nmqqj\x1b(B \x1b)0\x0eqx\x0fqx', '┌──┐', '└──┘ ─│qx'],
};

const number = fc.integer({ min: 1, max: 42 });
const csi = (finals: string) =>
  fc.tuple(number, fc.constantFrom(...finals.split(''))).map(([count, final]) => `\x1b[${count}${final}`);

/** Sequences that every terminal handles alike. */
export const mixes = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('word ', 'e\u0301', 'ab', '#'.repeat(7), '│─┐', '\r\n', '\n', '\r') },
      { weight: 4, arbitrary: csi('ABCDEFGd') },
      { weight: 2, arbitrary: csi('XP').map((erased) => `\x1b[30G${erased}`) },
      // Inserting more characters than fit leaves remnants in tmux.
      { weight: 1, arbitrary: fc.constantFrom('\x1b[9G\x1b[@', '\x1b[9G\x1b[3@') },
      // Resets the scroll region first and ends with a return. By the standard, the sequence has no effect outside of
      // the region and moves the cursor to the first column. tmux does neither.
      { weight: 1, arbitrary: csi('LM').map((lines) => `\x1b[r\x1b[5H${lines}\r`) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '\x1b[7G\x1b[K',
          '\x1b[7G\x1b[1K',
          '\x1b[2K',
          '\x1b[7G\x1b[J',
          '\x1b[7G\x1b[1J',
          '\x1bM',
          '\x1bD',
          '\x1bE',
        ),
      },
      { weight: 2, arbitrary: fc.tuple(number, number).map(([y, x]) => `\x1b[${y};${x}H`) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }).map((top) => `\x1b[${top};${top + 5}r\x1b[H`) },
      { weight: 1, arbitrary: fc.constantFrom('\x1b7', '\x1b8') },
      {
        weight: 3,
        arbitrary: fc.constantFrom(0, 1, 31, 42, 7, '38;5;99', '48;2;1;2;3').map((code) => `\x1b[${code}m`),
      },
    ),
    { minLength: 10, maxLength: 60 },
  )
  .map((all) => `\x1b7${all.join('')}`);
