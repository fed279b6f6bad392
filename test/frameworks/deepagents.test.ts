/** The suite that LangChain publishes for sandboxes of deepagents, on the adapter and the built file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { besideFrameworks, keepResult, needFramework, passSuite, rounds, runProgram, suites } from './environment.ts';
import { showFigures } from '../harness/figures.ts';
import { whileKilled } from '../harness/while-killed.ts';

const framework = 'deepagents';

const expected = {
  'call-0': '/tmp/work\n\n[Command succeeded with exit code 0]',
  'call-1': "Successfully replaced 1 instance(s) of the string in '/tmp/work/file'",
  'call-2': '@@ lines 1-2 of 2 @@\none\nthree',
  'call-3': "Error: File '/tmp/work/none': file_not_found",
  'call-4': '\n[Command failed with exit code 3]',
  answer: 'done',
  written: [null, null],
  edited: [1],
  'edited twice': "Error: String not found in file: 'five'",
  'line ends': 'three\r\nfour\r\n',
  glob: ['/tmp/p/a.txt', '/tmp/p/sub/b.txt'],
  'no directories': [],
  grep: ['/tmp/p/a.txt'],
  'grep in .git': ['/tmp/p/.git/config'],
  capped: [
    [1, true],
    [2, false],
  ],
  newline: 'n',
  page: {
    error: null,
    file_data: { content: 'four', encoding: 'utf-8' },
    total_lines: 2,
    start_line: 2,
    end_line: 2,
    next_offset: null,
    no_lines_requested: false,
  },
  async: '/tmp/p/sub/b.txt',
  deleted: [null, "Error: '/tmp/p/sub' not found"],
  "root's": [
    "Failed to write file '/etc/x': permission_denied",
    "Path '/root': permission_denied",
    "Failed to write file 'file:///etc/x': permission_denied",
    "Error deleting file 'file:///etc%2Fpasswd': permission_denied",
    "File '/tmp/p/link': permission_denied",
    "File 'file:///root/secret': permission_denied",
    "File '/proc/self/environ': permission_denied",
  ],
  'no UTF-8': ['text', 'text', null, null],
  'long command': 100_000,
  late: [124, 'begun\n\nError: Command timed out after 1 seconds.', true],
  left: '0\n',
  'both streams': 'out\nerr\nout\n',
  python: 1,
};

beforeAll(() => {
  needFramework(framework);
});

test(
  'FRAME-SUITES deepagents passes its own suite as a whole',
  async ({ sandbox }) => {
    await passSuite(framework, sandbox);
    keepResult(framework, {
      framework: 'LangChain deepagents',
      packages: ['deepagents', 'langchain-tests'],
      suite: '`SandboxIntegrationTests` of langchain-tests',
      passed: suites[framework].tests,
    });
  },
  besideFrameworks(),
);

test(
  'FRAME-DEEPAGENTS an agent of deepagents works in a sandbox whose image needs no Python, as its protocol says',
  async ({ sandbox }) => {
    const { code, stdout, stderr } = await runProgram(framework, 'deepagents_agent.py', { sandbox });
    expect([code, stderr]).toEqual([0, '']);
    const shown = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, unknown]);
    expect(Object.fromEntries(shown)).toEqual(expected);
  },
  besideFrameworks({ prepare: ({ directory }) => noteUseOfPython(join(directory, 'bin')) }),
);

for (let round = 1; round <= rounds; round++) {
  test(
    `FRAME-KILLS deepagents passes its own suite while the daemon is killed, round ${round}`,
    async ({ sandbox }) => {
      const [, kills] = await whileKilled(sandbox, () => passSuite(framework, sandbox));
      expect(kills).toBeGreaterThan(0);
      showFigures({ tests: suites[framework].tests, kills });
    },
    besideFrameworks(),
  );
}

/** The Python of the image leaves a file where a command runs it. */
function noteUseOfPython(directory: string): void {
  writeFileSync(join(directory, 'python3'), '#!/bin/sh\n: > /tmp/python-was-run\n', { mode: 0o755 });
}
