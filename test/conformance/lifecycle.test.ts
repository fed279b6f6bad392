/** The start, stop, crash and restart of the program. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import { expect, launchCommand, Sandbox, programTest, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

/** Runs the program to its end. */
function program(args: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...launchCommand(), ...args], {
    env: programEnvironment(env),
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

programTest('RUN-VERBS version, help and print-openapi answer without a daemon', () => {
  expect(program(['version']).stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(program(['help', 'settings']).stdout).toContain('--api-key / SVC_API_KEY');
  for (const args of [[], ['--help'], ['help', '--help']]) expect(program(args).stdout).toContain('boxkeep start');
  const { stdout } = program(['help']);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(120);
  expect(stdout).not.toContain('SVC_API_KEY');
  const document = JSON.parse(program(['print-openapi', 'v2']).stdout) as { openapi: string };
  expect(document.openapi).toBe('3.1.0');
  expect(program(['dance'])).toMatchObject({
    exitCode: 2,
    stderr: 'boxkeep: no command is named dance; boxkeep --help lists them\n',
  });
  for (const [args, line] of [
    [['exce'], 'no command is named exce (did you mean exec?); boxkeep --help lists them'],
    [['start', '--prot', '1'], 'unknown argument --prot (did you mean --port?); boxkeep help settings lists them'],
  ] as const) {
    expect(program(args)).toMatchObject({ exitCode: 2, stderr: `boxkeep: ${line}\n` });
  }
});

programTest('LIM-1 FACT-5 the browser is searched at 127.0.0.1:9222 by default', () => {
  const page = program(['start', '--help']).stdout;
  expect(page).toMatch(/BROWSER_REMOTE_DEBUGGING_HOST .* Default 127\.0\.0\.1\.\n/);
  expect(page).toMatch(/BROWSER_REMOTE_DEBUGGING_PORT .* Default 9222\.\n/);
});

programTest('CLI-USAGE --help after every subcommand prints its page', () => {
  const words = [...program(['--help']).stdout.matchAll(/^ {2}boxkeep ([a-z-]+) /gm)].map(([, word = '']) => word);
  expect(words).toEqual(expect.arrayContaining(['start', 'doctor', 'version', 'print-openapi', 'upgrade', 'attach']));
  for (const word of words.filter((each) => !each.startsWith('-'))) {
    const page = program([word, '--help']);
    expect(page).toMatchObject({ exitCode: 0, stderr: '' });
    expect(program(['help', word])).toEqual(page);
    expect(page.stdout).toStartWith(`boxkeep ${word}`);
  }
  expect(program(['version', '-h']).stdout).toStartWith('boxkeep version: ');
  expect(program(['start', '--help']).stdout).toContain('--api-key / SVC_API_KEY');
});

programTest('RUN-BADVALUE a bad value stops the start with one clear line', () => {
  expect(program(['start', '--port', 'many'])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'boxkeep: --port: "many" is not valid: must be a whole number from 0 to 65535\n',
  });
  expect(program(['start'], { SVC_LOG_LEVEL: 'loud' })).toMatchObject({
    exitCode: 2,
    stderr: 'boxkeep: SVC_LOG_LEVEL: "loud" is not valid: must be one of debug, info, warn, error\n',
  });
  expect(program(['start', '--workspace', '/x'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/unknown argument --workspace/),
  });
});

programTest('AUTH-KEYRULE a key that no header can carry stops the start, and is not shown', () => {
  for (const [args, env, source] of [
    [[], { SVC_API_KEY: ' canary' }, 'SVC_API_KEY'],
    [[], { SANDBOX_API_KEY: 'canary\n\n' }, 'SANDBOX_API_KEY'],
    [['--api-key', 'canarié'], {}, '--api-key'],
  ] as const) {
    const stderr = `boxkeep: ${source}: the given value is not valid: a key is printable ASCII without blanks at its ends\n`;
    expect(program(['start', ...args], env)).toEqual({ exitCode: 2, stdout: '', stderr });
  }
});

test(
  'AUTH-KEYRULE one newline at the end of a key, which secret files have, is not part of the key',
  async ({ sandbox }) => {
    const ask = async (key: string) =>
      (await sandbox.request('GET /v2/commands/x', undefined, { 'x-api-key': key })).status;
    expect([await ask('sword fish'), await ask('swordfish')]).toEqual([404, 401]);
  },
  { env: { SVC_API_KEY: 'sword fish\n' } },
);

test('RUN-STOP SIGTERM ends every command, also those that ignore it, and exits 0 within 8 s', async ({ sandbox }) => {
  const ids = [
    await sandbox.start({ command: 'trap "" TERM; echo ready; while :; do sleep 1; done' }),
    await sandbox.start({ command: 'setsid sh -c "trap \\"\\" TERM HUP; echo ready; sleep 1000 & wait" & wait' }),
  ];
  for (const id of ids)
    await until('its trap stands', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'ready\n');
  const startedMs = performance.now();

  expect(await sandbox.stop()).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(8000);
  expect(sandbox.processes()).toEqual([]);
});

test('V2CMD-TERM a call that waits for the end of a command is answered that the daemon is stopping', async ({
  sandbox,
}) => {
  const v2 = sandbox.request('POST /v2/commands', { command: 'echo here; sleep 1000' });
  const v1 = sandbox.request('POST /v1/bash/exec', { command: 'echo here; sleep 1001' });
  await sandbox.ok('POST /v2/pty/sessions', { session_id: 'one' });
  const v2Terminal = sandbox.request('POST /v2/pty/sessions/one/exec', { command: 'sleep 1002' });
  const v1Terminal = sandbox.request('POST /v1/shell/exec', { command: 'sleep 1003' });
  await until('all run', () => sandbox.processes().filter(({ command }) => command.startsWith('sleep')).length === 4);
  sandbox.signal('SIGTERM');

  const message = expect.stringMatching(/the daemon is stopping and did not wait for the end$/);
  expect(await v2).toMatchObject({ status: 200, body: { message, data: { status: 'running', stdout: 'here\n' } } });
  for (const other of [v1, v2Terminal, v1Terminal])
    expect(await other).toMatchObject({ status: 200, body: { message, data: { status: 'running' } } });
  expect(await sandbox.exited()).toBe(0);
});

test('V2CMD-TERM a stream ends with a line that the daemon closes', async ({ sandbox }) => {
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
  'RUN-RESTART a daemon that crashes returns with everything it had',
  async ({ sandbox }) => {
    const ended = await sandbox.run({ command: 'echo before; exit 6', command_id: 'ended' });
    const running = await sandbox.start({ command: 'echo one; read line; echo two; exit 7' });
    expect(await sandbox.ok(`GET /v2/commands/${running}?wait=true`)).toMatchObject({ stdout: 'one\n' });
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

test('PROMISE-1 output after the end of a command is kept when its keeper is killed', async ({ sandbox }) => {
  // No reader asked for the second of two late lines: the keeper writes the line without a message to the daemon.
  const waiting = 'for go in 1 2; do while [ ! -e $go ]; do sleep 0.02; done; echo late $go; done';
  const command = `echo early; (${waiting}; sleep 1000) &`;
  const { command_id: id } = await sandbox.run({ command, cwd: sandbox.directory });
  const commands = join(sandbox.runtimeDirectory, 'commands');
  const [directory = ''] = readdirSync(commands);
  for (const go of [1, 2]) {
    writeFileSync(join(sandbox.directory, String(go)), '');
    const written = () => readFileSync(join(commands, directory, 'out'), 'utf8').endsWith(`late ${go}\n`);
    await until('the keeper has written it', written);
  }
  for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
  await until('the keeper is gone', () => sandbox.keepers().length === 0);
  await until('the daemon has noticed', async () => {
    const [record] = (await sandbox.ok('GET /v2/commands'))['commands'] as JsonObject[];
    return record?.['streams_open'] === false;
  });
  expect(await sandbox.ok(`GET /v2/commands/${id}`)).toMatchObject({ stdout: 'early\nlate 1\nlate 2\n' });
  for (const { pid, command } of sandbox.processes()) if (command === 'sleep 1000') process.kill(pid, 'SIGKILL');
});

test('V2CMD-LOST V2CMD-KILL a lost command ends after it started, and kill reaches the processes that it left', async ({
  sandbox,
}) => {
  const left = () => sandbox.processes().filter(({ command }) => /^sleep 100[34]$/.test(command));
  const start = async () => {
    const id = await sandbox.start({ command: '(trap "" TERM; sleep 1003) & sleep 1004 & echo kept; wait' });
    await until('its processes run', () => left().length === 2);
    for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
    const { status, started_at: startedAt, ended_at: endedAt } = await sandbox.ended(id);
    expect([status, Date.parse(endedAt) >= Date.parse(startedAt)]).toEqual(['lost', true]);
    return id;
  };
  const killed = await start();
  const [ignoring] = left().filter(({ command }) => command.endsWith('3'));
  const { signalled, survivors } = await sandbox.ok(`POST /v2/commands/${killed}/kill`, {});
  expect(signalled).toBeGreaterThanOrEqual(2);
  expect(survivors).toContain(ignoring?.pid);
  const ended = await sandbox.ok(`POST /v2/commands/${killed}/kill`, { signal: 'SIGKILL' });
  expect(ended).toMatchObject({ survivors: [] });
  expect(left()).toEqual([]);
  expect((await sandbox.request(`POST /v2/commands/${killed}/kill`, {})).body.message).toBe('The command has ended');

  const deleted = await start();
  await sandbox.ok(`DELETE /v2/commands/${deleted}`);
  await until('nothing of it is left', () => left().length === 0);
});

test('TERM-5 closing a terminal session whose keeper was killed ends the processes that the shell left', async ({
  sandbox,
}) => {
  const left = () => sandbox.processes().filter(({ command }) => command === 'sleep 1005');
  await sandbox.ok('POST /v2/pty/sessions', { id: 'lost' });
  // Typed, because exec replaces a shell that ends before the next prompt.
  await sandbox.ok('POST /v2/pty/sessions/lost/input', { input: '(trap "" HUP TERM; sleep 1005) &\n' });
  await until('its process runs', () => left().length === 1);
  for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
  const status = async () => (await sandbox.ok('GET /v2/pty/sessions/lost'))['status'];
  await until('the session has ended', async () => (await status()) === 'terminated');
  expect(left()).toHaveLength(1);
  await sandbox.ok('DELETE /v2/pty/sessions/lost');
  await until('nothing of it is left', () => left().length === 0);
});

test('TERM-5 a shell whose keeper was killed under a command is replaced, and closing ends what both shells left', async ({
  sandbox,
}) => {
  const left = () => sandbox.processes().filter(({ command }) => command === 'sleep 1006');
  const start = '(trap "" HUP TERM; sleep 1006) &';
  await sandbox.ok('POST /v2/pty/sessions', { id: 'replaced' });
  const killed = sandbox.ok('POST /v2/pty/sessions/replaced/exec', { command: `${start} sleep 1007` });
  await until('its process runs', () => left().length === 1);
  for (const pid of sandbox.keepers()) process.kill(pid, 'SIGKILL');
  expect(await killed).toMatchObject({ status: 'terminated', exit_code: null });
  await sandbox.ok('POST /v2/pty/sessions/replaced/exec', { command: start });
  await until('the process of the new shell runs', () => left().length === 2);
  await sandbox.ok('DELETE /v2/pty/sessions/replaced');
  await until('nothing of them is left', () => left().length === 0);
});

test('RUN-STARTS a second daemon on the same runtime directory refuses to start', async ({ sandbox }) => {
  const second = program(['start', '--port', '0', '--runtime-dir', sandbox.runtimeDirectory]);

  expect(second).toMatchObject({ exitCode: 2, stdout: '' });
  const advice = 'end it with boxkeep stop, or choose another --port and --runtime-dir';
  expect(second.stderr).toBe(`boxkeep: another boxkeep runs on ${sandbox.runtimeDirectory}; ${advice}\n`);
  expect(await sandbox.run({ command: 'echo still here' })).toMatchObject({ stdout: 'still here\n' });
});

test('RUN-PORT a taken port stops the start with one clear line', async ({ sandbox }) => {
  const port = new URL(sandbox.url).port;
  const second = program(['start', '--port', port, '--runtime-dir', join(sandbox.directory, 'other')]);

  expect(second).toMatchObject({
    exitCode: 2,
    stderr: `boxkeep: cannot listen on 127.0.0.1:${port} (SVC_PORT): EADDRINUSE, another program has this port\n`,
  });
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

/** A record without the fields that only an answer with output has. */
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
