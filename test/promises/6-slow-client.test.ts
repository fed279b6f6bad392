/** Promise 6: a slow client slows only itself. */
import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { StalledClients } from '../harness/stalled.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const crowd = 50;
const http = 'HTTP/1.1\r\nHost: localhost\r\n';
/** A request that waits for a stalled client never returns: any time below this is the machine's own. */
const answerMs = 5000;
const growthMib = 192;

/** The output of the talking commands: some 30 MB, more than the sockets of a stalled reader hold. */
const last = 4_000_000;
const spoken = (() => {
  const digest = createHash('sha256');
  for (let from = 1; from <= last; from += 100_000)
    digest.update(Array.from({ length: 100_000 }, (_, n) => `${from + n}\n`).join(''));
  return digest.digest('hex');
})();

function rssMib(sandbox: Sandbox): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.daemonPid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Waits until so many streams are open, as the daemon counts them. */
async function openStreams(sandbox: Sandbox, count: number): Promise<void> {
  await until(`${count} streams are open`, async () => {
    const metrics = await (await sandbox.fetch('GET /metrics')).text();
    return metrics.includes(`\nboxkeep_open_streams ${count}\n`);
  });
}

/** Short commands one after the other, each answered as if no other client existed. */
async function worksOn(sandbox: Sandbox, commands: number): Promise<void> {
  for (let n = 0; n < commands; n++) {
    const before = performance.now();
    expect(await sandbox.run({ command: `echo ${n}; exit ${n}` })).toMatchObject({ stdout: `${n}\n`, exit_code: n });
    expect(performance.now() - before).toBeLessThan(answerMs);
  }
}

/** A reader at full speed: its last line, and the digest of everything it read. */
async function follow(sandbox: Sandbox, id: string): Promise<{ digest: string; exit: JsonObject | undefined }> {
  const digest = createHash('sha256');
  let exit: JsonObject | undefined;
  for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true&encoding=base64`)) {
    if (line['type'] === 'stdout') digest.update(Buffer.from(line['data_base64'] as string, 'base64'));
    exit = line;
  }
  return { digest: digest.digest('hex'), exit };
}

test('PROMISE-6 readers that stall delay neither the command, nor another reader, nor other commands', async ({
  sandbox,
}) => {
  const id = await sandbox.start({ command: `read line; seq 1 ${last}; exit 6` });
  await worksOn(sandbox, 20);
  const before = rssMib(sandbox);
  await using stalled = new StalledClients(sandbox.url);
  await stalled.open(crowd, `GET /v2/commands/${id}?stream=true ${http}\r\n`);
  await openStreams(sandbox, crowd);
  const reading = follow(sandbox, id);
  await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });

  await worksOn(sandbox, 50);
  expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 6 });
  expect(await reading).toMatchObject({ digest: spoken, exit: { type: 'exit', exit_code: 6 } });
  expect(rssMib(sandbox) - before).toBeLessThan(growthMib);
  await openStreams(sandbox, crowd);

  // One of them resumes: it has missed nothing.
  const woken = await stalled.wake();
  expect(woken.endsWith('}\n\r\n0\r\n\r\n')).toBe(true);
  expect(woken).toContain(`"type":"exit","status":"completed","exit_code":6`);
});

test('PROMISE-6 uploads that stall delay no other request, whatever size they announced', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'cat' });
  await using stalled = new StalledClients(sandbox.url);
  for (const route of ['/v2/commands', `/v2/commands/${id}/stdin`, '/v2/commands/sessions']) {
    await stalled.open(crowd, `POST ${route} ${http}Content-Length: 200\r\n\r\n{"command":`);
    await stalled.open(crowd, `POST ${route} ${http}Content-Length: 30000000\r\n\r\n{"input":"${'x'.repeat(100_000)}`);
    await stalled.open(crowd, `POST ${route} ${http}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`);
  }

  await worksOn(sandbox, 50);
  expect(await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: 'mine', eof: true })).toMatchObject({ offset: 4 });
  expect(await sandbox.ended(id)).toMatchObject({ exit_code: 0 });
  expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('mine');
});

test('PROMISE-6 a command that does not read its input delays only its own writers', async ({ sandbox }) => {
  const deaf = await sandbox.start({ command: 'sleep 1000' });
  const input = 'x'.repeat(1024 * 1024);
  const writers = Array.from({ length: 8 }, () => sandbox.request(`POST /v2/commands/${deaf}/stdin`, { input }));

  const other = await sandbox.start({ command: 'cat' });
  const began = performance.now();
  await sandbox.ok(`POST /v2/commands/${other}/stdin`, { input: 'read at once', eof: true });
  expect(await sandbox.ended(other)).toMatchObject({ exit_code: 0 });
  expect(performance.now() - began).toBeLessThan(answerMs);
  await worksOn(sandbox, 50);
  await sandbox.ok(`POST /v2/commands/${deaf}/kill`, { signal: 'SIGKILL' });
  // Input after the reader's end is accepted and dropped; once the daemon knows the end, input is refused.
  for (const { status } of await Promise.all(writers)) expect([200, 409]).toContain(status);
  await sandbox.ended(deaf);
  expect((await sandbox.request(`POST /v2/commands/${deaf}/stdin`, { input })).status).toBe(409);
  await sandbox.ok(`DELETE /v2/commands/${deaf}`);
});
