/** An upgrade as a terminal client sees it: a close code, and no output twice. */
import { expect, test } from '../harness/sandbox.ts';
import { TerminalClient } from '../harness/terminal-client.ts';

const rounds = 2;

test('TERM-10 PROMISE-1 RUN-UPGRADE a durable socket that reconnects without an offset after an upgrade repeats nothing', async ({
  sandbox,
}) => {
  const body = { env: { HOME: sandbox.directory } };
  const id = (await sandbox.ok('POST /v2/pty/sessions', body))['session_id'] as string;
  let client = await TerminalClient.attach(sandbox, id, 'protocol=binary');
  client.type('i=0; while sleep 0.003; do i=$((i + 1)); echo tick $i; done\n');
  let shown = '';
  for (let round = 0; round < rounds; round++) {
    await client.sees('tick');
    expect((await sandbox.upgrade()).code).toBe(0);
    expect(await client.closed).toMatchObject({ code: 1001 });
    const next = await TerminalClient.attach(sandbox, id, 'protocol=binary');
    expect(next.ready).toMatchObject({ offset: client.offset, resumed: true });
    shown += client.text;
    client = next;
  }
  await client.sees('tick');
  client.type('\x03');
  await client.close();
  shown += client.text;
  const ticks = [...shown.matchAll(/^tick (\d+)\r$/gm)].map(([, n]) => Number(n));
  expect(ticks).toEqual(ticks.map((_, index) => index + 1));
});
