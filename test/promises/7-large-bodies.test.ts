/** Promise 7: request bodies neither end the daemon nor block it, however large and deeply nested they are. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { inControlGroup } from '../harness/control-group.ts';
import { healthDuring } from '../harness/health-watch.ts';
import { exchange, statusOf } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

const mebibyte = 1024 * 1024;
/** A limit on the wait itself. Tests share their machine; before structures were limited, one body took seconds. */
const answerMs = 1000;
const smallMachine = inControlGroup({ memoryBytes: 128 * mebibyte });

function request(route: string, body: string): Buffer {
  const bytes = Buffer.from(body);
  const head = ['Host: localhost', 'Connection: close', `Content-Length: ${bytes.length}`, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(`POST ${route} HTTP/1.1\r\n${head}`), bytes]);
}

/** The statuses of four concurrent requests, and the slowest health check meanwhile. */
async function fourAtOnce(sandbox: Sandbox, requestOf: (n: number) => Buffer) {
  const daemon = sandbox.daemonPid;
  const requests = [0, 1, 2, 3].map(requestOf);
  let isOver = false;
  const slowest = (async () => {
    let worstMs = 0;
    while (!isOver) {
      const began = performance.now();
      expect((await sandbox.request('GET /health')).status).toBe(200);
      worstMs = Math.max(worstMs, performance.now() - began);
    }
    return worstMs;
  })();
  const answers = await Promise.all(requests.map((bytes) => exchange(sandbox.url, bytes, 30_000)));
  isOver = true;
  expect(await slowest).toBeLessThan(answerMs);
  expect(sandbox.daemonPid).toBe(daemon);
  return answers.map(statusOf);
}

/** Three that are small as text and large once parsed, and one with mistakes in every value. */
const structures = {
  lists: (bytes: number) => `{"a":${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}}`,
  objects: (bytes: number) => `{"a":[${'{},'.repeat(bytes / 3)}0]}`,
  names: (bytes: number) => `{"a":{${Array.from({ length: bytes / 16 }, (_, n) => `"k${n}":1`).join(',')}}}`,
  mistakes: (bytes: number) =>
    `{"command":"true","env":{${Array.from({ length: bytes / 16 }, (_, n) => `"k${n}":1`).join(',')}}}`,
};

for (const [name, structure] of Object.entries(structures)) {
  test(
    `PROMISE-7 HTTP-STRUCTURE four concurrent bodies of ${name} are refused in 128 MiB, on both surfaces`,
    async ({ sandbox }) => {
      const body = structure(20 * mebibyte);
      expect(await fourAtOnce(sandbox, (n) => request(n < 2 ? '/v2/commands' : '/v1/bash/exec', body))).toEqual(
        expect.arrayContaining([413]),
      );
      expect(await sandbox.run({ command: 'exit 3' })).toMatchObject({ exit_code: 3 });
    },
    smallMachine,
  );
}

for (const [route, field] of [
  ['/v2/fs/write', 'path'],
  ['/v1/file/write', 'file'],
] as const) {
  test(
    `PROMISE-7 PROMISE-10 four concurrent writes of 20 MiB to ${route} end no daemon of 128 MiB, and success is a whole file`,
    async ({ sandbox }) => {
      const content = 'x'.repeat(20 * mebibyte);
      const path = (n: number) => join(sandbox.directory, `${n}`);
      const statuses = await fourAtOnce(sandbox, (n) => request(route, JSON.stringify({ [field]: path(n), content })));

      for (const [n, status] of statuses.entries()) {
        expect([200, 429]).toContain(status);
        if (status === 200) expect(statSync(path(n)).size).toBe(content.length);
      }
      expect(statuses).toContain(200);
    },
    smallMachine,
  );
}

test(
  'PROMISE-10 HTTP-413 the body limit depends on the machine’s memory, and the refusal names the upload route',
  async ({ sandbox }) => {
    const { limits } = await sandbox.ok('GET /v2/sandbox');
    const maxBytes = limits['json_body_bytes'] as number;
    expect(maxBytes).toBeGreaterThan(20 * mebibyte);
    expect(maxBytes).toBeLessThan(22 * mebibyte);

    const large = request('/v2/fs/write', JSON.stringify({ path: '/tmp/x', content: 'x'.repeat(30 * mebibyte) }));
    expect(await fourAtOnce(sandbox, () => large)).toEqual([413, 413, 413, 413]);
    expect(await exchange(sandbox.url, large)).toContain('Send large content as a file upload.');
  },
  smallMachine,
);

/**
 * On an idle machine the wait for /health is the work before the answer, and must stay below 100 ms. 20 to 50 ms were
 * measured; the limit leaves a slower processor some room.
 */
const healthMs = 75;
const attempts = 3;

const large = (mib: number) => 'x'.repeat(mib * mebibyte);
const largeInBase64 = Buffer.alloc(22 * mebibyte, 'x').toString('base64');
/** Bodies of 30 MiB by what they carry: the route and the body, for a file at this path. */
const largeBodies: Readonly<Record<string, (path: string) => readonly [string, object]>> = {
  'a file': (path) => ['/v2/fs/write', { path, content: large(30) }],
  'a file in base64': (path) => ['/v2/fs/write', { path, content: largeInBase64, encoding: 'base64' }],
  'a file of v1': (file) => ['/v1/file/write', { file, content: large(30) }],
  'standard input': () => ['/v2/commands', { command: 'wc -c', stdin: { data: large(30) } }],
  'standard input in base64': () => ['/v2/commands', { command: 'wc -c', stdin: { data_base64: largeInBase64 } }],
  'a script': () => ['/v2/commands', { command: `true #${large(30)}` }],
  'a script of v1': () => ['/v1/bash/exec', { command: `true #${large(30)}` }],
  'a cell': () => ['/v2/code/execute', { language: 'python', code: `1 #${large(30)}` }],
  'a cell of a session': () => [
    '/v2/code/execute',
    { language: 'javascript', session_id: 's', code: `1 //${large(30)}` },
  ],
  'a cell of v1': () => ['/v1/code/execute', { language: 'python', code: `1 #${large(30)}` }],
  'a variable': () => ['/v2/commands', { command: 'true', env: { LARGE: large(30) } }],
};

for (const [name, bodyFor] of Object.entries(largeBodies)) {
  test(`PROMISE-7 while a body of 30 MiB with ${name} is handled, the daemon works at most ${healthMs} ms before it answers /health`, async ({
    sandbox,
  }) => {
    const [route, body] = bodyFor(join(sandbox.directory, 'large'));
    const bytes = request(route, JSON.stringify(body));
    const idleMs = await healthDuring(sandbox, () => Bun.sleep(200));
    const worst: number[] = [];
    // Where this machine suspends the asking process, later work of the daemon counts too. That does not happen each
    // time.
    while (worst.length < attempts && !worst.some((ms) => ms < healthMs)) {
      const send = async () => expect(statusOf(await exchange(sandbox.url, bytes, 30_000))).toBe(200);
      worst.push(await healthDuring(sandbox, send));
    }
    expect({ idleMs, worst, isInTime: worst.some((ms) => ms < healthMs) }).toMatchObject({ isInTime: true });
  });
}
