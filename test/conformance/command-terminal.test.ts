/** Commands that run at a terminal: one stream, a size, the true exit code, and survival like any command. */
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const size = { cols: 100, rows: 30 };

async function output(sandbox: Sandbox, id: string): Promise<string> {
  return (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] as string;
}

async function shows(sandbox: Sandbox, id: string, text: string): Promise<void> {
  let seen = '';
  await until(`the command shows ${text}`, async () => (seen = await output(sandbox, id)).includes(text)).catch(() => {
    throw new Error(`not shown: ${text}, but ${JSON.stringify(seen)}`);
  });
}

const type = (sandbox: Sandbox, id: string, input: string, more: JsonObject = {}) =>
  sandbox.ok(`POST /v2/commands/${id}/stdin`, { input, ...more });

test('V2CMD-TERMINAL the three streams are one terminal of that size, and the exit code is that of the program', async ({
  sandbox,
}) => {
  const command = 'test -t 0 && test -t 1 && test -t 2; echo "tty $? $TERM $(stty size)"; echo err >&2; exit 37';
  const result = await sandbox.run({ command, terminal: size });

  expect(result).toMatchObject({ status: 'completed', exit_code: 37, has_terminal: true, stderr: '' });
  expect(result['stdout']).toBe('tty 0 xterm-256color 30 100\r\nerr\r\n');
  expect(await sandbox.run({ command: 'true' })).toMatchObject({ has_terminal: false });
  const plain = { command: 'tty', shell: 'none', terminal: size, env: { TERM: 'dumb' } };
  expect((await sandbox.run(plain))['stdout']).toMatch(/^\/dev\/pts\/\d+\r\n$/);
});

test('V2CMD-TERMINAL input is typed, the end of input is a key, and Ctrl-C is a signal', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'stty -echo; echo ready; cat; exec sleep 1000', terminal: size });
  await shows(sandbox, id, 'ready\r\n');
  await type(sandbox, id, 'hello\n');
  await shows(sandbox, id, 'hello\r\n');
  await type(sandbox, id, '', { eof: true });
  // A shell can lose a SIGINT while it starts or ends a program.
  await until('it sleeps', () => sandbox.processes().some(({ command }) => command === 'sleep 1000'));
  await type(sandbox, id, '\x03');

  expect(await sandbox.ended(id)).toMatchObject({ status: 'killed', signal: 'SIGINT', exit_code: 130 });
});

test('V2CMD-RESIZE a resize reaches the program, and only a running program at a terminal has a size', async ({
  sandbox,
}) => {
  const script = `trap 'stty size' WINCH; echo ready; while :; do read -t 0.05 line && break; done; echo bye`;
  const id = await sandbox.start({ command: script, terminal: size });
  await shows(sandbox, id, 'ready\r\n');
  expect(await sandbox.ok(`POST /v2/commands/${id}/resize`, { cols: 33, rows: 11 })).toEqual({ cols: 33, rows: 11 });
  await shows(sandbox, id, '11 33\r\n');
  await type(sandbox, id, '\n');
  await sandbox.ended(id);
  const resize = async (other: string, wanted: JsonObject = size) => {
    const { status, body } = await sandbox.request(`POST /v2/commands/${other}/resize`, wanted);
    return [status, body.message];
  };
  expect(await resize(id)).toEqual([409, `the command ${id} has ended`]);
  const { command_id: piped } = await sandbox.run({ command: 'true' });
  expect(await resize(piped as string)).toEqual([400, `the command ${piped} does not run at a terminal`]);
  expect(await resize('none')).toEqual([404, 'no command has the id none']);
  expect((await resize(id, { cols: 0, rows: 1001 }))[0]).toBe(422);
});

test('V2CMD-TERMINAL a terminal takes no other standard input', async ({ sandbox }) => {
  for (const stdin of ['null', { data: 'x' }]) {
    const refused = await sandbox.request('POST /v2/commands', { command: 'true', terminal: size, stdin });
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('stdin')]);
  }
  const wide = { command: 'stty size', terminal: size, stdin: 'pipe', merge: true };
  expect(await sandbox.run(wide)).toMatchObject({ stdout: '30 100\r\n' });
});

test(
  'V2CMD-TERMINAL a command at a terminal outlives kill -9 of the daemon and an upgrade, with its size and its input',
  async ({ sandbox }) => {
    const command = 'while read line; do echo "got $line $(stty size)"; [ "$line" = end ] && exit 5; done';
    const id = await sandbox.start({ command, terminal: size });
    await type(sandbox, id, 'one\n');
    await shows(sandbox, id, 'got one 30 100\r\n');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await sandbox.ok(`POST /v2/commands/${id}/resize`, { cols: 50, rows: 20 });
    await type(sandbox, id, 'two\n');
    await shows(sandbox, id, 'got two 20 50\r\n');
    expect(await sandbox.upgrade()).toMatchObject({ code: 0 });
    await type(sandbox, id, 'end\n');

    expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 5, has_terminal: true });
    expect(await output(sandbox, id)).toBe('one\r\ngot one 30 100\r\ntwo\r\ngot two 20 50\r\nend\r\ngot end 20 50\r\n');
  },
  { expectedWarnings: ['started again by init'] },
);
