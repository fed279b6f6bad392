/** Follows the output of a command to its end, across lost connections, without loss or repetition. */
import { Backoff } from './backoff.ts';
import { bytesOfBase64, jsonLines, StreamText } from './lines.ts';
import { BoxError, unreachable } from './result.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { CommandResult } from './wire.ts';

export type StreamName = 'stdout' | 'stderr';
/** Positions in the two streams, in bytes from their beginning. */
export type Offsets = { stdout: number; stderr: number };

/** Output that the daemon sends as text has its bytes made when they are read. */
export class OutputPiece {
  #bytes: Uint8Array | null = null;

  constructor(
    readonly type: StreamName,
    /** Of the first byte. */
    readonly offset: number,
    /** The bytes as UTF-8. A character that two events share is whole in the second one. */
    readonly text: string,
    bytes: Uint8Array | null,
  ) {
    this.#bytes = bytes;
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= new TextEncoder().encode(this.text));
  }
}

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
  | { readonly type: StreamName; readonly offset: number; readonly next: number; readonly data: string }
  | { readonly type: StreamName; readonly offset: number; readonly next: number; readonly data_base64: string }
  | { readonly type: 'gap'; readonly stream: StreamName; readonly from: number; readonly to: number }
  | {
      readonly type: 'exit';
      readonly status: Ending['status'];
      readonly exit_code: number | null;
      readonly signal: string | null;
    }
  | { readonly type: 'start' | 'heartbeat' | 'closing' };

/** The daemon sends a line at least every 15 s, so a connection that is silent for this long is dead. */
const silenceMs = 40_000;
const connectAgain = 'Connect to the command again when the daemon is back; its output is kept.';

/** Ends after `exit`. Throws a BoxError. */
export async function* followOutput(
  transport: Transport,
  id: string,
  { from: { stdout = 0, stderr = 0 } = {}, signal, retryMs = transport.retryMs, onAway }: FollowOptions,
): AsyncGenerator<OutputEvent> {
  const offsets = { stdout, stderr };
  const backoff = new Backoff(retryMs, onAway);
  const texts = { stdout: new StreamText(), stderr: new StreamText() };
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
): AsyncGenerator<Line> {
  signal?.throwIfAborted();
  const closing = new AbortController();
  const close = () => closing.abort(unreachable(`${transport.address} is silent`));
  signal?.addEventListener('abort', close, { once: true });
  const query = { stream: true, encoding: 'auto', offset: stdout, stderr_offset: stderr } as const;
  try {
    const input = { path: { command_id: id }, query };
    const opened = await transport.open('commands.read', input, { signal: closing.signal, retryMs: 0 });
    if (!opened.ok) throw opened.error;
    const pieces = endWhenSilent(transport.pieces(opened.body, closing.signal), close);
    for await (const line of jsonLines(pieces)) yield line as Line;
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
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

/** Only what is new in a line: never the same bytes twice, and a gap where bytes are missing. */
function* inOrder(
  line: Line,
  offsets: Offsets,
  texts: Readonly<Record<StreamName, StreamText>>,
): Generator<OutputEvent> {
  if (line.type === 'exit') yield { type: 'exit', status: line.status, exitCode: line.exit_code, signal: line.signal };
  if (line.type === 'gap' && line.to > offsets[line.stream]) yield missing(line.stream, line.to, offsets);
  if (line.type !== 'stdout' && line.type !== 'stderr') return;
  const { type, offset, next } = line;
  if (offset > offsets[type]) yield missing(type, offset, offsets);
  if (next <= offsets[type]) return;
  // Whole characters come as text, unless a part of them is known.
  const from = offsets[type];
  offsets[type] = next;
  if ('data' in line && offset === from) {
    yield new OutputPiece(type, from, texts[type].end() + line.data, null);
    return;
  }
  const bytes = bytesIn(line).subarray(from - offset);
  yield new OutputPiece(type, from, texts[type].decode(bytes), bytes);
}

function bytesIn(line: Extract<Line, { readonly next: number }>): Uint8Array {
  return 'data' in line ? new TextEncoder().encode(line.data) : bytesOfBase64(line.data_base64);
}

function missing(stream: StreamName, to: number, offsets: Offsets): OutputEvent {
  const from = offsets[stream];
  offsets[stream] = to;
  return { type: 'gap', stream, from, to };
}
