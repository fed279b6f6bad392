/** Invariants with tmux between a shell and its daemon: pace, order, memory, and byte counts. */
import { beforeAll } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { many } from '../harness/counts.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { ensureTmux, terminalBackends } from '../harness/terminal-backends.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { cpuTicks, until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;
/** Two hundred megabytes pass a terminal in some ten seconds of fair time. */
const floodMs = 90_000;

beforeAll(() => {
  if (terminalBackends.includes('tmux')) ensureTmux();
});

/** A session whose shell has no settings of an account, which may take long. */
async function session(sandbox: Sandbox, fields: object = {}): Promise<string> {
  const body = { env: { HOME: sandbox.directory }, ...fields };
  return (await sandbox.ok('POST /v2/pty/sessions', body))['session_id'] as string;
}

/** The resident bytes of all processes that a session needs beside its shell. */
function sessionMemory(sandbox: Sandbox): number {
  const isOurs = ({ command }: { command: string }) => /^(\S*\/)?(tmux|cat|bash|sh)( |$)/.test(command);
  const pids = sandbox
    .processes()
    .filter(isOurs)
    .map(({ pid }) => pid);
  return [...pids, ...sandbox.keepers()].reduce((sum, pid) => sum + residentBytes(pid), 0);
}

function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // The process ended during the read.
  }
}

function growth(sandbox: Sandbox): { readonly look: () => number } {
  const before = sessionMemory(sandbox);
  let most = 0;
  return { look: () => (most = Math.max(most, sessionMemory(sandbox) - before)) };
}

/** The program has used no processor time for a tenth of a second. */
async function isIdle(sandbox: Sandbox, program: string): Promise<boolean> {
  const pid = sandbox.processes().find(({ command }) => command.startsWith(program))?.pid;
  if (pid === undefined) return false;
  const before = cpuTicks({ daemonPid: pid });
  await Bun.sleep(100);
  return cpuTicks({ daemonPid: pid }) === before;
}

/** The same lines repeatedly, for a shell without echo and output processing. */
function printed(bytes: number): { readonly line: string; readonly digest: string; readonly count: number } {
  const line = 'All the lines of this text are the same, but for nothing at all; тест 漢字 0123456789 abcdefghijklm\n';
  const count = Math.ceil(bytes / Buffer.byteLength(line));
  const hash = createHash('sha256');
  for (let at = 0; at < count; at++) hash.update(line);
  return {
    line: `stty -echo -opost; printf '<BEG''IN>'; yes '${line.trimEnd()}' | head -n ${count}; printf '<E''ND>'`,
    digest: hash.digest('hex'),
    count: count * Buffer.byteLength(line),
  };
}

