/** Tests that titles are found wherever the output is split, and that nothing else counts as a title. */
import { expect, test } from 'bun:test';
import { TitleScanner } from './title-scanner.ts';

const output = 'a\x1b[1mb\x1b]0;first\x07c\x1b]133;A\x07\x1b]2;zwäi 😀\x1b\\d\x1b]1;icon\x07\x1b]0;\x07e\x1b]2;unended';

test('every title is found, wherever the output is split', () => {
  const bytes = Buffer.from(output);
  for (let size = 1; size <= bytes.length; size++) {
    const scanner = new TitleScanner();
    const titles: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const title = scanner.scan(bytes.subarray(at, at + size));
      if (title !== null) titles.push(title);
    }
    expect(titles.at(-1)).toBe('');
    if (size === 1) expect(titles).toEqual(['first', 'zwäi 😀', '']);
  }
});

test('a title that never ends is abandoned, and the next title is found', () => {
  const scanner = new TitleScanner();
  expect(scanner.scan(Buffer.from(`\x1b]0;${'x'.repeat(5000)}`))).toBeNull();
  expect(scanner.scan(Buffer.from('y\x1b]0;next\x07'))).toBe('next');
});
