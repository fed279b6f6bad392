/** The requests of the 1.x clients on the wire, in three languages, and how each reads the answers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialects, leftOut, sendAs, type Dialect, type WireReply } from '../harness/client-wire.ts';
import { form, formType } from '../harness/form.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { withPlainAccount } from '../harness/test-account.ts';

const key = 'canary-key-51c0de77aa';
const envelopeKeys = ['success', 'message', 'data', 'hint'];

function expectEnvelope(what: unknown, { status, headers, body }: WireReply, expected: number): void {
  expect([what, status, headers.get('content-type')]).toEqual([what, expected, 'application/json']);
  expect([what, Object.keys(body)]).toEqual([what, expect.arrayContaining(envelopeKeys)]);
  expect([what, body.success]).toEqual([what, expected === 200]);
}

/** Calls whose arguments are all optional, with their answers from a daemon without other programs. */
const withoutArguments: Readonly<Record<string, readonly number[]>> = {
  'POST /v1/bash/sessions/create': [200],
  'POST /v1/shell/sessions/create': [200],
  'POST /v1/nodejs/sessions': [200, 503],
  'POST /v1/jupyter/sessions/create': [200, 501],
  'POST /v1/browser/config': [503],
  'POST /v1/browser/tabs': [503],
  'POST /v1/file/watch/no-watcher/poll': [404],
};

test(
  'HTTP-EMPTY VER-3 a call without arguments works, however each client encodes an empty body',
  async ({ sandbox }) => {
    for (const [route, statuses] of Object.entries(withoutArguments)) {
      const answers = await Promise.all(
        dialects.map((dialect) => sendAs(dialect, sandbox, route, { body: leftOut(dialect) })),
      );
      expect([route, statuses.includes(answers[0]?.status ?? 0)]).toEqual([route, true]);
      for (const answer of answers) expectEnvelope(route, answer, answers[0]?.status ?? 0);
    }
  },
  withPlainAccount({ env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }),
);

test('HTTP-EMPTY V1WATCH-2 a watcher is polled without arguments', async ({ sandbox }) => {
  const body = JSON.stringify({ path: sandbox.directory, exclude: ['runtime', 'tmp'] });
  const created = await sendAs('python', sandbox, 'POST /v1/file/watch', { body });
  const id = created.body.data['watcher_id'] as string;
  for (const dialect of dialects) {
    const reply = await sendAs(dialect, sandbox, `POST /v1/file/watch/${id}/poll`, { body: leftOut(dialect) });
    expectEnvelope(dialect, reply, 200);
    expect([dialect, reply.body.data]).toMatchObject([dialect, { events: [], overflow: false }]);
  }
  await sendAs('python', sandbox, `DELETE /v1/file/watch/${id}`);
});

test('V1BASH-7 V1CODE-4 VER-3 a request without a body needs no content type', async ({ sandbox }) => {
  for (const dialect of dialects) {
    const created = await sendAs(dialect, sandbox, 'POST /v1/bash/sessions/create', { body: leftOut(dialect) });
    const id = created.body.data['session_id'] as string;
    expectEnvelope(dialect, await sendAs(dialect, sandbox, `POST /v1/bash/sessions/${id}/close`), 200);

    const opened = await sendAs(dialect, sandbox, 'POST /v1/nodejs/sessions', { body: leftOut(dialect) });
    if (opened.status === 503) continue; // No Node on this machine.
    const session = opened.body.data['session_id'] as string;
    expectEnvelope(dialect, await sendAs(dialect, sandbox, `DELETE /v1/nodejs/sessions/${session}`), 200);
  }
});

const bad: readonly (readonly [string, string, string, string])[] = [
  ['POST /v1/bash/exec', '{}', 'body.command', 'missing'],
  ['POST /v1/bash/exec', '{"command": 7}', 'body.command', 'string_type'],
  ['POST /v1/shell/exec', '{}', 'body.command', 'missing'],
  ['POST /v1/shell/write', '{"id": "a", "input": "x"}', 'body.press_enter', 'missing'],
  ['POST /v1/code/execute', '{"language": "python"}', 'body.code', 'missing'],
  ['POST /v1/code/execute', '{"language": "ruby", "code": "1"}', 'body.language', 'enum'],
  ['POST /v1/nodejs/execute', '{}', 'body.code', 'missing'],
  ['POST /v1/file/watch', '{}', 'body.path', 'missing'],
  ['POST /v1/display/record', '{"action": "pause"}', 'body.action', 'enum'],
];

