/** The report is never late, never older than it may be, and one bad probe spoils its own domain only. */
import { expect, test } from 'bun:test';
import { Capabilities, type Probes } from './capabilities.ts';
import type { CodeCapability, ExecCapability, FilesCapability } from './report.ts';
import { unservedProbes } from './unserved.ts';

const unknown = { shells: [], pty: false, tmux: false, backend: null };
const exec: ExecCapability = { status: 'ready', missing: [], warnings: [], ...unknown };

const files: FilesCapability = { status: 'ready', missing: [], warnings: [], ripgrep: null };

const noCode = { backend: null, jupyterBackend: null, pythonKernels: [], languages: [], python: null, node: null };
const code: CodeCapability = { status: 'absent', missing: ['python3 is not on PATH'], warnings: [], ...noCode };

function probes(look: Probes['exec']['look']): Probes {
  return {
    ...unservedProbes({ find: () => null, environment: {} }),
    codeInterpreter: { look: () => code, unknown: noCode },
    exec: { look, unknown },
    files: { look: () => files, unknown: { ripgrep: null } },
  };
}

test('an answer is given again for 5 s, unless a fresh one is asked for', async () => {
  let nowMs = 0;
  let looks = 0;
  const capabilities = new Capabilities(
    probes(() => ({ ...exec, tmux: ++looks > 0 })),
    () => nowMs,
  );

  await Promise.all([capabilities.report(), capabilities.report()]);
  nowMs = 4999;
  await capabilities.report();
  expect(looks).toBe(1);
  await capabilities.report(true);
  expect(looks).toBe(2);
  nowMs = 4999 + 5000;
  await capabilities.report();
  expect(looks).toBe(3);
});

test('a probe that hangs is given up after 300 ms, and told as absent', async () => {
  const started = performance.now();
  let wasAborted = false;
  const capabilities = new Capabilities(
    probes((signal) => {
      signal.addEventListener('abort', () => (wasAborted = true));
      return new Promise(() => null);
    }),
    Date.now,
  );

  const { exec: standing, codeInterpreter } = await capabilities.report();

  expect(standing).toEqual({
    ...unknown,
    status: 'absent',
    missing: [],
    warnings: ['the probe gave no answer within 300 ms'],
  });
  expect(codeInterpreter.missing).toEqual(['python3 is not on PATH']);
  expect(wasAborted).toBe(true);
  expect(performance.now() - started).toBeLessThan(2000);
});

test('what gave no answer is looked at again by the next one who asks', async () => {
  let answer: (standing: ExecCapability) => void = () => {};
  let looks = 0;
  const answered = new Promise<ExecCapability>((resolve) => (answer = resolve));
  const capabilities = new Capabilities(
    probes(() => {
      looks += 1;
      return answered;
    }),
    () => 0,
  );

  expect((await capabilities.report()).exec.status).toBe('absent');
  answer(exec);
  expect((await capabilities.report()).exec).toEqual(exec);
  await capabilities.report();
  expect(looks).toBe(2);
});

test('a domain may know how it stands without an answer', async () => {
  const capabilities = new Capabilities(
    {
      ...probes(() => exec),
      files: { look: () => new Promise(() => null), unknown: { ripgrep: '/rg', status: 'ready' } },
    },
    Date.now,
  );

  expect((await capabilities.report()).files).toEqual({
    ...{ status: 'ready', missing: [], ripgrep: '/rg' },
    warnings: ['the probe gave no answer within 300 ms'],
  });
});

test('a probe that throws is told as absent, with its reason', async () => {
  const capabilities = new Capabilities(
    probes(() => {
      throw new Error('no such thing');
    }),
    Date.now,
  );

  expect((await capabilities.report()).exec).toMatchObject({
    status: 'absent',
    warnings: ['the probe failed: no such thing'],
  });
});
