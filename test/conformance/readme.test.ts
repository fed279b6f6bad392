/** The first calls of the README run as written and answer as the README shows. */
import { beforeAll } from 'bun:test';
import { blocksOf, runScript } from '../harness/guide.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test } from '../harness/sandbox.ts';

beforeAll(() => needPrograms('curl'));

/** A pattern for an answer that a document shows: ids and pids differ, and … stands for more fields. */
function shown(text: string): RegExp {
  const compact = text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
  const parts = compact.split(/(cmd_\w+|"pid":\d+|…)/);
  const patterns: Readonly<Record<string, string>> = { '…': '.*', cmd: 'cmd_\\w+', '"pi': '"pid":\\d+' };
  return new RegExp(
    `^${parts.map((part, at) => (at % 2 ? patterns[part.slice(0, 3)] : RegExp.escape(part))).join('')}$`,
  );
}

test('CMD-1 CMD-4 CODE-1 the first three calls of the README answer as shown', async ({ sandbox }) => {
  const calls = blocksOf('README.md', 'sh').filter((block) => block.startsWith('curl '));
  const [first = '', stream = '', last = ''] = blocksOf('README.md', 'json');
  const answers = (await runScript(calls.join(''), sandbox)).map((answer) => JSON.stringify(answer));
  const patterns = [shown(first), /"command_id":"count"/, ...stream.trimEnd().split('\n').map(shown), shown(last)];
  expect(answers).toEqual(patterns.map((pattern) => expect.stringMatching(pattern)));
});
