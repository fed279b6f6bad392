/** One connection to a terminal session: its frames in order, closed when the daemon falls silent. */
import { readFrame, type Frame } from './frames.ts';
import { BoxError } from '../../../../clients/typescript/src/index.ts';
import type { Client } from '../client/client.ts';
import { Notifier } from '../../kit/notifier.ts';

const openWithinMs = 15_000;
/** The daemon sends something at least every 30 s, so a longer silence means a dead connection. */
const silenceMs = 45_000;
/** A live connection answers typed input at once. */
const answerWithinMs = 15_000;
/** Limit on output queued for the local reader, well above the 1 MiB that a daemon sends ahead of acknowledgements. */
const maxQueuedBytes = 4 * 1024 * 1024;
/** Output is acknowledged at least this often, so that the daemon never waits for a fast reader. */
const acknowledgeBytes = 64 * 1024;
const maxUnsentBytes = 256 * 1024;

export class AttachSocket implements Disposable {
  /** The close code of the other side; null while the connection is open, and after it broke. */
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

  /** Throws `unreachable` for every failure, because the runtime does not report the status of a failed upgrade. */
  static async open(client: Client, path: string, signal: AbortSignal): Promise<AttachSocket> {
    signal.throwIfAborted();
    const socket = client.socket(path);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const message = `no WebSocket opens at ${client.address}`;
    const fail = () => reject(new BoxError({ code: 'unreachable', message, retryable: true }));
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', fail, { once: true });
    socket.addEventListener('close', fail, { once: true });
    signal.addEventListener('abort', fail, { once: true });
    const timer = setTimeout(fail, openWithinMs);
    // Constructed before the socket opens, so that no frame arrives without a listener.
    const made = new AttachSocket(socket);
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

  /** Yields frames until the connection is closed and all received frames have been consumed. */
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

  /** Sends typed bytes. They are lost if the connection breaks; `ask` confirms their arrival. */
  type(bytes: Uint8Array): void {
    this.#send(bytes);
  }

  /** Sends a ping. The pong carries the same number and arrives once everything sent before has been received. */
  ask(position: number): void {
    this.#unanswered ??= setTimeout(() => this.#break(), answerWithinMs);
    this.#control({ type: 'ping', timestamp: position });
  }

  resize(cols: number, rows: number): void {
    this.#control({ type: 'resize', cols, rows });
  }

  /** Acknowledges that output up to this offset was written. */
  acknowledge(offset: number): void {
    const isDue = offset - this.#acknowledged >= acknowledgeBytes || this.#queue.length === 0;
    if (!isDue || offset === this.#acknowledged) return;
    this.#acknowledged = offset;
    this.#control({ type: 'ack', offset });
  }

  /** Resolves when the send buffer has room again. */
  async writable(signal: AbortSignal): Promise<void> {
    while (this.isOpen && this.socket.bufferedAmount > maxUnsentBytes && !signal.aborted) {
      await this.#changes.wait(AbortSignal.any([signal, AbortSignal.timeout(10)])); // The runtime has no event.
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
    // The local reader is too slow, and the daemon does not wait for it. The dropped output comes again after a
    // reconnect.
    if (this.#queuedBytes > maxQueuedBytes) this.#break();
  }

  #read(message: string | Uint8Array): Frame {
    try {
      return readFrame(message);
    } catch {
      return { kind: 'error', message: 'the server does not speak the terminal protocol' }; // Its reader shows it.
    }
  }

  /** Restarts the silence timer: a connection without any message is dead, even if the system still holds it open. */
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
