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

/** Reads what has arrived. */
function readArrived(reader: number): string {
  const buffer = Buffer.alloc(64 * 1024);
  let text = '';
  try {
    for (let length = readSync(reader, buffer); length > 0; length = readSync(reader, buffer))
      text += buffer.toString('utf8', 0, length);
  } catch (error) {
    if (errnoOf(error) !== 'EAGAIN') throw error;
  }
  return text;
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
  let logged = 3000;
  let text = '';
  // What waits arrives when the reader makes room; a line that is logged before that is dropped too.
  for (; !text.includes('{'); logged++) {
    text += readArrived(reader);
    await log(1);
  }
  expect(await end()).toBe(0);
  text += readArrived(reader);
  closeSync(reader);

  const lines = text.split('\n').slice(0, -1);
  const [note, ...others] = lines.filter((each) => each.startsWith('{')).map((each) => JSON.parse(each) as object);
  expect(others).toEqual([]);
  expect(note).toMatchObject({ level: 'warn', lines: logged - (lines.length - 1) });
  expect(lines.filter((each) => !each.startsWith('{')).every((each) => each === line.trimEnd())).toBe(true);
  const kept = lines.findIndex((each) => each.startsWith('{'));
  expect(kept).toBeGreaterThan(1024);
  expect(kept).toBeLessThan(1024 + 64 + 3);
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
