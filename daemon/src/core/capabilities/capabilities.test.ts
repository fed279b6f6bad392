/** A report is never late and never older than its limit, and a failing probe affects only its own domain. */
import { expect, test } from 'bun:test';
import { Capabilities, type Probes } from './capabilities.ts';
import type { BrowserCapability, CodeCapability, ExecCapability, FilesCapability } from './report.ts';

const unknown = { shells: [], pty: false, tmux: false, backend: null };
const exec: ExecCapability = { status: 'ready', missing: [], warnings: [], ...unknown };

const files: FilesCapability = { status: 'ready', missing: [], warnings: [], ripgrep: null };

const noBrowser = { process: null, cdp: null, version: null };
const noCode = { backend: null, jupyterBackend: null, pythonKernels: [], languages: [], python: null, node: null };
const nothingWorks = { screenshot: false, actions: false, clipboard: false, recording: false, accessibility: false };
const noComputer = { provider: null, display: null, resolution: null, accessibilityBackend: null, ...nothingWorks };
const code: CodeCapability = { status: 'absent', missing: ['python3 is not on PATH'], warnings: [], ...noCode };

function probes(look: Probes['exec']['look']): Probes {
  return {
    mcp: { look: () => ({ status: 'ready', missing: [], warnings: [] }), unknown: {} },
    browser: { look: () => ({ ...noBrowser, status: 'absent', missing: [], warnings: [] }), unknown: noBrowser },
    codeInterpreter: { look: () => code, unknown: noCode },
    computer: { look: () => ({ ...noComputer, status: 'absent', missing: [], warnings: [] }), unknown: noComputer },
    exec: { look, unknown },
    files: { look: () => files, unknown: { ripgrep: null } },
  };
}

/** A hanging probe costs each test this long. */
const limitMs = 200;

test('an answer is cached for 5 s, unless a fresh one is requested', async () => {
  let nowMs = 0;
  let looks = 0;
  const capabilities = new Capabilities(
    probes(() => ({ ...exec, tmux: ++looks > 0 })),
    () => nowMs,
    limitMs,
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

test('a probe that hangs is abandoned after its limit and reported as absent', async () => {
  const started = performance.now();
  let wasAborted = false;
  const capabilities = new Capabilities(
    probes((signal) => {
      signal.addEventListener('abort', () => (wasAborted = true));
      return new Promise(() => null);
    }),
    Date.now,
    limitMs,
  );

  const { exec: standing, codeInterpreter } = await capabilities.report();

  expect(standing).toEqual({
    ...unknown,
    status: 'absent',
    missing: [],
    warnings: ['the probe gave no answer within 0.2 s'],
  });
  expect(codeInterpreter.missing).toEqual(['python3 is not on PATH']);
  expect(wasAborted).toBe(true);
  expect(performance.now() - started).toBeLessThan(2000);
});

test('a probe without an answer is repeated for the next caller', async () => {
  let answer: (standing: ExecCapability) => void = () => {};
  let looks = 0;
  const answered = new Promise<ExecCapability>((resolve) => (answer = resolve));
  const capabilities = new Capabilities(
    probes(() => {
      looks += 1;
      return answered;
    }),
    () => 0,
    limitMs,
  );

  expect((await capabilities.report()).exec.status).toBe('absent');
  answer(exec);
  expect((await capabilities.report()).exec).toEqual(exec);
  await capabilities.report();
  expect(looks).toBe(2);
});

test('a probe that is always late is answered with its previous result, until the facts known at once change', async () => {
  let nowMs = 0;
  let tmux = false;
  let answer: (standing: ExecCapability) => void = () => {};
  const slow = probes(() => new Promise((resolve) => (answer = resolve)));
  const capabilities = new Capabilities(
    {
      ...slow,
      exec: {
        look: slow.exec.look,
        get unknown() {
          return { ...unknown, tmux };
        },
      },
    },
    () => nowMs,
    limitMs,
  );

  expect((await capabilities.report()).exec.status).toBe('absent');
  answer(exec);
  nowMs = 3_600_000;
  expect((await capabilities.report()).exec).toEqual(exec);
  expect((await capabilities.report(true)).exec).toEqual(exec);
  tmux = true;
  expect((await capabilities.report(true)).exec.warnings).toEqual(['the probe gave no answer within 0.2 s']);
});

test('a domain may report a status without an answer of its probe', async () => {
  const capabilities = new Capabilities(
    {
      ...probes(() => exec),
      files: { look: () => new Promise(() => null), unknown: { ripgrep: '/rg', status: 'ready' } },
    },
    Date.now,
    limitMs,
  );

  expect((await capabilities.report()).files).toEqual({
    ...{ status: 'ready', missing: [], ripgrep: '/rg' },
    warnings: ['the probe gave no answer within 0.2 s'],
  });
});

test('a probe that throws is reported as absent, with the reason', async () => {
  const capabilities = new Capabilities(
    probes(() => {
      throw new Error('no such thing');
    }),
    Date.now,
    limitMs,
  );

  expect((await capabilities.report()).exec).toMatchObject({
    status: 'absent',
    warnings: ['the probe failed: no such thing'],
  });
});

test('an earlier answer of another process does not stand for one that stalls', async () => {
  const answered: BrowserCapability = { status: 'ready', missing: [], warnings: [], ...noBrowser, version: '1' };
  let hangs = false;
  const look = () => (hangs ? new Promise<BrowserCapability>(() => null) : answered);
  const all = { ...probes(() => exec), browser: { isLive: true, look, unknown: noBrowser } };
  const capabilities = new Capabilities(all, Date.now, limitMs);

  expect((await capabilities.report()).browser).toEqual(answered);
  hangs = true;
  expect((await capabilities.report(true)).browser).toMatchObject({
    status: 'absent',
    version: null,
    warnings: ['the probe gave no answer within 0.2 s'],
  });
});
