/** Follows the output of a command to its end, across lost connections, without loss or repetition. */
import { Backoff } from './backoff.ts';
import { frames, SharedCharacters } from './lines.ts';
import { BoxError, unreachable } from './result.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { CommandResult } from './wire.ts';

export type StreamName = 'stdout' | 'stderr';
/** Positions in the two streams, in bytes from their beginning. */
export type Offsets = { stdout: number; stderr: number };

/** The text is decoded when it is read. */
export class OutputPiece {
  #text: string | null = null;
  readonly #characters: Uint8Array;

  constructor(
    readonly type: StreamName,
    /** Of the first byte. */
    readonly offset: number,
    readonly bytes: Uint8Array,
    characters: Uint8Array,
  ) {
    this.#characters = characters;
  }

  /** The bytes as UTF-8. A character that two events share is whole in the second one. */
  get text(): string {
    return (this.#text ??= decoder.decode(this.#characters));
  }
}

/** A byte order mark is text like any other. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export type OutputEvent =
  | OutputPiece
  /** The daemon does not keep the bytes from `from` to before `to` any more. */
  | { readonly type: 'gap'; readonly stream: StreamName; readonly from: number; readonly to: number }
  | Ending;

/** The command has ended, and all its output has come. */
export interface Ending {
  readonly type: 'exit';
  readonly status: CommandResult['status'];
  /** 128 + n after a death by signal n; null when it cannot be known, and when the command never started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface FollowOptions extends CallOptions {
  /** Where the output begins that is wanted; 0. */
  readonly from?: Partial<Offsets>;
}

type Line =
  /** So many bytes follow. */
  | { readonly type: StreamName; readonly offset: number; readonly bytes: number }
  | { readonly type: 'gap'; readonly stream: StreamName; readonly from: number; readonly to: number }
  | {
      readonly type: 'exit';
      readonly status: Ending['status'];
      readonly exit_code: number | null;
      readonly signal: string | null;
    }
  | { readonly type: 'start' | 'heartbeat' | 'closing' };

/** Bytes of a stream. */
interface Part {
  readonly type: StreamName;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The daemon sends a line at least every 15 s, so a connection that is silent for this long is dead. */
const silenceMs = 40_000;
const connectAgain = 'Connect to the command again when the daemon is back; its output is kept.';

/** Ends after `exit`. Throws a BoxError. */
export async function* followOutput(
  transport: Transport,
  id: string,
  { from: { stdout = 0, stderr = 0 } = {}, signal, retryMs, onAway }: FollowOptions,
): AsyncGenerator<OutputEvent> {
  const offsets = { stdout, stderr };
  const backoff = new Backoff(() => retryMs ?? transport.retryMs, onAway);
  const texts = { stdout: new SharedCharacters(), stderr: new SharedCharacters() };
  for (;;) {
    let lost = unreachable(`${transport.address} has closed the connection`);
    try {
      for await (const line of connection(transport, id, offsets, signal)) {
        if (line.type === 'start' || line.type === 'closing') backoff.answered();
        else backoff.reset();
        for (const event of inOrder(line, offsets, texts)) {
          yield event;
          if (event.type === 'exit') return;
        }
      }
      // The stream has ended without a last line, or with `closing`: the daemon is gone, or about to go.
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof BoxError) || !error.retryable) throw error;
      lost = error;
    }
    if (!(await backoff.wait(lost, 0, signal))) throw backoff.gaveUp(connectAgain, lost);
  }
}

/** The lines of one connection, until it ends or breaks. */
async function* connection(
  transport: Transport,
  id: string,
  { stdout, stderr }: Offsets,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part | Exclude<Line, { readonly bytes: number }>> {
  signal?.throwIfAborted();
  const closing = new AbortController();
  const close = () => closing.abort(unreachable(`${transport.address} is silent`));
  signal?.addEventListener('abort', close, { once: true });
  const query = { stream: true, encoding: 'bytes', offset: stdout, stderr_offset: stderr } as const;
  try {
    const input = { path: { command_id: id }, query };
    const opened = await transport.open('commands.read', input, { signal: closing.signal, retryMs: 0 });
    if (!opened.ok) throw opened.error;
    const pieces = endWhenSilent(transport.pieces(opened.body, closing.signal), close);
    let begun: Omit<Part, 'bytes'> = { type: 'stdout', offset: 0 };
    for await (const frame of frames(pieces)) {
      if (frame instanceof Uint8Array) {
        yield { ...begun, bytes: frame };
        begun = { type: begun.type, offset: begun.offset + frame.length };
      } else if (!isLine(frame)) throw transport.notBoxkeep(opened.body.status);
      else if ('bytes' in frame) begun = { type: frame.type, offset: frame.offset };
      else yield frame;
    }
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
}

function isLine(line: unknown): line is Line {
  return typeof line === 'object' && line !== null && 'type' in line;
}

/** Closes a silent connection. Time that the caller spends on a piece is not silence. */
async function* endWhenSilent(pieces: AsyncGenerator<Uint8Array>, close: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const timer = setTimeout(close, silenceMs);
      const { done, value } = await pieces.next().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

/** Only what is new: never the same bytes twice, and a gap where bytes are missing. */
function* inOrder(
  frame: Part | Exclude<Line, { readonly bytes: number }>,
  offsets: Offsets,
  texts: Readonly<Record<StreamName, SharedCharacters>>,
): Generator<OutputEvent> {
  if (frame.type === 'exit')
    yield { type: 'exit', status: frame.status, exitCode: frame.exit_code, signal: frame.signal };
  if (frame.type === 'gap' && frame.to > offsets[frame.stream]) yield missing(frame.stream, frame.to, offsets);
  if (!('bytes' in frame)) return;
  const { type, offset } = frame;
  if (offset > offsets[type]) yield missing(type, offset, offsets);
  const from = offsets[type];
  const bytes = frame.bytes.subarray(from - offset);
  if (bytes.length === 0) return;
  offsets[type] = from + bytes.length;
  yield new OutputPiece(type, from, bytes, texts[type].endingIn(bytes));
}

function missing(stream: StreamName, to: number, offsets: Offsets): OutputEvent {
  const from = offsets[stream];
  offsets[stream] = to;
  return { type: 'gap', stream, from, to };
}