for (const backend of terminalBackends) {
  const args = ['--shell-backend', backend];

  test(
    `TERM-10 PROMISE-6 a writer that pauses blocks the program in little memory, and gets every byte (${backend})`,
    async ({ sandbox }) => {
      const id = await session(sandbox);
      const client = await TerminalClient.attach(sandbox, id, 'protocol=binary');
      client.send({ type: 'ack', offset: 0 });
      const { line, digest, count } = printed(many(200) * mebibyte);
      const memory = growth(sandbox);
      client.type(`${line}\n`);
      await until('it is held up', () => client.shownBytes > mebibyte);
      await until('the program waits', () => isIdle(sandbox, 'yes '), 9000);
      memory.look();
      expect(client.shownBytes).toBeLessThan(3 * mebibyte);
      const isWhole = () => client.shownBytes > count && client.bytes.includes('<END>');
      while (!isWhole()) {
        const before = client.shownBytes;
        client.send({ type: 'ack', offset: client.offset });
        await until('more is shown', () => client.shownBytes > before);
        memory.look();
      }
      expect(client.of('gap')).toEqual([]);
      const { bytes } = client;
      const shown = bytes.subarray(bytes.indexOf('<BEGIN>') + 7, bytes.lastIndexOf('<END>'));
      expect(createHash('sha256').update(shown).digest('hex')).toBe(digest);
      expect(memory.look()).toBeLessThan(30 * mebibyte);
      await client.close();
    },
    { args, timeoutMs: floodMs + 30_000 },
  );

  test(
    `TERM-4 TERM-7 a line typed right after a resize sees the new size (${backend})`,
    async ({ sandbox }) => {
      const id = await session(sandbox);
      const client = await TerminalClient.attach(sandbox, id);
      for (let round = 0; round < 20; round++) {
        const [cols, rows] = [60 + ((round * 7) % 40), 20 + (round % 9)];
        client.send({ type: 'resize', cols: cols + 1, rows });
        client.send({ type: 'resize', cols, rows });
        client.type(`echo size ${round} $(stty size)\n`);
        await client.sees(`size ${round} ${rows} ${cols}`);
      }
      const sizes = [...client.text.matchAll(/^size (\d+) (\d+ \d+)/gm)].map(([, , size]) => size);
      const expected = Array.from({ length: 20 }, (_, round) => `${20 + (round % 9)} ${60 + ((round * 7) % 40)}`);
      expect(sizes).toEqual(expected);
      await client.close();
    },
    { args },
  );

  test(
    `TERM-10 PROMISE-6 input that no program reads is typed up to a limit, in little memory, and the rest is reported (${backend})`,
    async ({ sandbox }) => {
      const id = await session(sandbox);
      const client = await TerminalClient.attach(sandbox, id);
      client.type("stty raw -echo; echo rea''dy; exec sleep 600\n");
      await client.sees('ready');
      const before = client.ready?.['input_offset'] as number;
      const memory = growth(sandbox);
      client.send(Buffer.alloc(8 * mebibyte, 'x'));
      await until('the rest is refused', () => (memory.look(), client.of('error').length > 0), 40_000);
      expect(client.of('error')[0]).toMatchObject({ code: 'terminal_busy' });
      expect(memory.look()).toBeLessThan(8 * mebibyte);
      const again = await TerminalClient.attach(sandbox, id);
      expect((again.ready?.['input_offset'] as number) - before).toBeLessThan(mebibyte);
      await again.close();
      await client.close();
    },
    { args },
  );

  test(
    `TERM-10 PROMISE-1 the amount of typed input is known to the byte after a daemon crash (${backend})`,
    async ({ sandbox }) => {
      const id = await session(sandbox);
      let typed = 0;
      for (let round = 0; round < 6; round++) {
        const client = await TerminalClient.attach(sandbox, id, `cols=${80 + round}&rows=24`);
        expect(client.ready?.['input_offset']).toBe(typed);
        const line = `: ${'x'.repeat(round * 300)}; echo round $((${round} + 0))\n`;
        client.type(line);
        typed += line.length;
        await client.sees(`round ${round}\r\n`);
        if (round % 2 === 0) client.send({ type: 'resize', cols: 100, rows: 30 });
        await client.close();
        process.kill(sandbox.daemonPid, 'SIGKILL');
        await sandbox.served();
      }
    },
    { args, expectedWarnings: ['started again by init'] },
  );
}

test(
  'TERM-10 PROMISE-6 a program waits for a slower keeper, in bounded memory, and continues with it',
  async ({ sandbox }) => {
    const id = await session(sandbox);
    const memory = growth(sandbox);
    const { line } = printed(200 * mebibyte);
    await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: line, press_enter: true });
    await until('it prints', () => sandbox.processes().some(({ command }) => command.startsWith('yes ')));
    const [keeper] = sandbox.keepers();
    process.kill(keeper!, 'SIGSTOP');
    try {
      await until('the program waits', () => isIdle(sandbox, 'yes '), 30_000);
      expect(memory.look()).toBeLessThan(160 * mebibyte);
    } finally {
      process.kill(keeper!, 'SIGCONT');
    }
    const screen = `GET /v2/pty/sessions/${id}/screen?wait_for=<END>&timeout=30`;
    await until('all is shown', async () => JSON.stringify(await sandbox.ok(screen)).includes('<END>'), floodMs);
  },
  { args: ['--shell-backend', terminalBackends.at(-1) ?? 'native'], timeoutMs: floodMs + 30_000 },
);
