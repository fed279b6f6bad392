/** The behavior of commands and of reading their output. */
import { createHash } from 'node:crypto';
import { until } from '../harness/until.ts';
import { expect, fixture, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

test('CMD-1 CMD-11 FACT-1 V2CMD-SYNC V2CMD-RECORD V2CMD-STATUS a run returns its id, its exit code and both streams', async ({
  sandbox,
}) => {
  const result = await sandbox.run({ command: 'echo out; echo err >&2; exit 37' });

  expect(result).toMatchObject({
    command_id: expect.stringMatching(/^cmd_/),
    session_id: null,
    command: 'echo out; echo err >&2; exit 37',
    status: 'completed',
    exit_code: 37,
    signal: null,
    stdout: 'out\n',
    stderr: 'err\n',
    offset: 4,
    stderr_offset: 4,
    truncated: false,
    oom_killed: false,
    replayed: false,
    error: null,
  });
  expect(result['duration_ms']).toBeGreaterThan(0);
  expect(Date.parse(result['ended_at'])).toBeGreaterThanOrEqual(Date.parse(result['started_at']));
});

test('V2CMD-OUTPUT output holds both streams in the order they were read', async ({ sandbox }) => {
  const result = await sandbox.run({ command: fixture('alternates') });

  expect(result['output']).toBe('out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n');
  expect(result['stdout']).toBe('out 1\nout 2\nout 3\n');
});

test('V2CMD-MERGE merge gives one exact stream of both', async ({ sandbox }) => {
  const result = await sandbox.run({ command: 'for n in 1 2 3; do echo out $n; echo err $n >&2; done', merge: true });

  expect(result['stdout']).toBe('out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n');
  expect(result['stderr']).toBe('');
});

test('V2CMD-EXIT a command killed by a signal has exit code 128 + signal and the signal’s name', async ({
  sandbox,
}) => {
  expect(await sandbox.run({ command: 'kill -9 $$' })).toMatchObject({
    status: 'killed',
    exit_code: 137,
    signal: 'SIGKILL',
  });
  expect(await sandbox.run({ command: 'kill -TERM $$' })).toMatchObject({
    status: 'killed',
    exit_code: 143,
    signal: 'SIGTERM',
  });
});

test('V2CMD-FAILED a program that cannot be executed is a failed command with the reason', async ({ sandbox }) => {
  const result = await sandbox.run({ command: '/no/such/program', shell: 'none' });

  expect(result).toMatchObject({ status: 'failed', exit_code: null, pid: null });
  expect(result['error']).toMatchObject({ stage: 'exec', errno: 2, errno_name: 'ENOENT' });
});

test('V2CMD-E2BIG an argument over the system limit is reported as such', async ({ sandbox }) => {
  const result = await sandbox.run({ command: '/bin/true', shell: 'none', args: ['x'.repeat(200_000)] });

  expect(result['error']).toMatchObject({ stage: 'exec', errno_name: 'E2BIG' });
});

test('CMD-2 shell none runs a program with exactly these arguments', async ({ sandbox }) => {
  const result = await sandbox.run({ command: 'printf', shell: 'none', args: ['[%s]', 'a b', '$HOME', '', 'é'] });

  expect(result['stdout']).toBe('[a b][$HOME][][é]');
});

test('V2CMD-SHELL bash and sh run as requested', async ({ sandbox }) => {
  const which = 'echo "${BASH_VERSION:+bash}"';
  expect((await sandbox.run({ command: which, shell: 'bash' }))['stdout']).toBe('bash\n');
  expect((await sandbox.run({ command: which }))['stdout']).toBe('bash\n');
  expect((await sandbox.run({ command: 'echo $0', shell: 'sh' }))['stdout']).toMatch(/\bsh\n$/);
});

test('V2CMD-CWD the working directory is the workspace, an absolute path, or relative to the workspace', async ({
  sandbox,
}) => {
  const home = (await sandbox.run({ command: 'echo ~' }))['stdout'];
  expect((await sandbox.run({ command: 'pwd' }))['stdout']).toBe(home);
  expect((await sandbox.run({ command: 'pwd', cwd: '/usr/lib' }))['stdout']).toBe('/usr/lib\n');
  expect((await sandbox.run({ command: 'pwd', cwd: '~' }))['stdout']).toBe(home);
  expect(await sandbox.run({ command: 'pwd', cwd: '..' })).toMatchObject({ exit_code: 0 });
});

test('V2CMD-ENV env is added, null unsets, and the account’s variables are set', async ({ sandbox }) => {
  const result = await sandbox.run({
    command: 'echo "$A|${LANG-unset}|$HOME|$USER|$LOGNAME|$SHELL"; echo "$PATH"',
    env: { A: 'ä=b c', LANG: null },
  });

  const [first, path] = (result['stdout'] as string).split('\n');
  expect(first).toStartWith('ä=b c|unset|/');
  expect(first?.split('|').slice(2)).not.toContain('');
  expect(path?.split(':')).toEqual(expect.arrayContaining(['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin']));
});

test('V2CMD-STDIN a sync run without stdin does not hang on it; given data is written, then stdin is closed', async ({
  sandbox,
}) => {
  expect(await sandbox.run({ command: 'cat; echo end' })).toMatchObject({ stdout: 'end\n' });
  expect(await sandbox.run({ command: 'cat', stdin: { data: 'héllo' } })).toMatchObject({ stdout: 'héllo' });
  const large = Buffer.alloc(700_000, 'abcdefg').toString('base64');
  expect(await sandbox.run({ command: 'wc -c', stdin: { data_base64: large } })).toMatchObject({ stdout: '700000\n' });
});

test('V2CMD-STDIN a sync run with a timeout reads the end of input too, and stdin pipe opens it', async ({
  sandbox,
}) => {
  for (const shell of ['auto', 'none'] as const) {
    const result = await sandbox.run({ command: 'cat', shell, timeout: 60 });
    expect(result).toMatchObject({ status: 'completed', exit_code: 0, stdout: '' });
  }
  const open = await sandbox.run({ command: 'cat', stdin: 'pipe', timeout: 0.1 });
  expect(open).toMatchObject({ status: 'running' });
  await sandbox.ok(`POST /v2/commands/${open['command_id']}/stdin`, { input: 'typed', eof: true });
  await sandbox.ended(open['command_id']);
  expect(await sandbox.ok(`GET /v2/commands/${open['command_id']}`)).toMatchObject({ stdout: 'typed' });
});

test('V2CMD-STDIN the hint of a running command says how to pass input', async ({ sandbox }) => {
  const hintOf = async (body: Record<string, Json>) =>
    (await sandbox.request('POST /v2/commands', { command: 'sleep 1000', ...body })).body['hint'];
  const id = 'asked';
  expect(await hintOf({ mode: 'async', command_id: id })).toContain(`POST /v2/commands/${id}/stdin passes input.`);
  expect(await hintOf({ timeout: 0 })).toContain('mode async or stdin "pipe" starts a command with one.');
  expect(await hintOf({ mode: 'async', stdin: 'null' })).toContain('It has no open standard input');
});

test('V2CMD-ASYNC an async run answers at once, and its output is readable as it arrives', async ({ sandbox }) => {
  const started = await sandbox.ok('POST /v2/commands', {
    command: 'echo one; read line; echo "two $line"',
    mode: 'async',
  });
  expect(started).toMatchObject({ status: 'running', exit_code: null, ended_at: null });

  const read = await sandbox.ok(`GET /v2/commands/${started['command_id']}?wait=true`);
  expect(read).toMatchObject({ stdout: 'one\n', offset: 4, command: { status: 'running' } });
});

test('V2CMD-TIMEOUT the timeout of a sync run ends the wait, not the command', async ({ sandbox }) => {
  const result = await sandbox.run({ command: 'echo before; sleep 0.4; echo after; exit 3', timeout: 0.1 });
  expect(result).toMatchObject({ status: 'running', exit_code: null, stdout: 'before\n' });

  const record = await sandbox.ended(result['command_id']);
  expect(record).toMatchObject({ status: 'completed', exit_code: 3 });
});

test('V2CMD-TIMEOUT the output of a running command is returned up to the last whole character', async ({
  sandbox,
}) => {
  const script = "printf 'a\\303' >&2; printf 'b\\342\\202'; read line; printf '\\254'; printf '\\251' >&2";
  const result = await sandbox.run({ command: script, timeout: 0.3, stdin: 'pipe' });
  expect(result).toMatchObject({ stdout: 'b', stderr: 'a', offset: 1, stderr_offset: 1, truncated: false });
  expect((result['output'] as string).split('').toSorted()).toEqual(['a', 'b']);

  await sandbox.ok(`POST /v2/commands/${result['command_id']}/stdin`, { input: '\n' });
  await sandbox.ended(result['command_id']);
  const rest = await sandbox.ok(`GET /v2/commands/${result['command_id']}?offset=1&stderr_offset=1`);
  expect(rest).toMatchObject({ stdout: '€', stderr: 'é' });
});

test('V2CMD-HARD the hard timeout ends the whole tree', async ({ sandbox }) => {
  const result = await sandbox.run({ command: 'setsid sleep 300 & sleep 300', hard_timeout: 0.3 });

  expect(result).toMatchObject({ status: 'timed_out', exit_code: 143, signal: 'SIGTERM' });
  await until('the tree is gone', () => !sandbox.processes().some(({ command }) => command === 'sleep 300'));
});

test('V2CMD-GRANDCHILD a background process that holds the pipes delays nothing, and its output is readable later', async ({
  sandbox,
}) => {
  const startedMs = performance.now();
  const result = await sandbox.run({ command: fixture('forks-grandchild'), shell: 'none', args: ['0.5'] });

  expect(performance.now() - startedMs).toBeLessThan(450);
  expect(result).toMatchObject({ status: 'completed', exit_code: 5, stdout: 'from the leader\n', streams_open: true });
  const read = async () => (await sandbox.ok(`GET /v2/commands/${result['command_id']}?offset=16`))['stdout'];
  await until('the grandchild was read', async () => (await read()) === 'from the grandchild\n');
});

test('CMD-3 V2CMD-READ V2CMD-PAST V2CMD-LIMITBYTES output is readable by offset, separately per stream', async ({
  sandbox,
}) => {
  const { command_id: id } = await sandbox.run({ command: 'printf héllo; printf wörld >&2' });

  expect(await sandbox.ok(`GET /v2/commands/${id}?offset=3`)).toMatchObject({
    stdout: 'llo',
    stderr: 'wörld',
    offset: 6,
    stderr_offset: 6,
    gaps: [],
    command: { exit_code: 0, status: 'completed' },
  });
  expect(await sandbox.ok(`GET /v2/commands/${id}?offset=1&stderr_offset=6&limit_bytes=4`)).toMatchObject({
    stdout: 'éll',
    offset: 5,
  });
  expect(await sandbox.ok(`GET /v2/commands/${id}?offset=999`)).toMatchObject({ stdout: '', offset: 6 });
  expect(await sandbox.ok(`GET /v2/commands/${id}?offset=2`)).toMatchObject({ stdout: '\ufffdllo' });
});

test('V2CMD-UTF8 a character cut at the end is held back until it is whole', async ({ sandbox }) => {
  const id = await sandbox.start({ command: fixture('prints-slowly') });

  const first = await sandbox.ok(`GET /v2/commands/${id}?wait=true`);
  expect(first).toMatchObject({ stdout: 'h', offset: 1 });
  const second = await sandbox.ok(`GET /v2/commands/${id}?wait=true&offset=1`);
  expect(second['stdout']).toStartWith('é');
});

test('V2CMD-UTF8 a long text is cut between characters wherever its lines end, also after the command ended', async ({
  sandbox,
}) => {
  const text = '€'.repeat(100_000);
  const { command_id: id } = await sandbox.run({ command: 'cat', stdin: { data: text }, max_output_length: 1 });
  const lines = (await sandbox.allLines(id)).filter(({ type }) => type === 'stdout');

  expect(lines.length).toBeGreaterThan(1);
  expect(lines.map((line) => line['data'] as string).join('') === text).toBe(true);
});

test('V2CMD-MAX a long answer is cut in the middle, with a note', async ({ sandbox }) => {
  const command = 'seq 1 20000';
  const cut = await sandbox.run({ command, max_output_length: 100 });
  expect(cut['truncated']).toBe(true);
  expect(cut['stdout']).toStartWith('1\n2\n3\n');
  expect(cut['stdout']).toEndWith('19999\n20000\n');
  expect(cut['stdout']).toContain('bytes left out');
  expect(cut['offset']).toBe(108_894);

  const again = { command, max_output_length: 100, command_id: 'hinted' };
  const { hint } = (await sandbox.request('POST /v2/commands', again)).body;
  const [call = ''] = /^GET \S+/.exec(String(hint)) ?? [];
  expect((await sandbox.ok(call))['stdout']).toHaveLength(108_894);

  const whole = await sandbox.run({ command, max_output_length: 0 });
  expect(whole['stdout']).toHaveLength(108_894);
  expect(whole['truncated']).toBe(false);
});

test('V2CMD-OUTPUT output false leaves out the merged output alone', async ({ sandbox }) => {
  const command = 'seq 1 200; seq 1 200 >&2';
  const { output, ...rest } = await sandbox.run({ command, max_output_length: 800, command_id: 'same' });
  expect(output).toContain('bytes left out');
  expect(rest['truncated']).toBe(true);
  const again = await sandbox.run({ command, max_output_length: 800, command_id: 'same', output: false });
  expect(again).toEqual({ ...rest, truncated: false, replayed: true });
});

test('CMD-4 EVT-2 V2CMD-NDJSON V2CMD-NEXT the same route streams NDJSON: start, output with offsets, exactly one exit', async ({
  sandbox,
}) => {
  const { command_id: id } = await sandbox.run({ command: 'printf héllo; printf err >&2; exit 4' });
  const lines = await sandbox.allLines(id);

  expect(lines).toEqual([
    { type: 'start', command_id: id, pid: expect.any(Number) },
    { type: 'stdout', offset: 0, next: 6, data: 'héllo' },
    { type: 'stderr', offset: 0, next: 3, data: 'err' },
    { type: 'exit', status: 'completed', exit_code: 4, signal: null, offset: 6, stderr_offset: 3 },
  ]);
});

test('V2CMD-BASE64 base64 carries every byte', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: "printf '\\377\\000\\303'" });

  const [, text] = await sandbox.allLines(id);
  expect(text).toEqual({ type: 'stdout', offset: 0, next: 3, data: '\ufffd\0\ufffd' });
  const [, exact] = await sandbox.allLines(id, '&encoding=base64');
  expect(exact).toEqual({
    type: 'stdout',
    offset: 0,
    next: 3,
    data_base64: Buffer.from([0xff, 0, 0xc3]).toString('base64'),
  });
});

