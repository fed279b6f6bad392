/** Pipelines X11 requests, and matches replies and errors to them by sequence number. */
import { X11Closed, X11Refusal } from '../../protocols/x11-errors.ts';
import { untilAborted } from '../../kit/shared-work.ts';
import { Message, Packer } from './message.ts';
import type { DisplaySocket } from './socket.ts';

export interface XRequest {
  readonly opcode: number;
  /** The second byte: a value of a core request, or the number of an extension's request. */
  readonly detail?: number;
  readonly body?: Buffer;
}

interface Pending {
  readonly opcode: number;
  /** A request without a reply has succeeded when the server answers a later request. */
  readonly hasReply: boolean;
  resolve(reply: Message): void;
  reject(error: Error): void;
}

/** Sequence numbers have 16 bits, so the server must answer before the numbers wrap around. */
const maxUnansweredRequests = 30_000;

const getInputFocus: XRequest = { opcode: 43 };
const errorKind = 0;
const replyKind = 1;
const keymapNotify = 11;

const errorNames = [
  '',
  ...['BadRequest', 'BadValue', 'BadWindow', 'BadPixmap', 'BadAtom', 'BadCursor', 'BadFont', 'BadMatch', 'BadDrawable'],
  ...['BadAccess', 'BadAlloc', 'BadColor', 'BadGC', 'BadIDChoice', 'BadName', 'BadLength', 'BadImplementation'],
];

export class RequestQueue {
  readonly #pending = new Map<number, Pending>();
  readonly #outgoing: Uint8Array[] = [];
  #maxLength: number;
  #sent = 0;
  #answered = 0;
  #sentAtLastReply = 0;
  #needsSync = false;
  #isFlushQueued = false;
  #closedReason: string | null = null;
  #watchdog: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly socket: DisplaySocket,
    private readonly options: {
      /** In units of four bytes. */
      readonly maxRequestLength: number;
      /** Calls `onSilence` when a request waits and the server sends nothing for this time. */
      readonly silenceMs: number;
      onSilence(): void;
      onEvent(message: Message): void;
    },
  ) {
    this.#maxLength = options.maxRequestLength;
  }

  /** With BIG-REQUESTS, the length field has 32 bits. */
  allowLongRequests(maxLength: number): void {
    this.#maxLength = maxLength;
  }

  /** The longest body of a request, in bytes. */
  get maxBodyBytes(): number {
    return (this.#maxLength - 2) * 4;
  }

  /** Rejects with `X11Refusal`, with `X11Closed`, or with the reason of the signal. */
  async reply(request: XRequest, signal?: AbortSignal): Promise<Message> {
    return await this.#tracked(request, true, signal);
  }

  /** Resolves when the server has executed a request that has no reply; rejects as `reply` does. */
  async done(request: XRequest, signal?: AbortSignal): Promise<void> {
    this.#needsSync = true;
    await this.#tracked(request, false, signal);
  }

  /** Sends a request whose failure does not matter to the caller. */
  send(request: XRequest): void {
    if (this.#closedReason !== null) return;
    this.#enqueue(request);
  }

  receive(message: Message): void {
    const kind = message.u8(0);
    // KeymapNotify alone has no sequence number.
    if ((kind & 0x7f) !== keymapNotify) this.#answered = this.#wholeSequence(message.u16(2));
    this.#resolveOlder();
    if (kind === errorKind) this.#takePending()?.reject(refusalOf(message));
    else if (kind === replyKind) this.#takePending()?.resolve(message);
    else this.options.onEvent(message);
    this.#watch();
  }

  end(reason: string): void {
    this.#closedReason ??= reason;
    clearTimeout(this.#watchdog);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new X11Closed(reason));
  }

  #tracked(request: XRequest, hasReply: boolean, signal?: AbortSignal): Promise<Message> {
    if (this.#closedReason !== null) return Promise.reject(new X11Closed(this.#closedReason));
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const wasIdle = this.#pending.size === 0;
    this.#pending.set(this.#enqueue(request), { opcode: request.opcode, hasReply, resolve, reject });
    if (wasIdle) this.#watch();
    // An abort keeps the entry: the reply still arrives, and must not be matched to another request.
    return signal ? untilAborted(promise, signal) : promise;
  }

  #enqueue(request: XRequest): number {
    this.#outgoing.push(...this.#encode(request));
    this.#sent += 1;
    if (!this.#isFlushQueued) {
      this.#isFlushQueued = true;
      queueMicrotask(() => this.#flush());
    }
    const sequence = this.#sent;
    if (sequence - this.#sentAtLastReply > maxUnansweredRequests) this.#sync();
    return sequence;
  }

  /** Sends GetInputFocus, because every server answers it, and its answer confirms the earlier requests. */
  #sync(): void {
    this.#sentAtLastReply = this.#sent + 1;
    this.#needsSync = false;
    // The answer, or the end of the connection, settles the requests before it.
    this.#tracked(getInputFocus, true).catch(() => undefined);
  }

  /** Writes all requests of one turn of the event loop at once. */
  #flush(): void {
    if (this.#needsSync && this.#closedReason === null) this.#sync();
    this.#isFlushQueued = false;
    const bytes = this.#outgoing.length === 1 ? this.#outgoing[0] : Buffer.concat(this.#outgoing);
    this.#outgoing.length = 0;
    if (bytes && this.#closedReason === null) this.socket.write(bytes);
  }

  #encode({ opcode, detail = 0, body = Buffer.alloc(0) }: XRequest): readonly Uint8Array[] {
    const length = 1 + body.length / 4;
    const head = new Packer().u8(opcode).u8(detail);
    if (length <= 0xffff) return [head.u16(length).packed, body];
    if (length + 1 > this.#maxLength) throw new RangeError(`an X11 request of ${body.length} bytes is too long`);
    return [head.u16(0).u32(length + 1).packed, body];
  }

  #wholeSequence(low: number): number {
    const base = this.#answered - (this.#answered & 0xffff);
    return base + low < this.#answered ? base + low + 0x1_0000 : base + low;
  }

  /** The server executes requests in order, so earlier requests without a reply are done. */
  #resolveOlder(): void {
    for (const [sequence, { hasReply, resolve }] of this.#pending) {
      if (sequence >= this.#answered || hasReply) return;
      this.#pending.delete(sequence);
      resolve(noReply);
    }
  }

  #takePending(): Pending | undefined {
    const pending = this.#pending.get(this.#answered);
    this.#pending.delete(this.#answered);
    return pending;
  }

  #watch(): void {
    clearTimeout(this.#watchdog);
    if (this.#pending.size === 0) return;
    this.#watchdog = setTimeout(() => this.options.onSilence(), this.options.silenceMs);
  }
}

const noReply = new Message(Buffer.alloc(32));

function refusalOf(message: Message): X11Refusal {
  const code = message.u8(1);
  return new X11Refusal(errorNames[code] ?? `error ${code}`, message.u8(10), message.u32(4));
}
