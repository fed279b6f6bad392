/** Commands and terminals through the protocol of E2B, for requests that no client sends. */
import { call, enveloped, outputOf, shell, stream } from '../harness/e2b-wire.ts';
import { urlOf, withE2b } from '../harness/e2b.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';

test(
  'E2B-WIRE a stream is its start, its data and its end, and an error is its last message',
  async ({ sandbox }) => {
    const [first, ...rest] = await stream(sandbox, 'Start', shell('printf out; exit 3', { unknown: 1, stdin: false }));
    expect(first?.[1]).toEqual({ event: { start: { pid: expect.any(Number) } } });
    expect(rest).toEqual([
      [0, { event: { data: { stdout: btoa('out') } } }],
      [0, { event: { end: { exitCode: 3, exited: true, status: 'exit status 3', error: 'exit status 3' } } }],
      [2, {}],
    ]);
    const error = async (message: object) => (await stream(sandbox, 'Start', message)).at(-1);
    expect(await error({ process: { cmd: '/none' } })).toMatchObject([2, { error: { code: 'invalid_argument' } }]);
    expect(await error({})).toMatchObject([2, { error: { code: 'invalid_argument' } }]);
    expect(await error({ process: { cmd: 'a\0b' } })).toMatchObject([2, { error: { code: 'invalid_argument' } }]);
    expect(await error({ process: { cmd: '/bin/true', envs: { 'A=B': '1' } } })).toMatchObject([
      2,
      { error: { code: 'invalid_argument' } },
    ]);
    const long = await stream(sandbox, 'Start', shell('echo k'), { 'connect-timeout-ms': '9999999999' });
    expect(outputOf(long)).toBe('k\n');
    const late = await stream(sandbox, 'Start', shell('sleep 60'), { 'connect-timeout-ms': '300' });
    expect(late.at(-1)).toMatchObject([2, { error: { code: 'deadline_exceeded' } }]);
    const silent = await stream(sandbox, 'Start', shell('sleep 0.6'), { 'keepalive-ping-interval': '0.2' });
    expect(silent.filter(([, { event }]) => event?.['keepalive']).length).toBeGreaterThanOrEqual(2);
  },
  withE2b(),
);

test(
  'E2B-WIRE a process does not lead its group, so setsid waits for its program, from the first command on',
  async ({ sandbox }) => {
    const asked = await stream(sandbox, 'Start', shell('setsid sh -c "sleep 0.1; echo late; exit 7"'));
    expect(outputOf(asked)).toBe('late\n');
    expect(asked.at(-2)).toMatchObject([0, { event: { end: { exitCode: 7 } } }]);
    const own = await sandbox.run({ command: 'ps -o pgid= $$; echo $$' });
    const [group, pid] = String(own['stdout']).trim().split(/\s+/);
    expect(group).toBe(pid);
  },
  withE2b(),
);

test(
  'E2B-WIRE a call that is wrong is refused with the code of the protocol',
  async ({ sandbox }) => {
    const refused = async (method: string, message: object | string) => {
      const answer = await call(sandbox, method, typeof message === 'string' ? message : JSON.stringify(message));
      return [answer.status, ((await answer.json()) as JsonObject)['code']];
    };
    expect(await refused('SendSignal', {})).toEqual([501, 'unimplemented']);
    const missing = { process: { pid: 999_999 } };
    expect(await refused('SendSignal', { ...missing, signal: 'SIGNAL_SIGKILL' })).toEqual([404, 'not_found']);
    expect(await refused('CloseStdin', missing)).toEqual([404, 'not_found']);
    expect(await refused('Update', { process: { tag: 'none' } })).toEqual([404, 'not_found']);
    expect(await refused('List', '{')).toEqual([400, 'invalid_argument']);
    expect(await refused('List', `{"a":"${'x'.repeat(5 * 1024 * 1024)}"}`)).toEqual([429, 'resource_exhausted']);
    const { command_id: id, pid } = await sandbox.ok('POST /v2/commands', { command: 'cat', mode: 'async' });
    const process = { pid };
    expect(await refused('SendInput', { process, input: { pty: btoa('x') } })).toEqual([500, 'internal']);
    expect(await refused('Update', { process, pty: { size: { cols: 1, rows: 1 } } })).toEqual([500, 'internal']);
    expect(await refused('SendSignal', { process, signal: 2 })).toEqual([501, 'unimplemented']);
    await sandbox.ok(`DELETE /v2/commands/${String(id)}`);
    const bare = await call(sandbox, 'List', '{}', { 'content-type': 'text/plain' });
    expect(bare.status).toBe(415);
    expect(await (await fetch(`${urlOf(sandbox)}/process.Process/List`, { keepalive: false })).json()).toMatchObject({
      code: 405,
    });
    expect(await (await fetch(`${urlOf(sandbox)}/v2/commands`, { keepalive: false })).json()).toMatchObject({
      code: 404,
    });
  },
  withE2b(),
);

