/** The fate of log lines when no process reads the log. */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { errnoOf } from '../../kit/errno.ts';

const lineBytes = 1024;
const line = `${'x'.repeat(lineBytes - 1)}\n`;

/** Both ends of a pipe. */
function openPipe() {
  const directory = mkdtempSync(join(tmpdir(), 'log-output-'));
  const path = join(directory, 'pipe');
  spawnSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  rmSync(directory, { recursive: true });
  return { reader, writer };
}

/** Reads at least so many lines, and all others that have arrived by then. */
async function readLines(reader: number, count: number): Promise<string[]> {
  const buffer = Buffer.alloc(64 * 1024);
  let text = '';
  for (;;) {
    try {
      text += buffer.toString('utf8', 0, readSync(reader, buffer));
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN') throw error;
      const lines = text.split('\n');
      if (lines.length > count && lines.at(-1) === '') return lines.slice(0, -1);
      await Bun.sleep(1); // A pipe without O_NONBLOCK at its other end wakes no reader here.
    }
  }
}

/** A process that logs to the pipe; each line of its input is how many lines it logs, and it ends with its input. */
function logger(writer: number) {
  const program = `
    import { logOutput } from ${JSON.stringify(join(import.meta.dirname, 'log-output.ts'))};
    const write = logOutput(1);
    for await (const count of console) {
      for (let n = 0; n < Number(count); n++) write(${JSON.stringify(line)});
      console.error(count);
    }`;
  const child = Bun.spawn([process.execPath, '-e', program], { stdin: 'pipe', stdout: writer, stderr: 'pipe' });
  closeSync(writer);
  const done = child.stderr.getReader();
  return {
    async log(count: number): Promise<string> {
      void child.stdin.write(`${count}\n`);
      void child.stdin.flush();
      return Buffer.from((await done.read()).value ?? []).toString();
    },
    async end(): Promise<number> {
      void child.stdin.end();
      return await child.exited;
    },
  };
}

test('a stalled reader has a backlog of one mebibyte, and learns how much was dropped beyond it', async () => {
  const { reader, writer } = openPipe();
  const { log, end } = logger(writer);
  await log(3000);
  const kept = await readLines(reader, 1024 + 1);
  await log(1);
  const [note = '', ...rest] = await readLines(reader, 2);
  expect(await end()).toBe(0);
  closeSync(reader);

  const { level, lines } = JSON.parse(note) as Record<string, unknown>;
  expect([level, lines]).toEqual(['warn', 3000 - kept.length]);
  expect(kept.length).toBeLessThan(1024 + 64 + 3);
  expect(rest).toEqual([line.trimEnd()]);
});

test('a reader that goes ends only the log', async () => {
  const { reader, writer } = openPipe();
  const { log, end } = logger(writer);
  await log(100);
  closeSync(reader);
  expect(await log(2)).toBe('2\n');
  expect(await log(2)).toBe('2\n');
  expect(await end()).toBe(0);
});
