/** Tests see the same PATH, locale and time zone on every machine. */
import { expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainPythonPath } from './plain-python.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';

const script = `console.log(JSON.stringify({
  python: require('node:child_process').spawnSync('python3', ['-c', 'import sys; print(sys.prefix)']).stdout.toString().trim(),
  hour: new Date(0).getHours(),
  locale: Object.entries(process.env).filter(([name]) => /^(LC_|LANG)/.test(name)),
}))`;

test('the Python, the locale and the time zone of the machine do not reach a test', () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-test-'));
  try {
    writeFileSync(join(directory, 'python3'), '#!/bin/sh\necho the Python of the machine\n');
    chmodSync(join(directory, 'python3'), 0o755);
    const machine = {
      PATH: `${directory}:${process.env['PATH']}`,
      TZ: 'Asia/Kolkata',
      LC_ALL: 'de_DE.UTF-8',
      LANGUAGE: 'de',
    };
    const preload = join(repositoryRoot, 'test/harness/environment.ts');
    const run = Bun.spawnSync([bunPath(), '--preload', preload, '-e', script], { env: machine });
    expect([run.exitCode, run.stderr.toString()]).toEqual([0, '']);
    expect(JSON.parse(run.stdout.toString())).toEqual({
      python: join(plainPythonPath, '..'),
      hour: 0,
      locale: [['LANG', 'C.UTF-8']],
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('no name of the tests’ Python has a kernel', () => {
  const script = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("ipykernel") is not None)';
  for (const name of ['python', 'python3', 'python3.8', 'python3.11', 'python3.14']) {
    const { exitCode } = Bun.spawnSync([join(plainPythonPath, name), '-c', script]);
    expect([name, exitCode]).toEqual([name, 0]);
  }
});
