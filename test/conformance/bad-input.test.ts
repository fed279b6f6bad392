/** The exact status, message and hint for each bad input, which leaves the daemon unchanged. */
import { readFileSync } from 'node:fs';
import { exchange, statusOf } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

interface Case {
  readonly what: string;
  readonly route: string;
  readonly body?: unknown;
  readonly status: number;
  readonly message: string | RegExp;
  readonly hint: string | null;
  /** `location type` of each entry of errors. */
  readonly errors?: readonly string[];
}

const run = 'POST /v2/commands';
const seeErrors = 'See errors for each field that has to change.';
const sendJson = 'Send one JSON object in UTF-8.';

function invalid(what: string, route: string, body: unknown, location: string, type: string, message: string): Case {
  return {
    what,
    route,
    body,
    status: 422,
    message: `${location}: ${message}`,
    hint: seeErrors,
    errors: [`${location} ${type}`],
  };
}

const shells = 'auto, bash, sh, none, powershell, cmd';
const formOfIds = 'must match /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/';

const cases: readonly Case[] = [
  invalid('an unknown shell', run, { command: 'a', shell: 'fish' }, 'body.shell', 'enum', `must be one of ${shells}`),
  invalid(
    'an empty command',
    run,
    { command: '' },
    'body.command',
    'too_short',
    'must have at least 1 characters or entries',
  ),
  invalid('no command', run, {}, 'body.command', 'missing', 'is required'),
  invalid(
    'a NUL in the command',
    run,
    { command: 'a\0' },
    'body.command',
    'value_error',
    'must not contain a NUL byte',
  ),
  invalid(
    'a NUL in the name of a variable',
    run,
    { command: 'a', env: { 'A\0': '1' } },
    'body.env.A\0',
    'value_error',
    'must not contain a NUL byte',
  ),
  // A literal cannot contain this key, because it would set the prototype.
  invalid(
    'a variable that no object can hold',
    run,
    '{"command": "a", "env": {"__proto__": "1"}}',
    'body.env.__proto__',
    'value_error',
    'is not a name',
  ),
  invalid(
    'the same for a session',
    'POST /v2/commands/sessions',
    '{"env": {"A": "1", "__proto__": null}}',
    'body.env.__proto__',
    'value_error',
    'is not a name',
  ),
  invalid(
    'a NUL in an argument',
    run,
    { command: 'a', shell: 'none', args: ['\0'] },
    'body.args.0',
    'value_error',
    'must not contain a NUL byte',
  ),
  invalid(
    'a NUL in the directory',
    run,
    { command: 'a', cwd: '/\0' },
    'body.cwd',
    'value_error',
    'must not contain a NUL byte',
  ),
  invalid(
    'a NUL in the account',
    run,
    { command: 'a', user: '\0' },
    'body.user',
    'value_error',
    'must not contain a NUL byte',
  ),
  invalid(
    'a NUL in a value',
    run,
    { command: 'a', env: { A: '\0' } },
    'body.env.A',
    'value_error',
    'must not contain a NUL byte',
  ),
  invalid('a negative time-out', run, { command: 'a', timeout: -1 }, 'body.timeout', 'too_small', 'must be at least 0'),
  invalid(
    'a negative hard time-out',
    run,
    { command: 'a', hard_timeout: -0.1 },
    'body.hard_timeout',
    'too_small',
    'must be at least 0',
  ),
  invalid(
    'a negative length',
    run,
    { command: 'a', max_output_length: -1 },
    'body.max_output_length',
    'too_small',
    'must be at least 0',
  ),
  invalid(
    'a limit that is not a number',
    run,
    { command: 'a', limits: { open_files: 'many' } },
    'body.limits.open_files',
    'int_type',
    'must be a whole number',
  ),
  invalid('an id with a path', run, { command: 'a', command_id: '../../etc' }, 'body.command_id', 'pattern', formOfIds),
  invalid(
    'an id of 129 characters',
    run,
    { command: 'a', command_id: 'a'.repeat(129) },
    'body.command_id',
    'pattern',
    formOfIds,
  ),
  invalid(
    'an id that is a word of a route',
    run,
    { command: 'a', command_id: 'sessions' },
    'body.command_id',
    'value_error',
    'is a word of a route',
  ),
  invalid('an encoded .. as an id', 'GET /v2/commands/%2e%2e%2fx', undefined, 'path.command_id', 'pattern', formOfIds),
  invalid('an encoded / in an id', 'GET /v2/commands/a%2Fb', undefined, 'path.command_id', 'pattern', formOfIds),
  invalid(
    'a negative offset',
    'GET /v2/commands/ended?offset=-5',
    undefined,
    'query.offset',
    'too_small',
    'must be at least 0',
  ),
  invalid(
    'an offset that is not a number',
    'GET /v2/commands/ended?stderr_offset=x',
    undefined,
    'query.stderr_offset',
    'int_type',
    'must be a whole number',
  ),
  invalid(
    'a wait of ten minutes',
    'GET /v2/commands/ended?wait_timeout=600',
    undefined,
    'query.wait_timeout',
    'too_large',
    'must be at most 300',
  ),
  invalid(
    'an unknown encoding',
    'GET /v2/commands/ended?encoding=latin1',
    undefined,
    'query.encoding',
    'enum',
    'must be one of utf-8, base64, auto, bytes',
  ),
  invalid(
    'input that is not text',
    'POST /v2/commands/running/stdin',
    { input: 7 },
    'body.input',
    'string_type',
    'must be a string',
  ),
  invalid(
    'an unknown status',
    'GET /v2/commands?status=tired',
    undefined,
    'query.status',
    'enum',
    'must be one of running, completed, timed_out, killed, failed, lost',
  ),
  {
    what: 'a variable with = in its name',
    route: run,
    body: { command: 'a', env: { 'A=B': 'x' } },
    status: 422,
    message: /^body\.env\.A=B: /,
    hint: seeErrors,
    errors: ['body.env.A=B value_error'],
  },
  {
    what: 'an unknown signal',
    route: 'POST /v2/commands/running/kill',
    body: { signal: 'SIGNOPE' },
    status: 422,
    message: /^body\.signal: must be one of SIGHUP, SIGINT, /,
    hint: seeErrors,
    errors: ['body.signal enum'],
  },
  {
    what: 'args for a shell',
    route: run,
    body: { command: 'a', args: ['b'] },
    status: 400,
    message: 'args is only for shell "none"',
    hint: 'Set shell to "none" to run a program with arguments, or put the arguments into the command.',
  },
  {
    what: 'a directory that is a file',
    route: run,
    body: { command: 'a', cwd: '/etc/passwd' },
    status: 400,
    message: 'cwd /etc/passwd: not a directory',
    hint: 'Pass the path of a directory.',
  },
  {
    what: 'a directory that is not there',
    route: run,
    body: { command: 'a', cwd: '/no/such' },
    status: 400,
    message: 'cwd /no/such: no such file or directory',
    hint: 'Create it first, or pass another directory.',
  },
  {
    what: 'an unknown account',
    route: run,
    body: { command: 'a', user: 'nobody-of-that-name' },
    status: 400,
    message: 'no account is named "nobody-of-that-name"',
    hint: 'Pass a name from /etc/passwd, a uid, or uid:gid, or leave user out for the default account.',
  },
  {
    what: 'an account that no id can be',
    route: run,
    body: { command: 'a', user: '4294967295' },
    status: 400,
    message: 'no account is named "4294967295"',
    hint: 'Pass a name from /etc/passwd, a uid, or uid:gid, or leave user out for the default account.',
  },
  {
    what: 'an unknown session',
    route: run,
    body: { command: 'a', session: 'absent' },
    status: 404,
    message: 'no session has the id absent',
    hint: 'POST /v2/commands/sessions creates a session.',
  },
  {
    what: 'an unknown command',
    route: 'POST /v2/commands/absent/kill',
    body: {},
    status: 404,
    message: 'no command has the id absent',
    hint: 'Finished commands are kept for an hour, and only the newest 512. If a request for a command with this id arrives within 60 s, nothing is started, and the command is reported as killed.',
  },
  {
    what: 'stdin to an ended command',
    route: 'POST /v2/commands/ended/stdin',
    body: { input: 'x' },
    status: 409,
    message: 'the standard input of ended is closed',
    hint: 'The command has ended; its output is still readable.',
  },
  {
    what: 'a list as a body',
    route: run,
    body: '[]',
    status: 400,
    message: 'the body is not a JSON object',
    hint: sendJson,
  },
  {
    what: 'half a body',
    route: run,
    body: '{"command":',
    status: 400,
    message: /^the body is not JSON: /,
    hint: sendJson,
  },
  {
    what: 'a hundred megabytes',
    route: run,
    body: `{"command":"${'x'.repeat(100 * 1024 * 1024)}"}`,
    status: 413,
    message: 'the body is over the limit of 33554432 bytes',
    hint: 'Send large content as a file upload.',
  },
];

