/** The program: reads a file, prints its counts and its commonest words. */
import { readFileSync } from 'node:fs';
import { commonest, count } from './count.mjs';

const [path, limit = '5'] = process.argv.slice(2);

if (path === undefined) {
  console.error('usage: word-count <file> [how many words]');
  process.exitCode = 2;
} else {
  const text = readFileSync(path, 'utf8');
  const { lines, words, characters } = count(text);
  console.log(`${lines} lines, ${words} words, ${characters} characters`);
  for (const [found, times] of commonest(text, Number(limit))) console.log(`${String(times).padStart(5)} ${found}`);
}