test('V2CMD-AUTO auto sends a piece of UTF-8 as text, and every other byte in base64 at once', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: "printf 'a\\0\\303'; sleep 0.3; printf '\\251'" });

  const pieces = (await sandbox.allLines(id, '&encoding=auto')).flatMap(({ data, data_base64: encoded }) =>
    data === undefined && encoded === undefined
      ? []
      : [Buffer.from((data ?? encoded) as string, data === undefined ? 'base64' : 'utf8')],
  );
  expect(Buffer.concat(pieces).toString()).toBe('a\0é');
  const lines = await sandbox.allLines(id, '&encoding=auto&offset=3');
  expect(lines[1]).toEqual({
    type: 'stdout',
    offset: 3,
    next: 4,
    data_base64: Buffer.from([0o251]).toString('base64'),
  });
  const [, text] = await sandbox.allLines(id, '&encoding=auto&offset=2');
  expect(text).toEqual({ type: 'stdout', offset: 2, next: 4, data: 'é' });
});

test('V2CMD-BYTES bytes come as they are, after a line with their number', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: "printf 'a\\n\\0\\303'; printf '}\\n' >&2" });
  const response = await sandbox.fetch(`GET /v2/commands/${id}?stream=true&encoding=bytes&offset=1`);
  const whole = Buffer.from(await response.arrayBuffer()).toString('latin1');
  const stdout = `{"type":"stdout","offset":1,"next":4,"bytes":3}\n\n\0\xc3`;
  const stderr = '{"type":"stderr","offset":0,"next":2,"bytes":2}\n}\n';
  const [start = '', ending = ''] = [/^.*\n/, /\{"type":"exit".*\n$/].map((pattern) => pattern.exec(whole)?.[0]);
  expect(JSON.parse(start)).toMatchObject({ type: 'start', command_id: id });
  expect([stdout + stderr, stderr + stdout]).toContain(whole.slice(start.length, -ending.length));
  expect(JSON.parse(ending)).toMatchObject({ type: 'exit', offset: 4, stderr_offset: 2 });
});

