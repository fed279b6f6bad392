/** One connection to a terminal session: its frames in their order, and the end of it when nothing is heard any more. */
import { readFrame, type Frame } from './attach-frames.ts';
import type { Client } from './client.ts';
import { Unreachable } from './failure.ts';
import { Notifier } from '../kit/notifier.ts';

const openWithinMs = 15_000;
/** The daemon is heard of every 30 s. */
const silenceMs = 45_000;
/** Who has typed is answered at once by a connection that lives. */
const answerWithinMs = 15_000;
/** A daemon sends this much ahead of what was acknowledged; more than twice of it is not kept. */
const mostQueuedBytes = 4 * 1024 * 1024;
/** What is told to have been written at the latest: so often that a quick reader is never waited for. */
const acknowledgeBytes = 64 * 1024;
const mostUnsentBytes = 256 * 1024;

export class TerminalSocket implements Disposable {
  /** How the other side closed it; null while it is open, and where it broke. */
  closeCode: number | null = null;
  #queue: Frame[] = [];
  #queuedBytes = 0;
  #isClosed = false;
  #acknowledged = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #unanswered: ReturnType<typeof setTimeout> | undefined;
  readonly #changes = new Notifier();

  private constructor(private readonly socket: WebSocket) {
    socket.binaryType = 'nodebuffer';
    socket.addEventListener('message', ({ data }) => this.#take(data as string | Uint8Array));
    socket.addEventListener('close', ({ code }) => this.#end(code));
    this.#listen();
  }

  /** Throws Unreachable, whatever it was: a runtime tells no status of an answer that opens nothing. */
  static async open(client: Client, path: string, signal: AbortSignal): Promise<TerminalSocket> {
    signal.throwIfAborted();
    const socket = client.socket(path);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = () => reject(new Unreachable(`no WebSocket opens at ${client.address}`, false));
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', fail, { once: true });
    socket.addEventListener('close', fail, { once: true });
    signal.addEventListener('abort', fail, { once: true });
    const timer = setTimeout(fail, openWithinMs);
    // Made before it is open, so that no frame can come before somebody listens.
    const made = new TerminalSocket(socket);
    try {
      await promise;
      return made;
    } catch (error) {
      made[Symbol.dispose]();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', fail);
    }
  }

  /** Until it is closed and everything that came before has been taken. */
  async *frames(signal: AbortSignal): AsyncGenerator<Frame> {
    for (;;) {
      signal.throwIfAborted();
      const frame = this.#queue.shift();
      if (frame) {
        if (frame.kind === 'output') this.#queuedBytes -= frame.bytes.length;
        yield frame;
        continue;
      }
      if (this.#isClosed) return;
      await this.#changes.wait(signal);
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /** Lost where the connection is; whoever has to know asks for an answer behind it. */
  type(bytes: Uint8Array): void {
    this.#send(bytes);
  }

  /** Answered by a pong with the same number, once all that was sent before has been received. */
  ask(position: number): void {
    this.#unanswered ??= setTimeout(() => this.#break(), answerWithinMs);
    this.#control({ type: 'ping', timestamp: position });
  }

  resize(cols: number, rows: number): void {
    this.#control({ type: 'resize', cols, rows });
  }

  /** Output up to here was written. */
  acknowledge(offset: number): void {
    const isDue = offset - this.#acknowledged >= acknowledgeBytes || this.#queue.length === 0;
    if (!isDue || offset === this.#acknowledged) return;
    this.#acknowledged = offset;
    this.#control({ type: 'ack', offset });
  }

  /** Resolves when more can be sent without being held here. */
  async writable(signal: AbortSignal): Promise<void> {
    while (this.isOpen && this.socket.bufferedAmount > mostUnsentBytes && !signal.aborted) {
      await this.#changes.wait(AbortSignal.any([signal, AbortSignal.timeout(10)])); // No event tells of it.
    }
  }

  [Symbol.dispose](): void {
    this.#end(null);
    this.socket.terminate();
  }

  #take(message: string | Uint8Array): void {
    this.#listen();
    const frame = this.#read(message);
    if (frame.kind === 'pong') {
      clearTimeout(this.#unanswered);
      this.#unanswered = undefined;
    }
    if (frame.kind === 'ping') {
      this.#control({ type: 'pong', timestamp: frame.timestamp });
      return;
    }
    if (frame.kind === 'output') this.#queuedBytes += frame.bytes.length;
    this.#queue.push(frame);
    this.#changes.notify();
    // Our own reader is slow, and the other side does not wait for it: what is not taken now comes again.
    if (this.#queuedBytes > mostQueuedBytes) this.#break();
  }

  #read(message: string | Uint8Array): Frame {
    try {
      return readFrame(message);
    } catch {
      return { kind: 'error', message: 'what answers speaks no protocol of a terminal' }; // Told by who reads it.
    }
  }

  /** A connection on which nothing comes is dead, whatever the system thinks of it. */
  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#break(), silenceMs);
  }

  #break(): void {
    this.#end(null);
    this.socket.terminate();
  }

  #end(code: number | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.closeCode = code;
    clearTimeout(this.#silence);
    clearTimeout(this.#unanswered);
    this.#changes.notify();
  }

  #control(message: object): void {
    this.#send(JSON.stringify(message));
  }

  #send(message: string | Uint8Array): void {
    if (this.isOpen && this.socket.readyState === WebSocket.OPEN) this.socket.send(message);
  }
}
