/** Tests what terminals report on a platform that the tests do not run on. */
import { expect, test } from 'bun:test';
import { terminalJobs } from '../../platform/terminal/terminal-job.ts';
import { Terminal, type TerminalDeps, type TerminalRecord } from './session/terminal.ts';

const record: TerminalRecord = {
  id: 'one',
  retention: 'persistent',
  cwd: '/',
  env: {},
  user: null,
  account: 'ada',
  createdMs: 0,
  lastUsedMs: 0,
  cols: 80,
  rows: 24,
  noChangeTimeoutMs: null,
};

function terminalOn(platform: NodeJS.Platform): Terminal {
  return new Terminal(record, { jobs: terminalJobs, now: Date.now, platform } as TerminalDeps);
}

test('RUN-WINDOWS the signal verb of a terminal is not implemented on Windows', () => {
  expect(() => terminalOn('win32').signal('SIGINT')).toThrow(expect.objectContaining({ code: 'not_implemented' }));
  expect(() => terminalOn('linux').signal('SIGINT')).toThrow(expect.objectContaining({ code: 'terminal_ended' }));
});

test('RUN-WINDOWS the exec verb of a terminal is not implemented on Windows', async () => {
  const spec = { command: 'true', timeoutMs: null, hardTimeoutMs: null, noChangeTimeoutMs: null };
  const options = { ...spec, isAsync: false, isTruncated: true, onBusy: 'wait' } as const;
  const codeOn = async (platform: NodeJS.Platform) => {
    return await terminalOn(platform)
      .exec.run(options, new AbortController().signal)
      .then(
        () => null,
        (error: unknown) => (error as { code: unknown }).code,
      );
  };
  expect(await codeOn('win32')).toBe('not_implemented');
  expect(await codeOn('linux')).toBe('terminal_ended');
});
