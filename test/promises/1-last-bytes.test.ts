/** Promise 1: the last bytes of a session arrive, also when its shell exits at once and the machine is busy. */
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { until } from '../harness/until.ts';

const sessions = 300;
const atOnce = 8;
const printedBytes = 4_000_000;
const busyProcesses = 4;
const maxSessionMs = 60_000;

/** Processes that use all processor time. */
function busy(): Disposable {
  const running = Array.from({ length: busyProcesses }, () => Bun.spawn(['sh', '-c', 'while :; do :; done']));
  return { [Symbol.dispose]: () => running.forEach((process) => process.kill('SIGKILL')) };
}

/** The last bytes of the output of a session that has ended. */
async function tail(sandbox: Sandbox, id: string, count: number): Promise<string> {
  const query = 'mode=ro&protocol=binary&durable=false';
  const atEnd = await TerminalClient.attach(sandbox, id, `${query}&offset=${Number.MAX_SAFE_INTEGER}`);
  const end = atEnd.ready?.['offset'] as number;
  await atEnd.closed;
  const reader = await TerminalClient.attach(sandbox, id, `${query}&offset=${end - count}`);
  await reader.closed;
  return reader.text;
}

async function lastBytesOf(sandbox: Sandbox, n: number): Promise<string> {
  const id = `session-${n}`;
  await sandbox.ok('POST /v2/pty/sessions', { id, env: { HOME: sandbox.directory } });
  // The terminal's echo of this line does not contain the mark.
  const line = `head -c ${printedBytes} /dev/zero | tr '\\0' x; exec printf 'ma''rk-%s' ${n}`;
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: line, press_enter: true });
  const hasEnded = async () => (await sandbox.ok(`GET /v2/pty/sessions/${id}`))['status'] === 'terminated';
  await until(`${id} has ended`, hasEnded, maxSessionMs);
  const last = await tail(sandbox, id, 20);
  await sandbox.ok(`DELETE /v2/pty/sessions/${id}`);
  return last;
}

test(
  'PROMISE-1 TERM-10 300 sessions that print 4 MB and end at once lose no last byte beside four busy processes',
  async ({ sandbox }) => {
    using _busy = busy();
    let next = 0;
    const lost: [number, string][] = [];
    const work = async () => {
      for (let n = next++; n < sessions; n = next++) {
        const last = await lastBytesOf(sandbox, n);
        if (!last.endsWith(`mark-${n}`)) lost.push([n, last]);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(lost).toEqual([]);
  },
  { timeoutMs: 240_000 },
);
