/** Writes to a command's standard input. A repeated call writes nothing twice. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Command } from './command.ts';

export interface InputRequest {
  readonly bytes: Uint8Array;
  /** Close stdin after these bytes. */
  readonly isEnd: boolean;
  /** Position of the first byte in all of stdin; null appends to what was written before. */
  readonly offset: number | null;
  readonly signal: AbortSignal;
}

export interface InputResult {
  /** How many of the bytes in the request are in stdin now. */
  readonly acceptedBytes: number;
  /** All bytes accepted so far: the offset for the next call. */
  readonly offset: number;
}

/** How long a write waits for a command that does not read. The answer reports how much the command took. */
const waitMs = 10_000;
/** Bytes of the initial input that the daemon holds in memory at a time. */
const pieceBytes = 256 * 1024;

export function writeInput(command: Command, request: InputRequest): Promise<InputResult> {
  return command.writing(() => write(command, request));
}

/** Writes the initial input and then closes stdin. Resumes where an earlier daemon stopped. */
export async function feedInput(command: Command): Promise<void> {
  const { child } = command;
  await command.writing(async () => {
    const size = child.directory.inputBytes();
    if (size === null) return;
    for (let at = 0; at < size && child.stdin.isOpen;) {
      at = await child.writeStdin(at, child.directory.inputPart(at, pieceBytes));
    }
    child.closeStdin(size);
    if (!child.ownership.isLeft) child.directory.forgetInput();
  });
}

async function write(command: Command, request: InputRequest): Promise<InputResult> {
  const { child } = command;
  child.ownership.assertOwned();
  if (!command.isRunning || !child.stdin.isOpen || isPastEnd(command, request)) return repeated(command, request);
  const from = request.offset ?? child.stdin.accepted;
  if (from > child.stdin.accepted) {
    throw new CoreError('bad_argument', `offset ${from} is past the end of stdin, ${child.stdin.accepted}`, {
      hint: `Send the bytes from offset ${child.stdin.accepted} on.`,
      facts: { offset: child.stdin.accepted },
    });
  }
  using deadline = new Deadline(waitMs, request.signal);
  const end = await child.writeStdin(from, request.bytes, deadline.signal);
  if (child.ownership.isLeft) throw new HandedOver({ inputOffset: from });
  const isNothingTaken = end <= from && request.bytes.length > 0;
  if (isNothingTaken && (!command.isRunning || !child.stdin.isOpen)) throw closed(command);
  if (request.isEnd && end >= from + request.bytes.length) child.closeStdin(from + request.bytes.length);
  return { acceptedBytes: Math.min(request.bytes.length, Math.max(0, end - from)), offset: end };
}

/** The keeper takes nothing behind the end of a pipe, and says nothing of it. A terminal has no last end. */
function isPastEnd({ child, note }: Command, { bytes }: InputRequest): boolean {
  return child.stdinEnd !== null && !note.hasTerminal && bytes.length > 0 && child.stdin.accepted >= child.stdinEnd;
}

/** What the keeper has taken is known after the end too, so a request whose answer was lost is answered again. */
function repeated(command: Command, { bytes, isEnd, offset }: InputRequest): InputResult {
  const { accepted } = command.child.stdin;
  const taken = offset === null ? 0 : Math.min(bytes.length, accepted - offset);
  const isClosedThere = isEnd && offset === accepted && bytes.length === 0;
  if (taken <= 0 && !isClosedThere) throw closed(command);
  return { acceptedBytes: taken, offset: accepted };
}

function closed(command: Command): CoreError {
  return new CoreError('stdin_closed', `the standard input of ${command.id} is closed`, {
    ...(command.isRunning
      ? { next: { operation: 'commands.startWithInput' } }
      : { hint: 'The command has ended; its output is still readable.' }),
  });
}