test('ERR-422 VER-3 each client reads the invalid fields of a body from errors', async ({ sandbox }) => {
  for (const [route, body, location, type] of bad) {
    for (const dialect of dialects) {
      const reply = await sendAs(dialect, sandbox, route, { body });
      expectEnvelope([route, body], reply, 422);
      expect([route, body, reply.body.errors]).toEqual([
        route,
        body,
        [{ location, message: expect.any(String), type }],
      ]);
    }
  }
});

test(
  'ERR-401 ERR-404 ERR-405 ERR-503 VER-3 failures have the envelope, which every client passes on',
  async ({ sandbox }) => {
    const cases: readonly (readonly [string, string | undefined, number])[] = [
      ['GET /v1/bash/sessions', undefined, 401],
      ['POST /v1/bash/output', '{"session_id": "nobody"}', 404],
      ['POST /v1/shell/view', '{"id": "nobody"}', 404],
      ['POST /v1/skills/register', '{}', 404],
      ['PATCH /v1/nodejs/sessions/any', '{}', 404],
      ['PUT /v1/browser/tabs/0/activate', undefined, 405],
      ['DELETE /v1/browser/tabs/0', undefined, 404],
      ['GET /v1/browser/cookies?urls=https%3A%2F%2Fa.example%2Chttps%3A%2F%2Fb.example', undefined, 503],
      ['GET /v1/browser/network/requests', undefined, 503],
      // Only in the Go client: a page of the image, which the gateway serves where one runs.
      ['GET /terminal', undefined, 404],
    ];
    for (const [route, body, status] of cases) {
      for (const dialect of dialects) {
        const request = { ...(body === undefined ? {} : { body }), ...(status === 401 ? {} : { key }) };
        expectEnvelope(route, await sendAs(dialect, sandbox, route, request), status);
      }
    }
  },
  { env: { SVC_API_KEY: key } },
);

