/** How the program starts, stops, dies and comes back. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as programTest } from 'bun:test';
import { expect, launchCommand, Sandbox, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

/** Runs the program to its end. */
function program(args: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...launchCommand(), ...args], {
    env: { PATH: process.env['PATH'], ...env },
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

programTest('RUN-VERBS version, help and print-openapi answer without a daemon', () => {
  expect(program(['version']).stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(program(['--help']).stdout).toContain('--api-key / SVC_API_KEY');
  expect(program([]).stdout).toContain('sandboxd start');
  const document = JSON.parse(program(['print-openapi', 'v2']).stdout) as { openapi: string };
  expect(document.openapi).toBe('3.1.0');
  expect(program(['dance'])).toMatchObject({
    exitCode: 2,
    stderr: 'sandboxd: no command is named dance; sandboxd --help lists them\n',
  });
});

programTest('RUN-BADVALUE a bad value stops the start with one clear line', () => {
  expect(program(['start', '--port', 'many'])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'sandboxd: --port: "many" is not valid: must be a whole number\n',
  });
  expect(program(['start'], { SVC_LOG_LEVEL: 'loud' })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^sandboxd: SVC_LOG_LEVEL: "loud" is not valid.*\n$/),
  });
  expect(program(['start', '--workspace', '/x'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/unknown argument --workspace/),
  });
});

test('RUN-STOP SIGTERM ends every command, those that ignore it too, and exits 0 within 8 s', async ({ sandbox }) => {
  await sandbox.start({ command: 'trap "" TERM; while :; do sleep 1; done' });
  await sandbox.start({ command: 'setsid sh -c "trap \\"\\" TERM HUP; sleep 1000 & wait" & wait' });
  await until('both run', () => sandbox.processes().length >= 5);
  const startedMs = performance.now();

  expect(await sandbox.stop()).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(8000);
  expect(sandbox.processes()).toEqual([]);
});

test('V2CMD-TERM a stream is told that the daemon closes', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'echo here; sleep 1000' });
  const lines = [];
  for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true`)) {
    lines.push(line);
    if (line['type'] === 'stdout') sandbox.signal('SIGTERM');
  }

  expect(lines.at(-1)).toEqual({ type: 'closing', offset: 5, stderr_offset: 0 });
  expect(await sandbox.exited()).toBe(0);
});

test(
  'RUN-RESTART a daemon that dies is back with everything it had',
  async ({ sandbox }) => {
    const ended = await sandbox.run({ command: 'echo before; exit 6', command_id: 'ended' });
    const running = await sandbox.start({ command: 'echo one; read line; echo two; exit 7' });
    const meanwhile = await sandbox.start({ command: 'sleep 0.2; echo while you were away; exit 8' });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    expect(await sandbox.ok('GET /v2/commands/ended')).toMatchObject({
      stdout: 'before\n',
      command: { ...recordOf(ended), exit_code: 6 },
    });
    expect(await sandbox.ok(`GET /v2/commands/${running}`)).toMatchObject({
      stdout: 'one\n',
      command: { status: 'running' },
    });
    expect(await sandbox.ended(meanwhile)).toMatchObject({ status: 'completed', exit_code: 8 });
    expect(await sandbox.run({ command: 'echo before; exit 6', command_id: 'ended' })).toMatchObject({
      replayed: true,
      exit_code: 6,
    });
  },
  restarted,
);

test('V2CMD-LOST a command whose keeper was killed is lost, and no exit code is invented', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'echo kept; sleep 1000' });
  await until('it has spoken', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'kept\n');
  for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');

  expect(await sandbox.ended(id)).toMatchObject({ status: 'lost', exit_code: null, signal: null });
  expect(await sandbox.ok(`GET /v2/commands/${id}`)).toMatchObject({ stdout: 'kept\n' });
  expect((await sandbox.allLines(id)).at(-1)).toMatchObject({ type: 'exit', status: 'lost', exit_code: null });
  await until(
    'the leader died with its keeper',
    () => !sandbox.processes().some(({ command }) => command === 'sleep 1000'),
  );
});

test('RUN-STARTS a second daemon on the same runtime directory refuses to start', async ({ sandbox }) => {
  const second = program(['start', '--port', '0', '--runtime-dir', sandbox.runtimeDirectory]);

  expect(second).toMatchObject({ exitCode: 2, stdout: '' });
  expect(second.stderr).toMatch(/^sandboxd: another sandboxd runs on .*; stop it, or choose another --runtime-dir\n$/);
  expect(await sandbox.run({ command: 'echo still here' })).toMatchObject({ stdout: 'still here\n' });
});

test('RUN-PORT a taken port stops the start with one clear line', async ({ sandbox }) => {
  const port = new URL(sandbox.url).port;
  const second = program(['start', '--port', port, '--runtime-dir', join(sandbox.directory, 'other')]);

  expect(second).toMatchObject({ exitCode: 2, stderr: `sandboxd: cannot listen on 127.0.0.1:${port}: EADDRINUSE\n` });
});

programTest('RUN-DIR a runtime directory that others can open is refused', () => {
  const sandbox = new Sandbox();
  try {
    mkdirSync(sandbox.runtimeDirectory, { mode: 0o755 });
    const open = program(['start', '--port', '0', '--runtime-dir', sandbox.runtimeDirectory]);
    expect(open).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/is open to others \(chmod 700 it\)/) });
    const file = join(sandbox.directory, 'file');
    writeFileSync(file, '');
    expect(program(['start', '--port', '0', '--runtime-dir', file]).stderr).toMatch(
      /no runtime directory: .*EEXIST|is not a directory/,
    );
  } finally {
    sandbox.dispose();
  }
});

/** A record without what only an answer with output has. */
function recordOf(result: Record<string, unknown>): Record<string, unknown> {
  const {
    stdout: _stdout,
    stderr: _stderr,
    output: _output,
    offset: _offset,
    stderr_offset: _end,
    truncated: _cut,
    replayed: _again,
    ...record
  } = result;
  return record;
}
