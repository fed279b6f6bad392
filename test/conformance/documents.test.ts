/** The shell blocks of the documents run as written, and answer as the documents show. */
import { beforeAll } from 'bun:test';
import { runBlocks, shellBlocksOf, type ShellBlock } from '../harness/document.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, repositoryRoot, programTest, test } from '../harness/sandbox.ts';

beforeAll(() => needPrograms('curl', 'make', 'python3', 'node'));

/** Documents whose blocks need a browser or packages, which other files provide and run. */
const elsewhere: Readonly<Record<string, string>> = {
  'docs/guide/browser.md': 'test/conformance/browser-guide.test.ts',
  'docs/guide/code.md': 'test/conformance/code-guide.test.ts',
  'docs/guide/desktop.md': 'test/conformance/desktop-guide.test.ts',
  ...Object.fromEntries(
    ['browser-task', 'coding-agent', 'computer-use', 'data-analysis'].map((recipe) => [
      `docs/recipes/${recipe}.md`,
      'test/conformance/recipes.test.ts',
    ]),
  ),
};

const documents = ['*.md', 'docs/**/*.md', 'clients/*/*.md', 'bench/*.md', 'console/*.md', 'native/*.md']
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(repositoryRoot)])
  .toSorted()
  .map((path) => ({ path, blocks: shellBlocksOf(path) }))
  .filter(({ blocks }) => blocks.length > 0);

programTest('every block that is not run has a reason', () => {
  const left = documents.flatMap(({ path, blocks }) =>
    blocks.flatMap(({ line, reason }) => (reason === null ? [] : [{ place: `${path}:${line}`, reason }])),
  );
  for (const [path, file] of Object.entries(elsewhere)) console.log(`${path}: run by ${file}`);
  for (const { place, reason } of left) console.log(`${place}: not run, ${reason}`);
  expect(documents.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', ...Object.keys(elsewhere)]));
  expect(left.filter(({ reason }) => reason.split(' ').length < 3)).toEqual([]);
});

for (const { path, blocks } of documents) {
  const runnable = blocks.filter(({ reason }) => reason === null);
  if (runnable.length === 0 || elsewhere[path] !== undefined) continue;
  test(`CMD-1 CMD-4 CODE-1 the blocks of ${path} run as written and answer as shown`, async ({ sandbox }) => {
    await runBlocks(path, runnable, sandbox);
  });
}

test('CMD-1 a block that fails, or answers otherwise than shown, is reported', async ({ sandbox }) => {
  const block = { line: 1, script: 'echo one 2', prepare: '', reason: null, shown: null };
  const run = (changes: Partial<ShellBlock>) => runBlocks('a.md', [block, { ...block, line: 7, ...changes }], sandbox);
  const shown = (text: string) => ({ shown: { language: 'text', text } });
  const report = (changes: Partial<ShellBlock>) => run(changes).then(() => 'nothing', String);
  const refused = 'curl -s localhost:18091/nowhere';
  expect(await report(shown('one …\n'))).toBe('nothing');
  expect(await report(shown('two\n'))).toContain('one 2');
  expect(await report({ script: `${refused}; echo one`, ...shown('one\n') })).toContain('a.md:7');
  expect(await report({ script: 'false' })).toContain('a.md:7');
  expect(await report({ script: refused })).toContain('a.md:7');
});