test(
  'E2B-SURVIVES kill -9 of the daemon in the middle of a command: connect has all output and the exit code',
  async ({ sandbox }) => {
    const script = 'for i in 1 2 3 4 5 6; do echo line $i; sleep 0.2; done; exit 9';
    const started = await call(sandbox, 'Start', enveloped(shell(script, { tag: 'kept' })), {
      'content-type': 'application/connect+json',
    });
    const reader = started.body!.getReader();
    await reader.read();
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await reader.read().catch(() => null); // The connection breaks.
    await sandbox.served();
    const messages = await stream(sandbox, 'Connect', { process: { tag: 'kept' } });
    expect(outputOf(messages)).toBe([1, 2, 3, 4, 5, 6].map((line) => `line ${line}\n`).join(''));
    expect(messages.at(-2)?.[1]).toMatchObject({ event: { end: { exitCode: 9, exited: true } } });
  },
  withE2b({ expectedWarnings: ['started again by init'] }),
);

test(
  'E2B-UPGRADE an upgrade fails no call and no stream of the protocol',
  async ({ sandbox }) => {
    const open = Array.from({ length: 20 }, (_, i) => stream(sandbox, 'Start', shell(`sleep 1.5; echo ${i}`)));
    let isOver = false;
    // One call of each loop is always under way, also while the ports are handed over.
    const calls = Array.from({ length: 4 }, async () => {
      let count = 0;
      for (; !isOver; count++) expect((await call(sandbox, 'List', '{}')).status).toBe(200);
      return count;
    });
    expect(await sandbox.upgrade()).toMatchObject({ code: 0 });
    isOver = true;
    expect(Math.min(...(await Promise.all(calls)))).toBeGreaterThan(0);
    const ends = (await Promise.all(open)).map((messages) => messages.at(-2)?.[1]);
    for (const end of ends) expect(end).toMatchObject({ event: { end: { exited: true } } });
    expect((await call(sandbox, 'List', '{}')).status).toBe(200);
  },
  withE2b(),
);

test(
  'E2B-KEY the key of the daemon is the token; the health and the start values check it themselves',
  async ({ sandbox }) => {
    const status = async (headers: object) => {
      const answer = await call(sandbox, 'List', '{}', headers);
      return [answer.status, ((await answer.json()) as JsonObject)['code'] ?? null];
    };
    expect(await status({})).toEqual([401, 401]);
    expect(await status({ 'x-access-token': 'wrong' })).toEqual([401, 401]);
    expect(await status({ 'x-access-token': 'secret' })).toEqual([200, null]);
    expect(await status({ authorization: `Basic ${btoa('root:')}`, 'x-access-token': 'secret' })).toEqual([200, null]);
    const init = async (body: object, headers: Record<string, string> = {}) => {
      const options = { method: 'POST', body: JSON.stringify(body), keepalive: false, headers };
      return (await fetch(`${urlOf(sandbox)}/init`, options)).status;
    };
    expect(await init({ envVars: { A: '1' } })).toBe(401);
    expect(await init({ accessToken: 'wrong' }, { 'x-access-token': 'secret' })).toBe(401);
    const key = { 'x-access-token': 'secret' };
    expect(await init({ defaultUser: 'no-such-user' }, key)).toBe(400);
    expect(await init({ defaultWorkdir: '/a\0b' }, key)).toBe(400);
    expect(await init({ accessToken: 'secret', envVars: { A: 'set' }, defaultWorkdir: '/usr' })).toBe(204);
    expect((await fetch(`${urlOf(sandbox)}/health`, { keepalive: false })).status).toBe(204);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    const messages = await stream(sandbox, 'Start', shell('echo $A; pwd'), key);
    expect(outputOf(messages)).toBe('set\n/usr\n');
    const envs = await fetch(`${urlOf(sandbox)}/envs`, { keepalive: false, headers: key });
    expect(await envs.json()).toEqual({ A: 'set' });
  },
  withE2b({ env: { SVC_API_KEY: 'secret' }, expectedWarnings: ['started again by init'] }),
);
