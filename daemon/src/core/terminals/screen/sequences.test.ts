/** Tests that output is never cut inside a character or a sequence, so that another terminal can continue there. */
import { fc } from '../../../../../test/harness/seed.ts';
import { expect, test } from 'bun:test';
import { openEmulator } from '../../../platform/terminal/emulator.ts';
import { Sequences } from './sequences.ts';

const piece = fc.constantFrom(
  ...['text', '日本', '👩', '\r\n', '\x1b[31m', '\x1b[2;3H', '\x1b[?1049h', '\x1b(B', '\x1b]0;title\x07', '\x1bM'],
  ...['\x1b]2;other\x1b\\', '\x1bPq#0\x1b\\', '\x1b_note\x1b\\', '\x1b[38;2;1;2;3m', '\x1b[1\x18x', '\x1b\x1b[4mz'],
);

test('any split into state and rest shows the same screen', async () => {
  const output = fc.array(piece, { minLength: 1, maxLength: 12 }).map((all) => Buffer.from(all.join('')));
  await fc.assert(
    fc.asyncProperty(output, fc.nat(), async (bytes, at) => {
      const cut = at % (bytes.length + 1);
      const { whole } = new Sequences().scan(bytes.subarray(0, cut));
      const size = { cols: 20, rows: 5 };
      using original = await openEmulator(size);
      original.write(bytes.subarray(0, whole ?? 0));
      using restored = await openEmulator(size);
      restored.write(Buffer.from(await original.serialize({ scrollbackRows: 100, maxBytes: 1e6 })));
      for (const emulator of [original, restored]) emulator.write(bytes.subarray(whole ?? 0));
      expect(await restored.read()).toEqual(await original.read());
    }),
    { numRuns: 500 },
  );
});

test('an incomplete sequence is separated from the text after it', () => {
  const sequences = new Sequences();
  const scan = (text: string) => sequences.scan(Buffer.from(text, 'latin1'));
  expect(scan('ab\x1b]0;ti')).toEqual({ ended: 0, whole: 2 });
  expect(scan('tle')).toEqual({ ended: 3, whole: null });
  expect(scan('\x07cd\x1b[3')).toEqual({ ended: 1, whole: 3 });
  expect(scan('1mx\xe6\x97')).toEqual({ ended: 2, whole: 3 });
  expect(scan('\xa5y')).toEqual({ ended: 1, whole: 2 });
  expect(scan('\xe6z')).toEqual({ ended: 0, whole: 2 });
});