test('V2CMD-RESUME a stream cut at any byte resumes without loss or repetition', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: 'printf "añb€c𝄞d"; printf "xÿz" >&2' });
  const bytes = Buffer.from('añb€c𝄞d');

  for (let offset = 0; offset <= bytes.length; offset++) {
    const lines = await sandbox.allLines(id, `&encoding=base64&offset=${offset}&stderr_offset=5`);
    const rest = lines
      .filter(({ type }) => type === 'stdout')
      .map((line) => Buffer.from(line['data_base64'] as string, 'base64'));
    expect(Buffer.concat([bytes.subarray(0, offset), ...rest]).toString()).toBe('añb€c𝄞d');
    expect(lines.at(-1)).toMatchObject({ type: 'exit', offset: bytes.length, stderr_offset: 4 });
  }
});

test('V2CMD-DROP dropping the stream does not end the command', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'echo started; read line' });
  const drop = new AbortController();
  for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true`, drop.signal))
    if (line['type'] === 'stdout') break;
  drop.abort();

  expect((await sandbox.ok(`GET /v2/commands/${id}`))['command']['status']).toBe('running');
});

test('V2CMD-LIMITS limits are set as rlimits', async ({ sandbox }) => {
  const result = await sandbox.run({
    command: 'grep -E "^Max (open files|file size)" /proc/self/limits',
    limits: { open_files: 77, file_bytes: 1024 * 512 },
  });

  const limits = [...(result['stdout'] as string).matchAll(/^Max (\w+ \w+) +(\d+) +(\d+)/gm)];
  expect(limits.map(([, what, soft, hard]) => [what, soft, hard])).toEqual([
    ['file size', '524288', '524288'],
    ['open files', '77', '77'],
  ]);
});

test(
  'PROMISE-1 a daemon killed in the middle of a 40 MiB stream loses no byte and no exit code',
  async ({ sandbox }) => {
    const expected = createHash('sha256')
      .update(Buffer.from(await Bun.$`${fixture('floods')}`.quiet().arrayBuffer()))
      .digest('hex');
    const id = await sandbox.start({ command: `${fixture('floods')}; exit 9` });
    const bystander = await sandbox.start({ command: 'read line; exit 1' });
    const quick = await sandbox.run({ command: 'echo kept; exit 11' });
    const { hash, exit, kills } = await followThroughKills(sandbox, id, 8 * 1024 * 1024);

    expect(kills).toBeGreaterThanOrEqual(3);
    expect(hash).toBe(expected);
    expect(exit).toMatchObject({ type: 'exit', status: 'completed', exit_code: 9 });
    expect((await sandbox.ok(`GET /v2/commands/${bystander}`))['command']).toMatchObject({ status: 'running' });
    expect(await sandbox.ok(`GET /v2/commands/${quick['command_id']}`)).toMatchObject({
      stdout: 'kept\n',
      command: { exit_code: 11 },
    });
  },
  { expectedWarnings: ['started again by init'] },
);

/** Follows a stream to its end; after each given number of bytes it kills the daemon and resumes at its offset. */
async function followThroughKills(sandbox: Sandbox, id: string, everyBytes: number) {
  const digest = createHash('sha256');
  let offset = 0;
  let kills = 0;
  let exit: JsonObject | null = null;
  for (;;) {
    for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true&offset=${offset}`)) {
      if (line['type'] === 'exit') exit = line;
      if (line['type'] !== 'stdout') continue;
      expect(line['offset']).toBe(offset);
      digest.update(line['data'] as string);
      offset = line['next'] as number;
      if (offset > (kills + 1) * everyBytes) break;
    }
    if (exit) break;
    kills += 1;
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
  }
  return { hash: digest.digest('hex'), exit, kills };
}

