/** Reads a table whose lines have the first keysym in hexadecimal, and a word for this keysym and each one after it. */
import { readTable } from '../../../kit/text/table.ts';

export function keysymsByWord(table: string): [word: string, keysym: number][] {
  return readTable(table).flatMap(([first = '', ...words]) =>
    words.map((word, index): [string, number] => [word, Number.parseInt(first, 16) + index]),
  );
}