/** The JavaScript client makes three attempts in all, the Go client two, on 408, 429 and every 5xx. */
function isRetried(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

test(
  'ERR-429 V1BASH-1 a client refused at a limit may retry: nothing was started',
  async ({ sandbox }) => {
    const run = (dialect: Dialect, command: string, more: object = {}) =>
      sendAs(dialect, sandbox, 'POST /v1/bash/exec', { body: JSON.stringify({ command, ...more }) });
    const first = await run('javascript', 'sleep 60', { async_mode: true });
    const append = `echo ran >> ${sandbox.directory}/runs`;

    for (const dialect of dialects) {
      const refused = await run(dialect, append);
      expectEnvelope(dialect, refused, 429);
      expect([dialect, Number(refused.headers.get('retry-after')) > 0]).toEqual([dialect, true]);
    }
    expect(existsSync(join(sandbox.directory, 'runs'))).toBe(false);

    const session = first.body.data['session_id'] as string;
    await sendAs('javascript', sandbox, 'POST /v1/bash/kill', { body: JSON.stringify({ session_id: session }) });
    await sandbox.ended(first.body.data['command_id'] as string);
    expectEnvelope('again', await run('javascript', append), 200);
    expect(readFileSync(join(sandbox.directory, 'runs'), 'utf8')).toBe('ran\n');
  },
  { env: { SVC_MAX_COMMANDS: '1' } },
);

test(
  'V1BASH-1 V1SHELL-4 VER-3 a started command is never answered with a status that clients retry',
  async ({ sandbox }) => {
    const runs = join(sandbox.directory, 'runs');
    const append = `echo ran >> ${runs}; `;
    const endings: readonly [string, object][] = [
      ['exit 3', {}],
      ['kill -9 $$', {}],
      ['no-such-program', {}],
      ['sleep 30', { hard_timeout: 0.2 }],
      ['sleep 1', { timeout: 0.1 }],
      ['head -c 300000 /dev/zero', {}],
    ];
    let started = 0;
    for (const [ending, more] of endings) {
      for (const route of ['POST /v1/bash/exec', 'POST /v1/shell/exec']) {
        const body = JSON.stringify({ command: append + ending, ...more });
        const reply = await sendAs('javascript', sandbox, route, { body });
        expect([route, ending, reply.status, isRetried(reply.status)]).toEqual([route, ending, 200, false]);
        started += 1;
      }
    }
    expect(readFileSync(runs, 'utf8')).toBe('ran\n'.repeat(started));
  },
  withPlainAccount(),
);

test('V1FILE-15 VER-3 uploads of each client arrive: the file first, its path after it or absent', async ({
  sandbox,
}) => {
  const unnamed = { python: 'upload', javascript: 'blob', go: 'file' } as const;
  for (const dialect of dialects) {
    const target = join(sandbox.directory, `from-${dialect}.bin`);
    const content = `\0\r\n--not-the-boundary\r\n${dialect}`;
    const file = { name: 'file', fileName: unnamed[dialect], content };
    const parts = [file, { name: 'path', content: target }];
    const reply = await sendAs(dialect, sandbox, 'POST /v1/file/upload', { body: form(parts), type: formType });
    expectEnvelope(dialect, reply, 200);
    expect([dialect, reply.body.data]).toMatchObject([
      dialect,
      { file_path: target, file_size: Buffer.byteLength(content), success: true },
    ]);
    expect(readFileSync(target, 'utf8')).toBe(content);

    const bare = await sendAs(dialect, sandbox, 'POST /v1/file/upload', { body: form([file]), type: formType });
    expectEnvelope(dialect, bare, 200);
    const path = bare.body.data['file_path'] as string;
    expect([dialect, path.endsWith(`/${unnamed[dialect]}`), readFileSync(path, 'utf8')]).toEqual([
      dialect,
      true,
      content,
    ]);
    await sandbox.ok(`POST /v2/fs/delete`, { path: path.slice(0, path.lastIndexOf('/')), recursive: true });
  }
});

test('V1WATCH-2 VER-3 older clients send the cursor as since, newer ones as cursor', async ({ sandbox }) => {
  const body = JSON.stringify({ path: sandbox.directory, exclude: ['runtime', 'tmp'], debounce: 50 });
  const created = await sendAs('python', sandbox, 'POST /v1/file/watch', { body });
  const id = created.body.data['watcher_id'] as string;
  const poll = (dialect: Dialect, request: object) =>
    sendAs(dialect, sandbox, `POST /v1/file/watch/${id}/poll`, { body: JSON.stringify(request) });

  await sandbox.run({ command: `echo x > ${sandbox.directory}/seen` });
  const first = await poll('python', { since: 0, timeout: 20 });
  const cursor = first.body.data['cursor'] as number;
  expect(cursor).toBeGreaterThan(0);
  for (const request of [{ since: cursor }, { cursor }]) {
    expect([request, (await poll('python', request)).body.data]).toMatchObject([request, { events: [], cursor }]);
  }
  for (const request of [{ since: 0 }, { cursor: 0 }]) {
    const { events } = (await poll('javascript', request)).body.data;
    expect([request, (events as unknown[]).length > 0]).toEqual([request, true]);
  }
  await sendAs('python', sandbox, `DELETE /v1/file/watch/${id}`);
});

test('V1WATCH-3 VER-3 the event stream is Server-Sent Events for clients that accept anything', async ({ sandbox }) => {
  const body = JSON.stringify({ path: sandbox.directory, exclude: ['runtime', 'tmp'] });
  const created = await sendAs('go', sandbox, 'POST /v1/file/watch', { body });
  const id = created.body.data['watcher_id'] as string;
  for (const dialect of dialects) {
    const reply = await sendAs(dialect, sandbox, `GET /v1/file/watch/${id}/events`, { withinMs: 1000 });
    expect([dialect, reply.status, reply.headers.get('content-type')?.split(';')[0]]).toEqual([
      dialect,
      200,
      'text/event-stream',
    ]);
    expect(reply.text).toContain('event: watch_started');
  }
  await sendAs('go', sandbox, `DELETE /v1/file/watch/${id}`);
});

async function download(sandbox: Sandbox, dialect: Dialect, path: string): Promise<WireReply> {
  return sendAs(dialect, sandbox, `GET /v1/file/download?path=${encodeURIComponent(path)}`);
}

test('V1FILE-16 VER-3 a download without a change policy returns bytes, and a failure its status', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'some file.txt');
  await sandbox.run({ command: `printf 'one\\ntwo\\n' > '${path}'` });
  for (const dialect of dialects) {
    expect([dialect, await download(sandbox, dialect, path)]).toMatchObject([
      dialect,
      { status: 200, text: 'one\ntwo\n' },
    ]);
    expectEnvelope(dialect, await download(sandbox, dialect, `${path}.gone`), 404);
  }
});
