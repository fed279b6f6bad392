/** Sends damaged frames of sockets and streams, as a client and as a Jupyter server, and finds no parser that breaks. */
import { afterAll } from 'bun:test';
import { many } from '../harness/counts.ts';
import { damage } from '../harness/damage.ts';
import { enveloped } from '../harness/e2b-wire.ts';
import { urlOf, withE2b } from '../harness/e2b.ts';
import { within } from '../harness/fair-clock.ts';
import { showFigures } from '../harness/figures.ts';
import { imageWith } from '../harness/interpreters.ts';
import { expect, test } from '../harness/sandbox.ts';
import { seed } from '../harness/seed.ts';
import { numbers } from '../harness/terminal-fuzz-bytes.ts';
import { BareSocket, frameOf, opcodes } from '../harness/terminal-fuzz-socket.ts';

const answerWithinMs = 10_000;
/** Not a fault of the daemon: what is not built in, is absent, or finds no room. */
const permitted: ReadonlySet<number> = new Set([501, 503, 507]);

/** What a client sends to a terminal, without what would type at random. */
const clientFrames = [
  { type: 'resize', cols: 80, rows: 24 },
  { type: 'resize', data: { cols: 100 } },
  { type: 'signal', signal: 'SIGWINCH' },
  { type: 'ack', offset: 10 },
  { type: 'ping', timestamp: 1 },
  { type: 'pong', data: { timestamp: 1 } },
].map((frame) => JSON.stringify(frame));

test('TERM-10 damaged frames end at most the socket that they came from', async ({ sandbox }) => {
  const daemon = sandbox.daemonPid;
  // Text that is not a frame is typed, so one terminal is only looked at.
  for (const id of ['watched', 'typed']) {
    await sandbox.ok('POST /v2/pty/sessions', { id, cwd: sandbox.directory, env: { HOME: sandbox.directory } });
  }
  const next = numbers(seed);
  const count = many(400);
  for (let n = 0; n < count; n++) {
    const path = n % 2 === 0 ? '/v2/pty/sessions/watched/ws?mode=ro' : '/v1/shell/ws?session_id=typed';
    const socket = await BareSocket.open(sandbox.url, path, () => undefined);
    for (const text of clientFrames) {
      // After a damaged head, the rest of the connection has no meaning.
      if (next() % 8 > 0) socket.send(opcodes.text, damage(Buffer.from(text), next));
      else socket.sendBytes(damage(frameOf(opcodes.text, text), next));
    }
    await socket.drop();
  }
  showFigures({ frames: count * clientFrames.length });

  expect(sandbox.daemonPid).toBe(daemon);
  const done = await sandbox.ok('POST /v2/pty/sessions/watched/exec', { command: 'echo on' });
  expect(done).toMatchObject({ exit_code: 0 });
  for (const id of ['watched', 'typed']) await sandbox.ok(`DELETE /v2/pty/sessions/${id}`);
});

/** Calls of Connect: a message in an envelope for streams, plain JSON for others. */
const calls: readonly (readonly [method: string, message: object, isStream?: boolean])[] = [
  ['process.Process/Start', { process: { cmd: '/bin/true', args: [], envs: { A: '1' }, cwd: '/' } }, true],
  ['process.Process/Connect', { process: { pid: 999_999 } }, true],
  ['process.Process/List', {}],
  ['process.Process/SendInput', { process: { pid: 999_999 }, input: { stdin: 'aGk=' } }],
  ['process.Process/SendSignal', { process: { tag: 'none' }, signal: 'SIGNAL_SIGTERM' }],
  ['process.Process/Update', { process: { pid: 999_999 }, pty: { size: { cols: 80, rows: 24 } } }],
  ['filesystem.Filesystem/Stat', { path: '/tmp' }],
  ['filesystem.Filesystem/ListDir', { path: '/usr/share', depth: 1 }],
  ['filesystem.Filesystem/GetWatcherEvents', { watcherId: 'none' }],
];

test(
  'E2B-WIRE HTTP-PARSE no damaged message or envelope is answered as a fault of the daemon',
  async ({ sandbox }) => {
    const next = numbers(seed);
    const count = many(100);
    for (let n = 0; n < count * calls.length; n++) {
      const [method, message, isStream = false] = calls[n % calls.length]!;
      const whole = isStream ? enveloped(message) : Buffer.from(JSON.stringify(message));
      const body = n < calls.length ? whole : damage(whole, next);
      const headers = {
        'content-type': `application/${isStream ? 'connect+' : ''}json`,
      };
      const init = { method: 'POST', body: new Uint8Array(body), headers, keepalive: false };
      const ask = async () => {
        const answer = await fetch(`${urlOf(sandbox)}/${method}`, init);
        return [answer.status, await answer.text()] as const;
      };
      const [status, text] = await within(`answer ${n}`, ask(), answerWithinMs);
      // A stream ends with its error, after the status.
      const isRight = (status < 500 || permitted.has(status)) && !/"code": ?"(?:internal|unknown)"/.test(text);
      if (!isRight) throw new Error(`${n}: ${method} ${body.toString('latin1')}\n${status} ${text}`);
    }
    showFigures({ requests: count * calls.length });
  },
  withE2b(),
);