test('V2CMD-LIMITBYTES an answer with a small limit holds the characters that fit, and at least one', async ({
  sandbox,
}) => {
  const { command_id: id } = await sandbox.run({ command: `printf 'aé😀\\377z'` });
  const read = async (limit: number) => {
    const texts: string[] = [];
    for (let at = 0; at < 9;) {
      const answer = await sandbox.ok(`GET /v2/commands/${id}?offset=${at}&limit_bytes=${limit}`);
      texts.push(answer['stdout']);
      expect(answer['offset']).toBeGreaterThan(at);
      at = answer['offset'];
    }
    return texts;
  };

  expect(await read(1)).toEqual(['a', 'é', '😀', '\uFFFD', 'z']);
  expect(await read(3)).toEqual(['aé', '😀', '\uFFFDz']);
  expect(await read(100)).toEqual(['aé😀\uFFFDz']);
});

test('HTTP-OFFSET an offset may be as large as the largest exact number, and no larger', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: 'echo x' });
  const most = Number.MAX_SAFE_INTEGER;

  expect(await sandbox.ok(`GET /v2/commands/${id}?offset=${most}&stderr_offset=${most}`)).toMatchObject({ offset: 2 });
  const refused = await sandbox.request(`GET /v2/commands/${id}?offset=9007199254740992`);
  expect([refused.status, refused.body.errors]).toEqual([
    422,
    [{ location: 'query.offset', message: `must be at most ${most}`, type: 'too_large' }],
  ]);
  const { paths } = (await (await sandbox.fetch('GET /v2/openapi.json')).json()) as JsonObject;
  const parameters = paths['/v2/commands/{command_id}'].get.parameters as { name: string; schema: JsonObject }[];
  for (const name of ['offset', 'stderr_offset'])
    expect(parameters.find((parameter) => parameter.name === name)?.schema).toMatchObject({
      type: 'integer',
      format: 'int64',
    });
});
