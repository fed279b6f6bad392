/** The emulator shows the right screen, and its serialization is its whole state. */
import { fc } from '../../../../test/harness/seed.ts';
import { expect, test } from 'bun:test';
import headless from '@xterm/headless';
import { cleanUp } from './emulator-fixes.ts';
import { coreOf } from './emulator-state.ts';
import { openEmulator, type Emulator } from './emulator.ts';

const everything = { scrollbackRows: 10_000, maxBytes: 2 ** 30 };
const size = { cols: 20, rows: 6 };

async function emulated(...writes: string[]): Promise<Emulator> {
  const emulator = await openEmulator(size);
  for (const text of writes) emulator.write(Buffer.from(text));
  return emulator;
}

/** Valid sequences, with numbers that fit the small screen and some that do not. */
const number = fc.integer({ min: 0, max: 24 });
const csi = (finals: string) =>
  fc.tuple(number, number, fc.constantFrom(...finals.split(''))).map(([a, b, final]) => `\x1b[${a};${b}${final}`);
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('hello ', 'wide 日本語', 'e\u0301', '👩', '🇨🇭', 'x'.repeat(23), '─│', '\t') },
  { weight: 3, arbitrary: fc.constantFrom('\r\n', '\n', '\r', '\b') },
  { weight: 4, arbitrary: csi('ABCDEFGHdf') },
  { weight: 3, arbitrary: csi('JKLMPX@ST') },
  { weight: 1, arbitrary: fc.tuple(number, number).map(([a, b]) => `\x1b[${a};${a + b}r`) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(
        0,
        1,
        2,
        3,
        4,
        '4:3',
        5,
        7,
        8,
        9,
        22,
        31,
        42,
        95,
        106,
        '38;5;200',
        '48;5;17',
        '38;2;1;2;3',
        '48;2;9;8;7',
        53,
        '58:2::1:2:3',
        59,
        49,
      )
      .map((code) => `\x1b[${code}m`),
  },
  { weight: 1, arbitrary: fc.constantFrom('\x1b7', '\x1b8', '\x1bM', '\x1bD', '\x1bE', '\x1bH', '\x1b[g', '\x1b[3g') },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(1, 6, 7, 25, 45, 47, 66, 1000, 1002, 1004, 1006, 1049, 2004)
      .chain((mode) => fc.constantFrom('h', 'l').map((set) => `\x1b[?${mode}${set}`)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\x1b[4h',
      '\x1b[4l',
      '\x1b[20h',
      '\x1b[20l',
      '\x1b[3 q',
      '\x1b(0lqk\x1b(B',
      '\x1b)0\x0ex\x0f',
      '\x1b[!p',
      '\x1bc',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('\x1b]0;a title\x07', '\x1b]2;another\x1b\\') },
);

test('an erase up to the last cell of the screen erases that cell', async () => {
  using emulator = await emulated('\x1b[?1049hfull\x1b[6;20Hx\x1b[1Jy');
  expect((await emulator.read()).lines).toEqual(['', '', '', '', '', 'y']);
});

test('a huge repeat count takes no time', async () => {
  using emulator = await emulated('text');
  const startedMs = performance.now();
  for (const final of '@ABCDEFGHIJKLMPSTXZ`abcdefghilmnrsu'.split(''))
    emulator.write(Buffer.from(`\x1b[2147483647${final}`));
  expect(performance.now() - startedMs).toBeLessThan(1000);
});

test('no input and no size breaks the emulator', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }),
      number,
      number,
      async (all, a, b) => {
        using emulator = await emulated();
        for (const bytes of all) {
          emulator.write(Buffer.concat([Buffer.from('\x1b['), bytes]));
          emulator.resize({ cols: a + 1, rows: b + 1 });
        }
        await emulator.serialize(everything);
        emulator.write(Buffer.from('\x18\x1b\\\x1bcgoes on'));
        expect((await emulator.read()).text.replaceAll('\n', '')).toStartWith('goes on'.slice(0, a + 1));
      },
    ),
    { numRuns: 300 },
  );
});

