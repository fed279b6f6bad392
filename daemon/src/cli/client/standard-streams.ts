/** Reads and writes descriptors 0, 1 and 2 exactly, one piece at a time, with backpressure. */
import { fstatSync, read, write } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ReaderGone, StreamFailure } from './failure.ts';

export const standardInput = 0;
export const standardOutput = 1;
export const standardError = 2;

/** Polling interval for a descriptor that another process sharing it has made non-blocking. */
const lookAgainMs = 5;
/** The device number of /dev/null: major 1, minor 3 on every Linux. */
const nullDevice = 0x103;

/** Resolves when the system has accepted every byte. Throws ReaderGone when the reader has gone. */
export async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { error, count } = await writeSome(descriptor, bytes, at);
    at += count;
    if (error === null) continue;
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') throw new ReaderGone('the reader of the output is gone');
    if (error.code !== 'EAGAIN') throw new StreamFailure(`cannot write the output: ${error.code ?? error.message}`);
    await pause(lookAgainMs);
  }
}

/** Returns the next available bytes of standard input; null at its end. */
export async function readInput(limitBytes: number): Promise<Uint8Array | null> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(limitBytes);
    const { error, count } = await readSome(buffer);
    if (error === null) return count === 0 ? null : buffer.subarray(0, count);
    if (error.code === 'EOF' || error.code === 'EIO') return null; // EIO: the terminal has gone.
    if (error.code !== 'EAGAIN') throw new StreamFailure(`cannot read standard input: ${error.code ?? error.message}`);
    await pause(lookAgainMs);
  }
}

const pieceBytes = 256 * 1024;

/** Standard input to its end. */
export async function* inputPieces(): AsyncGenerator<Uint8Array> {
  for (let piece = await readInput(pieceBytes); piece !== null; piece = await readInput(pieceBytes)) yield piece;
}

/** False when no input can come: the descriptor is closed, or it is /dev/null. */
export function canHaveInput(): boolean {
  try {
    const status = fstatSync(standardInput);
    return !(status.isCharacterDevice() && status.rdev === nullDevice);
  } catch {
    return false; // The descriptor is not open.
  }
}

/** Prints one line for people. It may quote a daemon, so control characters are removed. */
export async function say(text: string): Promise<void> {
  try {
    await writeAll(standardError, Buffer.from(`boxkeep: ${oneLine(text)}\n`));
  } catch {
    // No reader is left; the exit code still reports the outcome.
  }
}

export async function print(text: string): Promise<void> {
  await writeAll(standardOutput, Buffer.from(`${text}\n`));
}

/** Replaces control characters by spaces, so that a title or an error message cannot control the terminal. */
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
