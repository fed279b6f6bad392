/** Promise 1: no output byte is lost or repeated across any disconnect, and across a kill of the daemon. */
import { createHash } from 'node:crypto';
import { expect, fixture, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { StalledClients } from '../harness/stalled.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };
const mebibyte = 1024 * 1024;

interface Followed {
  readonly digest: string;
  readonly exit: JsonObject;
  readonly offset: number;
}

/** Follows stdout to its end across any number of lost connections, as a client should. */
async function follow(sandbox: Sandbox, id: string): Promise<Followed> {
  const digest = createHash('sha256');
  let offset = 0;
  for (;;) {
    try {
      for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true&encoding=base64&offset=${offset}`)) {
        if (line['type'] === 'exit') return { digest: digest.digest('hex'), exit: line, offset };
        if (line['type'] !== 'stdout') continue;
        if (line['offset'] !== offset) throw new RangeError(`from ${offset} on came ${String(line['offset'])}`);
        digest.update(Buffer.from(line['data_base64'] as string, 'base64'));
        offset = line['next'] as number;
      }
    } catch (error) {
      if (error instanceof RangeError) throw error;
      await Bun.sleep(2); // The connection broke with the daemon, which restarts in a moment.
    }
  }
}

test('PROMISE-1 a recorded session cut at every byte is whole', async ({ sandbox }) => {
  const { command_id: id } = await sandbox.run({ command: fixture('speaks-many-tongues') });
  const [whole] = (await sandbox.allLines(id, '&encoding=base64')).filter(({ type }) => type === 'stdout');
  const bytes = Buffer.from(whole?.['data_base64'] as string, 'base64');
  expect(bytes.length).toBeGreaterThan(60);

  for (let cut = 0; cut <= bytes.length; cut++) {
    const rest = (await sandbox.allLines(id, `&encoding=base64&offset=${cut}`)).filter(({ type }) => type === 'stdout');
    const joined = Buffer.concat([
      bytes.subarray(0, cut),
      ...rest.map((line) => Buffer.from(line['data_base64'] as string, 'base64')),
    ]);
    expect(joined.equals(bytes)).toBe(true);
  }
});

test(
  'PROMISE-1 V2CMD-SURVIVE 100 commands and 20 streams lose nothing when the daemon is killed five times',
  async ({ sandbox }) => {
    const quick = await Promise.all(
      Array.from({ length: 10 }, (_, n) => sandbox.run({ command: `echo ${n}; exit ${n}` })),
    );
    const waiting = await Promise.all(
      Array.from({ length: 60 }, (_, n) => sandbox.start({ command: `read line; echo $line; exit ${n}` })),
    );
    const meanwhile = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sandbox.start({ command: `sleep 0.${n + 10}; echo bye; exit ${n + 100}` })),
    );
    const talking = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        sandbox.start({ command: `for i in 1 2 3 4 5 6 7 8; do seq ${n} 60000; sleep 0.1; done; exit ${n + 1}` }),
      ),
    );
    const followed = talking.map((id) => follow(sandbox, id));
    for (let kill = 0; kill < 5; kill++) {
      await Bun.sleep(100 + Math.random() * 100); // Promise 1 asks for random moments.
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
    }

    for (const [n, { digest, exit }] of (await Promise.all(followed)).entries()) {
      const once = Buffer.from(Array.from({ length: 60_000 - n + 1 }, (_, i) => `${n + i}\n`).join(''));
      const expected = createHash('sha256')
        .update(Buffer.concat(Array.from({ length: 8 }, () => once)))
        .digest('hex');
      expect([n, digest, exit['exit_code']]).toEqual([n, expected, n + 1]);
    }
    expect((await sandbox.ok('GET /v2/commands?status=running'))['commands']).toHaveLength(60);
    await Promise.all(waiting.map((id, n) => sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: `line ${n}\n` })));
    for (const [n, id] of waiting.entries()) expect([n, (await sandbox.ended(id))['exit_code']]).toEqual([n, n]);
    for (const [n, id] of meanwhile.entries())
      expect([n, (await sandbox.ended(id))['exit_code']]).toEqual([n, n + 100]);
    for (const [n, { command_id: id }] of quick.entries()) {
      expect(await sandbox.ok(`GET /v2/commands/${id}`)).toMatchObject({ stdout: `${n}\n`, command: { exit_code: n } });
    }
  },
  restarted,
);

test(
  'PROMISE-1 V2CMD-GAPS V2CMD-GAPLINE V2CMD-RETAIN output that is no longer kept is announced, and the rest is whole',
  async ({ sandbox }) => {
    const { command_id: id, offset: end } = await sandbox.run({
      command: 'seq 1 800000; seq 1 9 >&2',
      max_output_length: 10,
    });
    const read = await sandbox.ok(`GET /v2/commands/${id}?limit_bytes=100`);
    const gap = read['gaps'][0];
    expect(gap).toEqual({ stream: 'stdout', from: 0, to: expect.any(Number) });
    expect(gap['to']).toBeGreaterThan(end - mebibyte);
    expect(read['offset']).toBe(gap['to'] + 100);

    const lines = await sandbox.allLines(id, '&encoding=base64');
    expect(lines[1]).toEqual({ type: 'gap', ...gap });
    const kept = Buffer.concat(
      lines.filter(({ type }) => type === 'stdout').map((line) => Buffer.from(line['data_base64'] as string, 'base64')),
    );
    const all = Buffer.from(Array.from({ length: 800_000 }, (_, n) => `${n + 1}\n`).join(''));
    expect(end).toBe(all.length);
    expect(kept.equals(all.subarray(gap['to']))).toBe(true);
    expect((await sandbox.ok(`GET /v2/commands/${id}`))['stderr']).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  },
  { env: { SVC_STREAM_KEPT_MIB: '1' } },
);

test(
  'PROMISE-1 a reader overtaken by eviction gets a gap with the missed range',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'seq 1 100; read line; seq 1 4000000' });
    await using stalled = new StalledClients(sandbox.url);
    await stalled.open(1, `GET /v2/commands/${id}?stream=true HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('it follows', async () => {
      return (await (await sandbox.fetch('GET /metrics')).text()).includes('boxkeep_open_streams 1');
    });
    // Some 30 MB: more than the sockets hold.
    await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });
    expect(await sandbox.ended(id)).toMatchObject({ status: 'completed' });
    const [, body = ''] = (await stalled.wake(Infinity)).split(/\r\n\r\n(.*)/s);
    const seen = body
      .replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, '')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as JsonObject);
    let offset = 0;
    for (const line of seen) {
      if (line['type'] === 'gap') expect(line['from']).toBe(offset);
      if (line['type'] === 'stdout') expect(line['offset']).toBe(offset);
      offset = (line['next'] ?? line['to'] ?? offset) as number;
    }
    expect(seen.filter(({ type }) => type === 'gap').length).toBeGreaterThanOrEqual(1);
    expect(seen.at(-1)).toMatchObject({ type: 'exit', exit_code: 0, offset });
  },
  { env: { SVC_STREAM_KEPT_MIB: '1' } },
);