/** The state that must not change: the daemon's account and its retained data. */
async function stateOf(sandbox: Sandbox) {
  const status = readFileSync(`/proc/${sandbox.daemonPid}/status`, 'utf8');
  return {
    pid: sandbox.daemonPid,
    ids: /^(?:Uid|Gid|Groups):.*$/gm.exec(status)?.[0],
    commands: (await sandbox.ok('GET /v2/commands'))['commands'].map(
      (record: { command_id: string }) => record.command_id,
    ),
    sessions: (await sandbox.ok('GET /v2/commands/sessions'))['sessions'],
  };
}

test('ERR-400 ERR-422 HTTP-413 bad input gets its exact answer, and changes nothing', async ({ sandbox }) => {
  await sandbox.run({ command: 'true', command_id: 'ended' });
  await sandbox.start({ command: 'sleep 1000', command_id: 'running' });
  const before = await stateOf(sandbox);
  for (const { what, route, body, status, message, hint, errors } of cases) {
    const reply = await sandbox.request(route, body);
    const got = {
      what,
      status: reply.status,
      hint: reply.body.hint,
      errors: reply.body.errors?.map(({ location, type }) => `${location} ${type}`),
    };
    expect(got).toEqual({ what, status, hint, errors: errors ? [...errors] : undefined });
    expect([what, reply.body.message]).toEqual([
      what,
      typeof message === 'string' ? message : expect.stringMatching(message),
    ]);
    expect(reply.body.success).toBe(false);
  }

  expect(await stateOf(sandbox)).toEqual(before);
});