test('in origin mode the cursor moves relative to its position', async () => {
  using emulator = await emulated('\x1b[3;5r\x1b[?6hone\x1b[6Gtwo\x1b[B\x1b[3Dsix\x1b[Atop');
  expect((await emulator.read()).lines.slice(2, 4)).toEqual(['one  twotop', '     six']);
});

test('a selected line drawing set is selected in the serialized state', async () => {
  using original = await emulated('\x1b)0\x0eq\x1b7');
  using restored = await emulated(await original.serialize(everything), 'x\x0fx\x1b8q');
  expect((await restored.read()).lines[0]).toBe('──x');
});

test('a character is as wide as programs expect', async () => {
  const wide = ['日', '👩', '🦀', '🚀', '한'];
  const narrow = ['a', 'é', '─', '\u00ad', '\u0903', 'ﬁ'];
  using emulator = await emulated([...wide, ...narrow].join('') + 'e\u0301\u200b');
  expect((await emulator.read()).cursor.x).toBe(wide.length * 2 + narrow.length + 1);
});

test('a smaller terminal shows the text of a serialized screen whose last rows are blank', async () => {
  for (const before of ['', 'above\r\n'.repeat(30)]) {
    using original = await emulated(`${before}\x1b[H\x1b[2Jfirst\r\nlast$ `);
    using same = await emulated(await original.serialize(everything));
    expect(await same.read()).toEqual(await original.read());
    using small = await openEmulator({ cols: 20, rows: 2 });
    small.write(Buffer.from(await original.serialize(everything)));
    expect((await small.read()).lines).toEqual(['first', 'last$ ']);
  }
});

test('a serialized emulator restores the same state, and both continue alike', async () => {
  const pieces = fc.array(piece, { minLength: 1, maxLength: 40 }).map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(pieces, pieces, async (before, after) => {
      using original = await emulated(before);
      using restored = await emulated(await original.serialize(everything));
      expect(await restored.read()).toEqual(await original.read());
      expect(await restored.serialize(everything)).toBe(await original.serialize(everything));
      for (const emulator of [original, restored]) emulator.write(Buffer.from(after));
      expect(await restored.read()).toEqual(await original.read());
    }),
    {
      ...{ numRuns: 1000, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
      examples: [
        ['\x1b[106m\x1b[?1049h\x1b[0;0Thello ', ''], // A background that is saved with the cursor.
        ['\x1b[4:3mhello \x1b[59mhello ', ''], // Two ways to have no colour of the underline.
        ['\x1b[6;20He\x1b7hello ', '\x1b8x'],
        ['wide 日本語\x1b[?7lwide 日本語hello ', '👩\x1b[0m👩\r\n'],
        ['👩\b\x1b[@', 'x'], // A wide character that is cut.
        [`\x1b[?1049h${'x'.repeat(23)}\x1b[6d\r\n`, ''], // The first row continued one that is gone.
        [`${'x'.repeat(23)}\x1b[S`, '\x1b[L\b'],
        [`${'x'.repeat(20)}\x1b[?1049h`, '\x1b[?1049lx'], // A saved cursor behind the last column.
      ],
    },
  );
});

test('a smaller size leaves no cleanup to a timer, which would print warnings in a busy daemon', () => {
  const terminal = new headless.Terminal({ cols: 200, rows: 10, scrollback: 1000, allowProposedApi: true });
  const { buffers, _inputHandler } = coreOf(terminal);
  _inputHandler.parse(Buffer.from('a line\r\n'.repeat(500)));
  terminal.resize(20, 10);
  expect(buffers.normal._memoryCleanupQueue._tasks).toHaveLength(1);
  cleanUp(terminal);
  expect(buffers.normal._memoryCleanupQueue._tasks).toHaveLength(0);
  terminal.dispose();
});

test('text that wraps is the text that was written, whichever characters meet the edge', async () => {
  const characters = fc.array(fc.constantFrom('a', '漢', '한', '👩', 'e\u0301', ' '), { maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(characters, fc.boolean(), async (written, keepsText) => {
      const text = `${written.join('')}.`;
      using emulator = await openEmulator(size, { keepsText });
      emulator.write(Buffer.from(text));
      expect((await emulator.read()).text).toBe(text);
    }),
  );
});