/** What a kernel says during a cell, in the frames of a Jupyter server. */
function kernelMessages(parent: string): readonly string[] {
  const message = (channel: string, type: string, content: object) =>
    JSON.stringify({ channel, header: { msg_type: type }, parent_header: { msg_id: parent }, metadata: {}, content });
  return [
    message('iopub', 'status', { execution_state: 'busy' }),
    message('iopub', 'execute_input', { code: '1', execution_count: 1 }),
    message('iopub', 'stream', { name: 'stdout', text: 'out\n' }),
    message('iopub', 'display_data', { data: { 'text/plain': '1' }, metadata: {}, transient: { display_id: 'a' } }),
    message('iopub', 'update_display_data', { data: { 'text/html': '<b>' }, transient: { display_id: 'a' } }),
    message('iopub', 'clear_output', { wait: true }),
    message('iopub', 'error', { ename: 'E', evalue: 'v', traceback: ['a', 'b'] }),
    message('iopub', 'execute_result', { execution_count: 1, data: { 'text/plain': '1' }, metadata: {} }),
  ];
}

function endMessages(parent: string): readonly string[] {
  const message = (channel: string, type: string, content: object) =>
    JSON.stringify({ channel, header: { msg_type: type }, parent_header: { msg_id: parent }, content });
  return [
    message('shell', 'execute_reply', { status: 'ok', execution_count: 1, payload: [], user_expressions: {} }),
    message('iopub', 'status', { execution_state: 'idle' }),
  ];
}

/** The frame of a message with buffers: their number, their offsets, and the message as the first buffer. */
function withBuffers(text: Uint8Array): Buffer {
  const head = Buffer.alloc(12);
  for (const [at, value] of [2, 12, 12 + text.length].entries()) head.writeUInt32BE(value, at * 4);
  return Buffer.concat([head, text, Buffer.from('buffer')]);
}

/** A Jupyter server whose kernels send damaged frames during each cell, until it is told to stop. */
class DamagedJupyter implements AsyncDisposable {
  isDamaged = true;
  frames = 0;
  readonly #next = numbers(seed);
  readonly #server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, server) => {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('/channels'))
        return server.upgrade(request) ? undefined : new Response('', { status: 400 });
      const spec = { display_name: 'Python', language: 'python' };
      if (pathname === '/api/kernelspecs')
        return Response.json({ default: 'python3', kernelspecs: { python3: { name: 'python3', spec } } });
      if (request.method === 'DELETE') return new Response(null, { status: 204 });
      return new Response(this.#changed(Buffer.from(JSON.stringify({ id: crypto.randomUUID(), name: 'python3' })), 4));
    },
    websocket: {
      message: (socket, request) => {
        const { header } = JSON.parse(String(request)) as { header: { msg_id: string } };
        for (const text of this.isDamaged ? kernelMessages(header.msg_id) : []) {
          this.frames += 1;
          const bytes = Buffer.from(text);
          if (this.#next() % 4 > 0) socket.sendText(damage(bytes, this.#next).toString());
          else socket.sendBinary(this.#cut(damage(withBuffers(bytes), this.#next)));
        }
        for (const text of endMessages(header.msg_id)) socket.sendText(text);
      },
    },
  });

  get endpoint(): string {
    return `http://127.0.0.1:${this.#server.port}/`;
  }

  /** One of `share` answers is damaged. */
  #changed(bytes: Buffer, share: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.isDamaged && this.#next() % share === 0 ? damage(bytes, this.#next) : bytes);
  }

  /** Every other frame ends in its head. */
  #cut(frame: Buffer): Buffer {
    return this.#next() % 2 === 0 ? frame : frame.subarray(0, this.#next() % 12);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

const jupyter = new DamagedJupyter();
afterAll(() => jupyter[Symbol.asyncDispose]());

test(
  'CODE-1 HTTP-PARSE whatever a Jupyter server sends, the daemon answers each cell and serves the next one',
  async ({ sandbox }) => {
    const daemon = sandbox.daemonPid;
    const ids = Array.from({ length: 10 }, (_, n) => `session-${n}`);
    for (let n = 0; n < many(100); n++) {
      const cell = { language: 'python', code: '1', ...(n % 2 === 0 && { session_id: ids[n % ids.length] }) };
      const { status, body } = await within(
        `cell ${n}`,
        sandbox.request('POST /v2/code/execute', cell),
        answerWithinMs,
      );
      if (status >= 500 && !permitted.has(status)) throw new Error(`cell ${n}: ${status} ${JSON.stringify(body)}`);
    }
    showFigures({ frames: jupyter.frames });
    jupyter.isDamaged = false;
    expect([sandbox.daemonPid, sandbox.stderr]).toEqual([daemon, '']);
    expect(await sandbox.ok('POST /v2/code/execute', { language: 'python', code: '1' })).toMatchObject({
      status: 'ok',
    });
    for (const id of ids) await sandbox.request(`DELETE /v2/code/sessions/${id}`);
  },
  imageWith(
    () => [],
    () => ({ SVC_JUPYTER_ENDPOINT: jupyter.endpoint }),
  ),
);
