/**
 * Interpreter versions come from the program's output, are read once per file version, and never delay an answer for
 * long.
 */
import { expect, test } from 'bun:test';
import type { ToolOutcome } from '../processes/tool.ts';
import { Toolchains } from './toolchain.ts';

const paths: Record<string, string> = { python3: '/bin/python3', python: '/bin/python', node: '/bin/node' };

function answer(text: string, exitCode = 0): ToolOutcome {
  return { kind: 'ended', exitCode, stdout: Buffer.from(text), stderr: Buffer.from('') };
}

test('names of the same file are one interpreter, and a program that gives no version is not an interpreter', async () => {
  const asked: string[] = [];
  const stamps: Record<string, string> = { '/bin/python3': 'a', '/bin/python': 'a', '/bin/node': 'b' };
  const toolchains = new Toolchains({
    find: (program) => paths[program] ?? null,
    stampOf: (path) => stamps[path] ?? null,
    tools: {
      async run({ argv: [program = ''] }) {
        asked.push(program);
        return program === '/bin/node' ? answer('', 1) : answer('Python 3.12.1\n');
      },
    },
  });

  const first = await toolchains.look();
  await toolchains.look();
  expect(first.python).toEqual([{ path: '/bin/python3', names: ['python3', 'python'], version: '3.12.1' }]);
  expect(first.node).toEqual([]);
  expect(asked).toEqual(['/bin/python3', '/bin/node']);

  stamps['/bin/node'] = 'c';
  await toolchains.look();
  expect(asked).toEqual(['/bin/python3', '/bin/node', '/bin/node']);
});

test('a version that arrives late is reported on the next call', async () => {
  const slow = Promise.withResolvers<ToolOutcome>();
  const toolchains = new Toolchains({
    find: (program) => (program === 'node' ? '/bin/node' : null),
    stampOf: () => 'a',
    tools: { run: () => slow.promise },
  });

  expect((await toolchains.look()).node).toEqual([{ path: '/bin/node', names: ['node'], version: null }]);
  slow.resolve(answer('v22.1.0\n'));
  await slow.promise;
  expect((await toolchains.look()).node).toEqual([{ path: '/bin/node', names: ['node'], version: '22.1.0' }]);
});
