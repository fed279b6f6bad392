/** Lines to a process under a keeper, and the events that it answers with. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { Notifier } from '../../kit/notifier.ts';
import type { Child } from '../../platform/spawn.ts';
import { gap, readEvent, type InterpreterEvent } from './events.ts';
import { LineReader } from './line-reader.ts';

const mostErrorBytes = 8192;
/** A child of its own may hold its output open behind its end. */
const lastWordsMs = 300;
/** What is read in one turn: somebody who prints without end leaves all others theirs. */
const turnBytes = 1024 * 1024;

export class Channel {
  /** It has ended, and all that it has said was heard. */
  isOver = false;
  readonly #reader: LineReader;
  readonly #changes = new Notifier();
  #sent: number;
  /** What was sent, with what waits to be. */
  #promised: number;
  #isListening = false;
  #sending: Promise<unknown> = Promise.resolve();

  constructor(
    readonly child: Child,
    from: number,
    private readonly onEvent: (event: InterpreterEvent) => void,
  ) {
    this.#reader = new LineReader(child, from);
    this.#sent = this.#promised = child.stdin.accepted;
  }

  /** From now on `onEvent` hears everything past the offset. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#listen();
  }

  /** Resolves when it has said something, or has ended, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** What was said before this was read. */
  get position(): number {
    return this.#reader.lineEnd;
  }

  /** Where in its whole input what is sent next ends. */
  endOf(bytes: Uint8Array): number {
    return this.#promised + bytes.length;
  }

  /** It has taken all of its input up to there. */
  hasTaken(end: number): boolean {
    return this.child.stdin.accepted >= end;
  }

  /** Behind everything that was sent before. Rejects when it takes nothing more. */
  send(bytes: Uint8Array): Promise<void> {
    const sent = this.#sending.then(() => this.#sendNow(bytes));
    this.#promised += bytes.length;
    this.#sending = sent.catch(() => {
      this.#promised -= bytes.length; // The next one tries, whatever became of this one.
    });
    return sent;
  }

  /** The end of what it has printed outside of cells. */
  errors(): string {
    return errorsOf(this.child);
  }

  async #sendNow(bytes: Uint8Array): Promise<void> {
    const end = this.#sent + bytes.length;
    const accepted = await this.child.writeStdin(this.#sent, bytes);
    if (accepted < end && this.child.isLetGo) throw new HandedOver();
    if (accepted < end) throw new CoreError('unavailable', 'the interpreter takes no more code');
    this.#sent = end;
  }

  async #listen(): Promise<void> {
    const { child } = this;
    let lastWords: Deadline | null = null;
    let end: number | null = null;
    while (!this.isOver) {
      if (child.end) lastWords ??= new Deadline(lastWordsMs);
      const isLast = child.end !== null && (!child.streamsOpen || lastWords?.passed === true);
      const isAtEnd = this.#read();
      // Who holds its output open may print for ever; what came until now is all that counts.
      if (isLast) end ??= child.ends[0];
      this.isOver = end !== null && (isAtEnd || this.#reader.offset >= end);
      this.#changes.notify();
      if (this.isOver) break;
      if (isAtEnd) child.follow();
      await (isAtEnd ? child.changed(lastWords?.signal) : nextTurn());
    }
    lastWords?.[Symbol.dispose]();
  }

  /** Hands on what was said by now, or as much of it as there is time for; true when that was all. */
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

/** Behind what waits for the machine, such as requests. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The end of what a process has printed to its standard error. */
export function errorsOf(child: Child): string {
  using _open = child.directory.use();
  child.refresh();
  const from = Math.max(0, child.ends[1] - mostErrorBytes);
  const piece = child.log('stderr').read(from, mostErrorBytes);
  return piece?.kind === 'bytes' ? Buffer.from(piece.bytes).toString().trim() : '';
}