test('ERR-400 HTTP-BARE bytes that are not a request, or not text, are refused', async ({ sandbox }) => {
  const post = (body: Uint8Array) =>
    exchange(
      sandbox.url,
      Buffer.concat([
        Buffer.from(
          `POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
        ),
        body,
      ]),
    );
  const notUtf8 = await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));

  expect(statusOf(notUtf8)).toBe(400);
  expect(notUtf8).toContain('the body is not UTF-8');
  expect(statusOf(await exchange(sandbox.url, 'NONSENSE\r\n\r\n'))).toBe(400);
  expect((await sandbox.request('GET /health')).status).toBe(200);
});

test('V2CMD-PAST V2CMD-E2BIG IDENT-1 input that only looks invalid is served', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: 'printf abc' });

  expect(await sandbox.ok(`GET /v2/commands/${id}?offset=9007199254740991`)).toMatchObject({ stdout: '', offset: 3 });
  expect((await sandbox.request(`GET /v2/commands/${id}?wait=true&wait_timeout=1.5e-1&limit_bytes=1E1`)).status).toBe(
    200,
  );
  expect(await sandbox.run({ command: 'id -u', user: '54321', cwd: '/' })).toMatchObject({ stdout: '54321\n' });
  const large = await sandbox.run({ command: 'true', shell: 'none', args: ['x'.repeat(200 * 1024)] });
  expect(large).toMatchObject({ status: 'failed', exit_code: null, error: { stage: 'exec', errno_name: 'E2BIG' } });
});
