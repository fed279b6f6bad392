/** Follows the output of a command to its end, across lost connections, without loss or repetition. */
import type { Arguments } from '../arguments.ts';
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { ClientFailure, Refusal, Unreachable } from './failure.ts';
import { jsonLines } from './lines.ts';
import { say } from './standard-streams.ts';
import { readLine, type Line, type Offsets } from './wire.ts';

export interface FollowOptions {
  /** The offsets to start from; they advance as output is yielded. */
  readonly offsets: Offsets;
  /** How long the daemon may be away before the client gives up. */
  readonly reconnectMs: number;
  readonly signal: AbortSignal;
}

export type Output = Extract<Line, { kind: 'bytes' | 'gap' | 'exit' }>;

/** How long a daemon may be away when the user sets no limit. */
const defaultReconnectSeconds = 60;
/** The daemon sends a line at least every 15 s, so a connection that is silent for this long is dead. */
const silenceMs = 40_000;
/** A longer outage is reported to the user. */
const noticeMs = 3000;
/** The daemon answers but cannot serve a stream now: too many are open, or it is shutting down. */
const transientStatuses: readonly number[] = [429, 503];

/** The value of --reconnect in ms. */
export function reconnectTime(given: Arguments): number {
  return (given.number('reconnect', 0) ?? defaultReconnectSeconds) * 1000;
}

/** Ends after `exit`. Throws a ClientFailure that reports the offsets to resume from. */
export async function* follow(client: Client, id: string, options: FollowOptions): AsyncGenerator<Output> {
  const outage = new Outage(client, id, options);
  for (;;) {
    try {
      for await (const line of connection(client, id, options)) {
        outage.over(line.kind !== 'start' && line.kind !== 'closing');
        for (const output of inOrder(line, options.offsets)) {
          yield output;
          if (output.kind === 'exit') return;
        }
      }
      // The stream ended without a last line, or with `closing`: the daemon has gone or is shutting down.
    } catch (error) {
      options.signal.throwIfAborted();
      if (!isTransient(error)) throw withPosition(error, client, id, options.offsets);
    }
    await outage.wait();
  }
}

/** Tracks an outage of the daemon: waits, reports it to the user, and finally gives up. */
class Outage {
  #sinceMs: number | null = null;
  #isReported = false;
  readonly #backoff = new Backoff();

  constructor(
    private readonly client: Client,
    private readonly id: string,
    private readonly options: FollowOptions,
  ) {}

  over(isProgress: boolean): void {
    this.#sinceMs = null;
    this.#isReported = false;
    if (isProgress) this.#backoff.reset();
  }

  async wait(): Promise<void> {
    this.#sinceMs ??= performance.now();
    const goneMs = performance.now() - this.#sinceMs;
    const { offsets, reconnectMs, signal } = this.options;
    if (goneMs >= reconnectMs) {
      const lost = new Unreachable(`${this.client.address} was not reachable for ${reconnectMs / 1000} s`, false);
      throw withPosition(lost, this.client, this.id, offsets);
    }
    if (goneMs >= noticeMs && !this.#isReported) {
      this.#isReported = true;
      await say(`${this.client.address} is not reachable; trying for ${reconnectMs / 1000} s`);
    }
    await this.#backoff.wait(signal);
    signal.throwIfAborted();
  }
}

/** The lines of one connection, until it ends or breaks. */
async function* connection(client: Client, id: string, { offsets, signal }: FollowOptions): AsyncGenerator<Line> {
  const closing = new AbortController();
  const close = () => closing.abort();
  signal.addEventListener('abort', close, { once: true });
  const path = `/v2/commands/${encodeURIComponent(id)}?stream=true&encoding=base64`;
  const query = `&offset=${offsets.stdout}&stderr_offset=${offsets.stderr}`;
  try {
    const pieces = endWhenSilent(client.stream(path + query, closing.signal), close);
    for await (const value of jsonLines(pieces)) yield readLine(value);
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

/** Closes a silent connection. Time that the client spends on a piece is not silence. */
async function* endWhenSilent(pieces: AsyncGenerator<Uint8Array>, close: () => void): AsyncGenerator<Uint8Array> {
  for (;;) {
    const timer = setTimeout(close, silenceMs);
    const { done, value } = await pieces.next().finally(() => clearTimeout(timer));
    if (done) return;
    yield value;
  }
}

/** Yields only new output from a line: never the same bytes twice, and a gap where bytes are missing. */
function* inOrder(line: Line, offsets: Offsets): Generator<Output> {
  if (line.kind === 'exit') yield line;
  if (line.kind === 'gap' && line.to > offsets[line.stream]) {
    const from = offsets[line.stream];
    offsets[line.stream] = line.to;
    yield { ...line, from };
  }
  if (line.kind !== 'bytes') return;
  const { stream, offset, bytes } = line;
  if (offset > offsets[stream]) yield { kind: 'gap', stream, from: offsets[stream], to: offset };
  const known = Math.max(0, offsets[stream] - offset);
  if (known < bytes.length) yield { ...line, offset: offset + known, bytes: bytes.subarray(known) };
  offsets[stream] = Math.max(offsets[stream], offset + bytes.length);
}

function isTransient(error: unknown): boolean {
  if (error instanceof Refusal) return transientStatuses.includes(error.status);
  return error instanceof Unreachable;
}

function withPosition(error: unknown, client: Client, id: string, offsets: Offsets): unknown {
  if (!(error instanceof Refusal || error instanceof Unreachable)) return error;
  const position = `--offset ${offsets.stdout} --stderr-offset ${offsets.stderr}`;
  const advice =
    error instanceof Refusal && error.status === 404
      ? 'what it wrote and how it ended is not kept; a daemon that was stopped ends its commands'
      : `to go on: boxkeep logs ${client.address} ${id} -f ${position}`;
  return new ClientFailure(`${error.message}; ${advice}`);
}
