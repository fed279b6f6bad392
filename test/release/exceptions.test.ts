/** The table of exceptions names tests that exist. */
import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exceptionTitles } from '../harness/exceptions.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

/** The titles that depend on a value, such as the name of a shell, and those that a client and its way end. */
function titlePatterns(text: string): RegExp[] {
  const ofClients = [...text.matchAll(/clientTest\(\s*'([^']*)'/g)].map(([, title]) => `${title}: \${client}, \${way}`);
  const written = [...text.matchAll(/`([A-Z][^`\n]*\$\{[^`\n]*)`/g)].map(([, template = '']) => template);
  return [...ofClients, ...written].map((template) => {
    const parts = template.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.+')}$`);
  });
}

test('each exception is the whole title of a test', () => {
  const files = [...new Glob('test/{conformance,promises,openapi,engines}/*.test.ts').scanSync(repositoryRoot)];
  const texts = files.map((path) => readFileSync(join(repositoryRoot, path), 'utf8'));
  const patterns = texts.flatMap(titlePatterns);
  const isKnown = (title: string) =>
    texts.some((text) => text.includes(`'${title}'`)) || patterns.some((pattern) => pattern.test(title));
  expect(exceptionTitles.filter((title) => !isKnown(title))).toEqual([]);
});
