/** Tests how much was typed, given how much of the lines the keeper took. */
import { expect, test } from 'bun:test';
import { typedWithin, typeLines } from './tmux-lines.ts';

test('the number of lines read gives the number of bytes typed', () => {
  for (const count of [1, 2, 511, 512, 513, 1024, 5000]) {
    const lines = typeLines(Buffer.alloc(count, 'x'));
    let [characters, typed] = [0, 0];
    for (const line of lines) {
      expect(typedWithin(characters, count)).toBe(typed);
      expect(typedWithin(characters + line.length - 1, count)).toBe(typed);
      characters += line.length;
      typed += Math.min(512, count - typed);
    }
    expect(typedWithin(characters, count)).toBe(count);
    expect(typedWithin(characters + 1000, count)).toBe(count);
    expect(typed).toBe(count);
  }
  expect(typedWithin(-3, 10)).toBe(0);
});
