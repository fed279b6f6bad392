/** Reads and writes the descriptors 0, 1 and 2: exact, one piece at a time, and no faster than the other side. */
import { fstatSync, read, write } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ClientFailure, ReaderGone } from './failure.ts';

export const standardInput = 0;
export const standardOutput = 1;
export const standardError = 2;

/** Somebody who shares the descriptor may have made it non-blocking; then it has to be looked at again. */
const lookAgainMs = 5;
/** Major 1, minor 3, on every Linux. */
const nullDevice = 0x103;

/** Resolves when the system has taken every byte. Throws ReaderGone when nobody will read them. */
export async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { error, count } = await writeSome(descriptor, bytes, at);
    at += count;
    if (error === null) continue;
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') throw new ReaderGone('the reader of the output is gone');
    if (error.code !== 'EAGAIN') throw new ClientFailure(`cannot write the output: ${error.code ?? error.message}`);
    await pause(lookAgainMs);
  }
}

/** The next bytes of standard input, as they come; null at its end. */
export async function readInput(limitBytes: number): Promise<Uint8Array | null> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(limitBytes);
    const { error, count } = await readSome(buffer);
    if (error === null) return count === 0 ? null : buffer.subarray(0, count);
    if (error.code === 'EOF' || error.code === 'EIO') return null; // EIO: the terminal has gone.
    if (error.code !== 'EAGAIN') throw new ClientFailure(`cannot read standard input: ${error.code ?? error.message}`);
    await pause(lookAgainMs);
  }
}

/** False where it is known that nothing will come: closed, or /dev/null. */
export function canHaveInput(): boolean {
  try {
    const status = fstatSync(standardInput);
    return !(status.isCharacterDevice() && status.rdev === nullDevice);
  } catch {
    return false; // It is not open.
  }
}

/** One line for people. What a daemon said may be in it, so nothing in it may move the cursor. */
export async function say(text: string): Promise<void> {
  try {
    await writeAll(standardError, Buffer.from(`sandboxd: ${oneLine(text)}\n`));
  } catch {
    // Nobody listens; the exit code still tells.
  }
}

export async function print(text: string): Promise<void> {
  await writeAll(standardOutput, Buffer.from(`${text}\n`));
}

/** Control characters as spaces: a title or an error message is never a command to the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}

interface Moved {
  readonly error: NodeJS.ErrnoException | null;
  readonly count: number;
}

function writeSome(descriptor: number, bytes: Uint8Array, at: number): Promise<Moved> {
  return new Promise((resolve) => {
    write(descriptor, bytes, at, bytes.length - at, null, (error, count = 0) => resolve({ error, count }));
  });
}

function readSome(buffer: Buffer): Promise<Moved> {
  return new Promise((resolve) => {
    read(standardInput, buffer, 0, buffer.length, null, (error, count = 0) => resolve({ error, count }));
  });
}
