/** What is told of terminals on a system that the tests do not run on. */
import { expect, test } from 'bun:test';
import { terminalJobs } from '../../platform/terminal-job.ts';
import { Executions, type ExecutionsDeps } from './executions.ts';
import { Terminal, type TerminalRecord } from './terminal.ts';

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
  return new Terminal(record, { jobs: terminalJobs, now: Date.now, platform });
}

test('RUN-WINDOWS signal of a terminal is not implemented there', () => {
  expect(() => terminalOn('win32').signal('SIGINT')).toThrow(expect.objectContaining({ code: 'not_implemented' }));
  expect(() => terminalOn('linux').signal('SIGINT')).toThrow(expect.objectContaining({ code: 'terminal_ended' }));
});

test('RUN-WINDOWS exec of a terminal is not implemented there', async () => {
  const spec = { command: 'true', timeoutMs: null, hardTimeoutMs: null, noChangeTimeoutMs: null };
  const options = { ...spec, isAsync: false, isTruncated: true, onBusy: 'wait' } as const;
  const codeOn = async (platform: NodeJS.Platform) => {
    const executions = new Executions({ platform } as ExecutionsDeps);
    const exec = executions.exec(terminalOn(platform), options, new AbortController().signal);
    return await exec.then(
      () => null,
      (error: unknown) => (error as { code: unknown }).code,
    );
  };
  expect(await codeOn('win32')).toBe('not_implemented');
  expect(await codeOn('linux')).toBe('terminal_ended');
});
