/** Sends lines to a process under a keeper, and reads the events that the process sends back. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import { decodeUtf8 } from '../../../kit/text/text.ts';
import type { JsonBounds } from '../../../kit/text/json-bounds.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import { readLog } from '../../processes/read-log.ts';
import { gap, readEvent, type InterpreterEvent } from '../cells/events.ts';
import { LineReader } from './line-reader.ts';

const maxErrorBytes = 8192;
/** After the process ends, one of its children may still hold the output open. */
const lastWordsMs = 300;
/** Maximum number of bytes read in one turn, so that a process with endless output does not block other work. */
const turnBytes = 1024 * 1024;

export class Channel {
  /** True after the process has ended and all its output was read. */
  isOver = false;
  readonly #reader: LineReader;
  readonly #changes = new Notifier();
  #sent: number;
  /** Size of the input that was sent or is waiting to be sent. */
  #promised: number;
  #isListening = false;
  #sending: Promise<unknown> = Promise.resolve();

  constructor(
    readonly child: Child,
    from: number,
    bounds: JsonBounds,
    private readonly onEvent: (event: InterpreterEvent) => void,
  ) {
    this.#reader = new LineReader(child, from, bounds);
    this.#sent = this.#promised = child.stdin.accepted;
  }

  /** Starts to pass all output after the offset to `onEvent`. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#listen();
  }

  /** Resolves when the process has written output or has ended, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** Position after the last line that was read. */
  get position(): number {
    return this.#reader.lineEnd;
  }

  /** Position in the whole input after these pieces, if they are sent next. */
  endOf(pieces: readonly Uint8Array[]): number {
    return this.#promised + lengthOf(pieces);
  }

  /** Whether the process has received its input up to this position. */
  hasTaken(end: number): boolean {
    return this.child.stdin.accepted >= end;
  }

  /** Sends pieces of one message after all earlier ones. Rejects when the process accepts no more input. */
  send(pieces: readonly Uint8Array[]): Promise<void> {
    const sent = this.#sending.then(() => this.#sendNow(pieces));
    const length = lengthOf(pieces);
    this.#promised += length;
    this.#sending = sent.catch(() => {
      this.#promised -= length; // The next call tries again, whatever the outcome of this one.
    });
    return sent;
  }

  /** Resumes after another daemon had the process: it may have sent something, and this daemon half a line. */
  resumeInput(): void {
    this.#sent = this.#promised = this.child.stdin.accepted;
    void this.send([Buffer.from('\n')]).catch(() => null); // A process that accepts no input has ended.
  }

  /** The end of the output outside of cells. */
  errors(): string {
    return errorsOf(this.child);
  }

  async #sendNow(pieces: readonly Uint8Array[]): Promise<void> {
    let at = this.#sent;
    for (const piece of pieces) {
      const end = at + piece.length;
      const accepted = await this.child.writeStdin(at, piece);
      if (accepted < end && this.child.ownership.isLeft) throw new HandedOver();
      if (accepted < end) throw new CoreError('unavailable', 'the interpreter accepts no more code');
      at = end;
    }
    this.#sent = at;
  }

  async #listen(): Promise<void> {
    const { child } = this;
    let lastWords: Deadline | null = null;
    let end: number | null = null;
    while (!this.isOver) {
      if (child.end) lastWords ??= new Deadline(lastWordsMs);
      const isLast = child.end !== null && (!child.streamsOpen || lastWords?.passed === true);
      const isAtEnd = this.#read();
      // A child that holds the output open may print forever, so only the output up to this point counts.
      if (isLast) end ??= child.ends[0];
      this.isOver = end !== null && (isAtEnd || this.#reader.offset >= end);
      this.#changes.notify();
      if (this.isOver) break;
      if (isAtEnd) child.follow();
      await (isAtEnd ? child.changed(lastWords?.signal) : nextTurn());
    }
    lastWords?.[Symbol.dispose]();
  }

  /** Passes on the output, up to the limit of one turn. True when all output was read. */
  #read(): boolean {
    if (!this.child.isWatched) this.child.refresh();
    using _open = this.child.directory.use();
    const from = this.#reader.offset;
    for (const line of this.#reader.read(turnBytes)) {
      const event = line === null ? gap : readEvent(line);
      if (event) this.onEvent(event);
    }
    return this.#reader.offset < from + turnBytes;
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The end of the standard error output of a process. */
export function errorsOf(child: Child): string {
  using _open = child.directory.use();
  child.refresh();
  const from = Math.max(0, child.ends[1] - maxErrorBytes);
  return decodeUtf8(readLog(child.log('stderr'), from, child.ends[1]).bytes).trim();
}
