/** Writes to a command's standard input, so that a repeated call does nothing twice. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Command } from './command.ts';

export interface InputRequest {
  readonly bytes: Uint8Array;
  /** Close it behind these bytes. */
  readonly isEnd: boolean;
  /** Position of the first byte in the whole of stdin; null is behind what was written before. */
  readonly offset: number | null;
  readonly signal: AbortSignal;
}

export interface InputResult {
  /** Of these bytes, those that are in stdin now. */
  readonly acceptedBytes: number;
  /** All that was accepted so far: where the next call goes on. */
  readonly offset: number;
}

/** A command that does not read is waited for so long; what it did not take is told. */
const waitMs = 10_000;
/** Of what a command was started with, so much is in memory at a time. */
const pieceBytes = 256 * 1024;

export function writeInput(command: Command, request: InputRequest): Promise<InputResult> {
  return command.writing(() => write(command, request));
}

/** Writes what the command was started with, and closes its input behind it; goes on where an earlier daemon was. */
export async function feedInput(command: Command): Promise<void> {
  const { child } = command;
  const size = child.directory.inputBytes();
  if (size === null) return;
  await command.writing(async () => {
    for (let at = 0; at < size && child.stdin.isOpen;) {
      at = await child.writeStdin(at, child.directory.inputPart(at, pieceBytes));
    }
    child.closeStdin(size);
  });
  if (!child.isLetGo) child.directory.forgetInput();
}

async function write(command: Command, request: InputRequest): Promise<InputResult> {
  const { child } = command;
  if (child.isLetGo) throw new HandedOver();
  if (!command.isRunning || !child.stdin.isOpen) throw closed(command);
  const from = request.offset ?? child.stdin.accepted;
  if (from > child.stdin.accepted) {
    throw new CoreError('bad_argument', `offset ${from} is past the end of stdin, ${child.stdin.accepted}`, {
      hint: 'Send the bytes before it first; the offset of the last answer is where to go on.',
      facts: { offset: child.stdin.accepted },
    });
  }
  using deadline = new Deadline(waitMs, request.signal);
  const end = await child.writeStdin(from, request.bytes, deadline.signal);
  // Made again from the same place, it writes what is missing and no more.
  if (child.isLetGo) throw new HandedOver({ offset: from });
  const isNothingTaken = end <= from && request.bytes.length > 0;
  if (isNothingTaken && (!command.isRunning || !child.stdin.isOpen)) throw closed(command);
  if (request.isEnd && end >= from + request.bytes.length) child.closeStdin(from + request.bytes.length);
  return { acceptedBytes: Math.min(request.bytes.length, Math.max(0, end - from)), offset: end };
}

function closed(command: Command): CoreError {
  return new CoreError('stdin_closed', `the standard input of ${command.id} is closed`, {
    hint: command.isRunning
      ? 'Start a command with stdin "pipe" to write to it.'
      : 'The command has ended; its output is still readable.',
  });
}
