/** What the word counter promises, over small texts and over a page of a real book. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commonest, count, words } from '../src/count.mjs';

const page = new URL('../texts/alice.txt', import.meta.url);
const program = fileURLToPath(new URL('../build/word-count.mjs', import.meta.url));

test('a word keeps its apostrophe and its hyphen and loses its punctuation', () => {
  assert.deepEqual(words('“Don’t,” said the waistcoat-pocket - twice!'), [
    'don’t',
    'said',
    'the',
    'waistcoat-pocket',
    'twice',
  ]);
});

test('letters of any script make words', () => {
  assert.deepEqual(words('Ünïcode, слово; λέξη.'), ['ünïcode', 'слово', 'λέξη']);
});

test('an empty text has nothing', () => {
  assert.deepEqual(count(''), { lines: 0, words: 0, characters: 0 });
});

test('the last line counts with and without its newline', () => {
  assert.equal(count('one\ntwo').lines, 2);
  assert.equal(count('one\ntwo\n').lines, 2);
});

test('characters are counted as a reader does', () => {
  assert.equal(count('né 🐇').characters, 4);
});

test('words that tie come in the order of the alphabet', () => {
  assert.deepEqual(commonest('b a c a b', 2), [
    ['a', 2],
    ['b', 2],
  ]);
});

test('a page of a book agrees with wc', () => {
  const [lines] = execFileSync('wc', ['-l', fileURLToPath(page)], { encoding: 'utf8' })
    .trim()
    .split(' ');
  assert.equal(count(readFileSync(page, 'utf8')).lines, Number(lines));
});

test('the built program prints the counts of the page', () => {
  const output = execFileSync(process.execPath, [program, fileURLToPath(page), '3'], { encoding: 'utf8' });
  assert.equal(output, '23 lines, 253 words, 1329 characters\n   13 the\n   11 it\n    9 to\n');
});

test('the built program says how to use it', () => {
  const run = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  assert.equal(run.status, 2);
  assert.match(run.stderr, /usage: word-count <file>/);
});
