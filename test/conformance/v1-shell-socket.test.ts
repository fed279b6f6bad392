/** The 1.x web terminal: the public guide's WebSocket, and several clients at one shell. */
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { exchange, statusOf } from '../harness/raw-http.ts';
import { ShellClient } from '../harness/shell-client.ts';
import { BareSocket, frameOf, opcodes } from '../harness/terminal-fuzz-socket.ts';
import { until } from '../harness/until.ts';
import { ShellRoutes, withPlainShell } from '../harness/v1-shell.ts';

const key = 'canary-key-of-a-web-terminal';

test(
  'V1SHELL-8 a web terminal receives its session, types, shows output, resizes and reconnects',
  async ({ sandbox }) => {
    const first = await ShellClient.open(sandbox);
    expect(first.frames.map(({ type }) => type)).toEqual(['session_id', 'ready', 'ping']);
    expect(first.frames[0]).toEqual({ type: 'session_id', data: expect.stringMatching(/./) });
    expect(first.frames[1]).toEqual({ type: 'ready', data: expect.any(String) });
    const { timestamp, data } = await first.receives('ping');
    expect(Math.abs(Date.now() - (timestamp as number))).toBeLessThan(60_000);
    expect(data).toBe(timestamp);
    first.resize(100, 30);
    first.type('stty size; printf "\\303\\244\\360\\237\\230\\200"; export ME=it\n');
    await first.sees('30 100');
    await first.sees('ä😀');
    await first.close();

    const second = await ShellClient.open(sandbox, `session_id=${first.sessionId}`, 'top');
    expect(second.sessionId).toBe(first.sessionId);
    await second.sees('30 100');
    await second.sees('ä😀');
    second.type('echo "<$ME>"\n');
    await second.sees('<it>');
    expect([...first.of('error'), ...second.of('error')]).toEqual([]);
    await second.close();
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 older frames are understood: fields beside the type, both forms of pong, pings',
  async ({ sandbox }) => {
    const client = await ShellClient.open(sandbox, 'session_id=');
    client.send({ type: 'resize', cols: 90, rows: 20 });
    client.send({ type: 'pong', timestamp: 1 });
    client.send({ type: 'pong', data: { timestamp: 1 } });
    client.send({ type: 'pong', data: 1 });
    client.send({ type: 'ping', timestamp: 7 });
    client.send({ type: 'ping', data: 8 });
    client.type('stty size\n');
    await client.sees('20 90');
    expect(await client.receives('pong', 2)).toEqual({ type: 'pong', timestamp: 8, data: 8 });
    expect(client.of('pong')[0]).toEqual({ type: 'pong', timestamp: 7, data: 7 });
    expect(client.of('error')).toEqual([]);
    await client.close();
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 V1SHELL-4 a socket and exec share one shell, whichever comes first',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const client = await ShellClient.open(sandbox, 'session_id=shared%20one');
    expect(client.sessionId).toBe('shared one');
    expect(await shell.exec('echo from exec; export ME=exec', { id: 'shared one' })).toMatchObject({
      output: 'from exec\n',
    });
    await client.sees('from exec');
    client.type('echo "<$ME>"; cd /usr\n');
    await client.sees('<exec>');
    await until('it is there', async () => (await shell.list())['shared one'].working_dir === '/usr');
    expect(await shell.output('shared one', 'pwd')).toBe('/usr\n');
    const running = shell.exec('read answer; echo "<$answer>"; exit 5', { id: 'shared one' });
    await client.sees('read answer');
    await until('it runs', async () => (await shell.ask('view', { id: 'shared one' }))['status'] === 'running');
    client.type('typed\n');
    expect(await running).toMatchObject({
      status: 'completed',
      exit_code: 5,
      output: expect.stringContaining('<typed>'),
    });
    expect(await shell.output('shared one', 'echo new shell')).toBe('new shell\n');
    await client.sees('new shell');
    expect(client.isClosed).toBe(false);
    await client.close();
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 a shell that exits closes its sockets, and a client that reconnects gets a new one',
  async ({ sandbox }) => {
    const client = await ShellClient.open(sandbox, 'session_id=it');
    client.type('echo last words; exit\n');
    expect(await client.closed).toEqual({ code: 4000, reason: 'the shell has ended' });
    expect(client.text).toContain('last words\r\n');
    const next = await ShellClient.open(sandbox, 'session_id=it');
    expect(next.text).not.toContain('last words');
    next.type('echo ne""w\n');
    await next.sees('new\r\n');
    await sandbox.ok('DELETE /v1/shell/sessions/it');
    expect((await next.closed).code).toBe(4000);
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 input of two clients arrives with each frame in one piece, and both see all output',
  async ({ sandbox }) => {
    const one = await ShellClient.open(sandbox, 'session_id=it');
    const two = await ShellClient.open(sandbox, 'session_id=it');
    one.type('cat > typed\n');
    const isThere = async () => (await new ShellRoutes(sandbox).list())['it'].current_command === 'cat';
    await until('it reads', isThere);
    const lines = 200;
    for (let n = 0; n < lines; n++) {
      one.type(`one-${n}-${'a'.repeat(50)}\n`);
      two.type(`two-${n}-${'b'.repeat(50)}\n`);
    }
    await one.sees(`two-${lines - 1}-${'b'.repeat(50)}`);
    await one.sees(`one-${lines - 1}-${'a'.repeat(50)}`);
    one.type('\x04');
    one.type('sort typed | uniq | wc -l; grep -cE "^(one-[0-9]+-a{50}|two-[0-9]+-b{50})$" typed\n');
    for (const client of [one, two]) await client.sees(`${2 * lines}\r\n${2 * lines}\r\n`);
    await Promise.all([one.close(), two.close()]);
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 a client that reconnects gets the current screen, then later output, once',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    await shell.exec(`for n in $(seq 100); do echo "line $n"; done; printf '\\033[2J\\033[3;5Hhere\\033[7;1H'`, {
      id: 'it',
    });
    await shell.exec('sleep 1; for n in $(seq 50); do echo next-$n; done', { id: 'it', async_mode: true });
    const client = await ShellClient.open(sandbox, 'session_id=it');
    await client.sees('next-50');
    expect(client.text).toContain('here');
    expect(client.text).toContain('line 50');
    expect(client.text.match(/next-50/g)).toHaveLength(1);
    await client.close();
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 a large output arrives whole and in order at a slow client',
  async ({ sandbox }) => {
    const client = await ShellClient.open(sandbox, 'session_id=it');
    client.type(`seq 200000; echo al''l\n`);
    await client.sees('all\r\n');
    const numbers = [...client.text.matchAll(/^(\d+)\r$/gm)].map(([, number]) => Number(number));
    expect(numbers).toHaveLength(200_000);
    expect(numbers.every((number, n) => number === n + 1)).toBe(true);
    expect(client.of('error')).toEqual([]);
    await client.close();
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 the key is in the URL, and nothing starts without it',
  async ({ sandbox }) => {
    for (const query of ['session_id=it', 'session_id=it&api_key=wrong']) {
      expect(await statusOfUpgrade(sandbox, query)).toBe(401);
    }
    const headers = { 'x-api-key': key };
    const { sessions } = await sandbox.ok('GET /v1/shell/sessions', undefined, headers);
    expect(sessions).toEqual({});
    const client = await ShellClient.open(sandbox, `session_id=it&api_key=${key}`);
    expect(client.sessionId).toBe('it');
    await client.close();
    expect(sandbox.stdout).not.toContain(key);
  },
  withPlainShell({ env: { SVC_API_KEY: key } }),
);

test(
  'V1SHELL-8 a request that is not a web terminal is answered before anything starts',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    expect((await sandbox.request('GET /v1/shell/ws?session_id=it')).status).toBe(426);
    expect(await statusOfUpgrade(sandbox, `session_id=${'x'.repeat(200)}`)).toBe(400);
    expect(await shell.list()).toEqual({});
    const one = await ShellClient.open(sandbox);
    expect(await statusOfUpgrade(sandbox, 'session_id=two')).toBe(429);
    expect(Object.keys(await shell.list())).toEqual([one.sessionId]);
    await one.close();
  },
  withPlainShell({ env: { SVC_SHELL_MAX_SESSIONS: '1' } }),
);

const hostileFrames: readonly (string | Uint8Array)[] = [
  ...['', ' ', 'ls\n', 'null', '7', '[]', '{}', '{"type":', '"input"', '\0', '{"type":"input"}'],
  ...['{"type":"input","data":7}', '{"type":"input","data":null}', '{"type":7}', '{"type":"nothing","data":"x"}'],
  ...['{"type":"resize"}', '{"type":"resize","data":"80x24"}', '{"type":"resize","data":{"cols":0,"rows":24}}'],
  ...['{"type":"resize","data":{"cols":80.5,"rows":24}}', '{"type":"resize","data":{"cols":1e9,"rows":24}}'],
  ...['{"type":"resize","data":{"cols":80}}', '{"type":"resize","data":[80,24]}', '{"type":"__proto__"}'],
  ...['{"type":"constructor","data":{}}', `{"type":"${'x'.repeat(100_000)}"}`, `${'['.repeat(100_000)}`],
  new Uint8Array([0, 255, 1]),
];

test(
  'V1SHELL-8 meaningless frames are answered with errors, and have no effect',
  async ({ sandbox }) => {
    const watcher = await ShellClient.open(sandbox, 'session_id=it');
    const client = await ShellClient.open(sandbox, 'session_id=it');
    for (const frame of hostileFrames) client.send(frame);
    await client.receives('error', hostileFrames.length);
    for (const { type, data } of client.of('error')) {
      expect(type).toBe('error');
      expect((data as string).length).toBeLessThan(1000);
    }
    client.type('stty size; echo un""harmed\n');
    for (const each of [watcher, client]) await each.sees('24 80\r\nunharmed\r\n');
    expect(watcher.of('error')).toEqual([]);
    await watcher.close();
    await client.close();
  },
  withPlainShell(),
);

test(
  'V1SHELL-8 clients that disconnect in any way leave the shell unchanged',
  async ({ sandbox }) => {
    const path = '/v1/shell/ws?session_id=it';
    const watcher = await ShellClient.open(sandbox, 'session_id=it');
    const whole = frameOf(opcodes.text, JSON.stringify({ type: 'input', data: 'echo "${n:-half}"' }));
    const endings: readonly Buffer[] = [
      whole.subarray(0, 3),
      whole.subarray(0, whole.length - 4),
      Buffer.concat([whole, whole.subarray(0, 5)]),
      frameOf(opcodes.close, Buffer.from([3, 232])),
      Buffer.from([0xff, 0xff, 0, 0, 0, 0]),
    ];
    for (const bytes of endings) {
      const socket = await BareSocket.open(sandbox.url, path, () => undefined);
      socket.sendBytes(bytes);
      await socket.drop();
    }
    await until('they are gone', async () => (await attached(sandbox)) === 1);
    watcher.type('\x15echo st""ill\n');
    await watcher.sees('still\r\n');
    await watcher.close();
  },
  withPlainShell(),
);

/** The status of a WebSocket upgrade request, as a client sends it. */
async function statusOfUpgrade({ url }: Sandbox, query: string): Promise<number> {
  const lines = [
    ...[`GET /v1/shell/ws?${query} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: Upgrade'],
    ...['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
  ];
  return statusOf(await exchange(url, lines.join('\r\n'), 500));
}

async function attached(sandbox: Sandbox): Promise<number> {
  return (await sandbox.ok('GET /v2/pty/sessions/it'))['attached'] as number;
}
