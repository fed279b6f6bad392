/** Tables in texts are read line by line. */
import { expect, test } from 'bun:test';
import { readTable } from './table.ts';

test('each line is a record of words, and comments and empty lines are none', () => {
  expect(readTable('# A comment.\n\nasm *.S *.asm\n#c *.c\nd\n')).toEqual([
    ['asm', '*.S', '*.asm'],
    ['#c', '*.c'],
    ['d'],
  ]);
});
