/** Errors for a language toolchain that is missing, broken or slow. */
import { expect, test } from 'bun:test';
import type { ToolOutcome, ToolRequest } from '../processes/tool.ts';
import { Packages, type PackageLanguage } from './packages.ts';

const pythonHint = 'Install Python 3.8 or newer in the image, for example with apt-get install python3.';
const npmHint = 'Install Node.js with npm in the image, for example with apt-get install nodejs npm.';

function ended(stdout: string, stderr = '', exitCode: number | null = 0): ToolOutcome {
  return { kind: 'ended', exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
}

function packages(outcome: ToolOutcome, asked: ToolRequest[] = []): Packages {
  return new Packages({
    async run(request) {
      asked.push(request);
      return outcome;
    },
  });
}

const refusals: [PackageLanguage, ToolOutcome, string, string | null][] = [
  ['python', { kind: 'failed', errnoName: 'ENOENT', message: 'no such file' }, 'no python3 on PATH', pythonHint],
  ['nodejs', { kind: 'failed', errnoName: 'ENOENT', message: 'no such file' }, 'no npm on PATH', npmHint],
  ['nodejs', { kind: 'failed', errnoName: 'EACCES', message: 'denied' }, 'npm cannot be run: denied', npmHint],
  ['python', { kind: 'too_slow' }, 'python3 did not end within 30 s', 'Try again when the machine is less busy.'],
  ['nodejs', { kind: 'too_much' }, 'npm answered more than 16777216 bytes', null],
  [
    'python',
    ended('', 'Traceback\nModuleNotFoundError: x\n', 1),
    'python3 ended with 1: ModuleNotFoundError: x',
    'Run python3 as a command to see what is wrong.',
  ],
  [
    'nodejs',
    ended('', '', null),
    'npm ended with a signal: it printed no list',
    'Run npm as a command to see what is wrong.',
  ],
];

for (const [language, outcome, message, hint] of refusals) {
  test(`${language}: ${message}`, async () => {
    const refusal = packages(outcome).list(language);

    expect(await thrownBy(refusal)).toMatchObject({ code: 'unavailable', message, hint });
  });
}

test('npm packages are listed although npm prints warnings', async () => {
  const output = '{"problems": ["x"], "dependencies": {"npm": {"version": "11.0.0"}, "a": {"missing": true}}}';

  expect(await packages(ended(output, 'npm error', 1)).list('nodejs')).toEqual([
    { name: 'a', version: '' },
    { name: 'npm', version: '11.0.0' },
  ]);
  expect(await packages(ended('{}')).list('nodejs')).toEqual([]);
});

test('concurrent callers share one listing, and the next caller starts a new one', async () => {
  const asked: ToolRequest[] = [];
  const shared = packages(ended('[]'), asked);

  await Promise.all([shared.list('python'), shared.list('python')]);
  expect(asked).toHaveLength(1);
  await shared.list('python');
  expect(asked).toHaveLength(2);
});

function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
