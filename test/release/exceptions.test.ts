/** The table of exceptions names tests that exist. */
import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exceptionTitles } from '../harness/exceptions.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

test('each exception is the whole title of a test', () => {
  const files = [...new Glob('test/{conformance,promises}/*.test.ts').scanSync(repositoryRoot)];
  const texts = files.map((path) => readFileSync(join(repositoryRoot, path), 'utf8'));
  expect(exceptionTitles.filter((title) => !texts.some((text) => text.includes(`'${title}'`)))).toEqual([]);
});
