/**
 * A WebSocket client (RFC 6455) that bounds every message while it arrives. The client of the runtime holds a message
 * whole, and closes the connection when the message is too long for it.
 */
import type { Socket } from 'node:net';
import { createHash, randomBytes } from '../../kit/crypto.ts';
import { StringShortener } from '../../kit/text/string-shortener.ts';

/** `keep`: up to `maxBytes`. `shorten`: its strings are cut. `skip`: nothing of the message is kept. */
export type LongMessage = 'keep' | 'shorten' | 'skip';

interface MessageObserver {
  onMessage(text: string): void;
  /** Decides what is kept of a message of more than `longBytes`. */
  onLong(head: string): LongMessage;
  /** Called at the end of a message that was not kept. */
  onSkipped(head: string, bytes: number): void;
}

export interface SocketObserver extends MessageObserver {
  /** Called for every part of a message, so that a long one counts as life too. */
  onData(): void;
  onClose(): void;
}

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The value of `Host`. */
  readonly hostHeader: string;
  /** The longest message that is kept whole. */
  readonly maxBytes: number;
}

/** Longer messages are rare, and are looked at before they are kept. */
const longBytes = 1024 * 1024;
/** The first characters of a message, which name the answer or the event. */
const headCharacters = 300;
const maxHandshakeBytes = 16 * 1024;

const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

export class WebSocketClient {
  readonly #frames: ServerFrames;
  /** Messages that have arrived together with one that is being handled. */
  readonly #queue: (() => void)[] = [];
  #isBusy = false;
  #isOpen = true;

  private constructor(
    private readonly socket: Socket,
    private readonly observer: SocketObserver,
    maxBytes: number,
  ) {
    const queued: MessageObserver = {
      onMessage: (text) => this.#deliver(() => observer.onMessage(text)),
      onLong: (head) => observer.onLong(head),
      onSkipped: (head, bytes) => this.#deliver(() => observer.onSkipped(head, bytes)),
    };
    this.#frames = new ServerFrames(maxBytes, queued, (opcode, payload) => this.#control(opcode, payload));
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('close', () => this.#deliver(() => this.#end()));
    socket.on('error', () => socket.destroy());
  }

  /** Throws with the reason when no WebSocket opens. */
  static async open(address: SocketAddress, observer: SocketObserver, signal: AbortSignal): Promise<WebSocketClient> {
    const { host, port } = address;
    const socket = process.getBuiltinModule('node:net').connect({ host, port, noDelay: true });
    const giveUp = () => socket.destroy(new Error('it did not open its WebSocket in time'));
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const rest = await handshake(socket, address);
      const client = new WebSocketClient(socket, observer, address.maxBytes);
      socket.resume();
      client.#receive(rest);
      return client;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): void {
    this.#write(opcodes.text, Buffer.from(text));
  }

  /** Waits for nothing, because the peer may have stopped answering. */
  close(): void {
    this.socket.destroy();
    this.#end();
  }

  #receive(bytes: Buffer): void {
    this.observer.onData();
    this.#frames.push(bytes);
    this.#isBusy = this.#queue.length > 0;
    if (this.#isBusy) this.socket.pause();
  }

  /** One message at a time, so that what a message has settled goes on before the next message is handled. */
  #deliver(handle: () => void): void {
    if (this.#isBusy) {
      if (this.#queue.push(handle) === 1) setImmediate(() => this.#deliverNext());
      return;
    }
    this.#isBusy = true;
    handle();
  }

  #deliverNext(): void {
    this.#queue.shift()?.();
    this.#isBusy = this.#queue.length > 0;
    if (this.#isBusy) setImmediate(() => this.#deliverNext());
    else this.socket.resume();
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) this.#write(opcodes.pong, payload);
    if (opcode === opcodes.close) this.close();
  }

  #write(opcode: number, payload: Buffer): void {
    if (this.#isOpen) this.socket.write(maskedFrame(opcode, payload));
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.observer.onClose();
  }
}

/** Returns the bytes behind the answer. */
async function handshake(socket: Socket, { path, hostHeader }: SocketAddress): Promise<Buffer> {
  const key = randomBytes(16).toString('base64');
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostHeader}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let received = Buffer.alloc(0);
  const read = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const end = received.indexOf('\r\n\r\n');
    if (end === -1) return received.length > maxHandshakeBytes ? refuse() : undefined;
    socket.pause();
    if (isAccepted(received.toString('latin1', 0, end), key)) resolve(received.subarray(end + 4));
    else refuse();
  };
  const refuse = () => reject(new Error('it refused the WebSocket'));
  socket.on('data', read);
  socket.on('close', refuse);
  socket.on('error', reject);
  try {
    return await promise;
  } finally {
    socket.off('data', read);
    socket.off('close', refuse);
    socket.off('error', reject);
  }
}

function isAccepted(head: string, key: string): boolean {
  const accept = /^sec-websocket-accept: *(\S+)/im.exec(head)?.[1];
  const expected = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return head.startsWith('HTTP/1.1 101 ') && accept === expected;
}

/** A client masks what it sends (RFC 6455, 5.3). */
function maskedFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const sizeBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const header = 2 + sizeBytes + 4;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (sizeBytes === 0 ? length : sizeBytes === 2 ? 126 : 127);
  if (sizeBytes === 2) frame.writeUInt16BE(length, 2);
  if (sizeBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  mask.copy(frame, header - 4);
  for (let at = 0; at < length; at += 1) frame[header + at] = payload[at]! ^ mask[at & 3]!;
  return frame;
}

/** Splits what a server sends into messages. A server masks nothing. */
class ServerFrames {
  #unread: Buffer = Buffer.alloc(0);
  #frame: { readonly opcode: number; readonly isLast: boolean; left: number } | null = null;
  #message: IncomingMessage | null = null;
  /** The payload of a control frame, which has at most 125 bytes and may stand between the frames of a message. */
  #control = Buffer.alloc(0);

  constructor(
    private readonly maxBytes: number,
    private readonly observer: MessageObserver,
    private readonly onControl: (opcode: number, payload: Buffer) => void,
  ) {}

  push(received: Buffer): void {
    let bytes = received;
    while (bytes.length > 0 || this.#frame?.left === 0) {
      if (this.#frame === null) {
        bytes = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
        const header = headerOf(bytes);
        this.#unread = header === null ? bytes : Buffer.alloc(0);
        if (header === null) return;
        const { opcode, isLast, length } = header;
        this.#frame = { opcode, isLast, left: length };
        bytes = bytes.subarray(header.size);
      }
      const part = bytes.subarray(0, this.#frame.left);
      bytes = bytes.subarray(part.length);
      this.#frame.left -= part.length;
      this.#add(this.#frame.opcode, part);
      if (this.#frame.left === 0) this.#endFrame(this.#frame);
    }
  }

  #add(opcode: number, part: Buffer): void {
    if (opcode >= opcodes.close) {
      this.#control = Buffer.concat([this.#control, part]);
    } else {
      this.#message ??= new IncomingMessage(this.maxBytes, this.observer);
      this.#message.add(part);
    }
  }

  #endFrame({ opcode, isLast }: { readonly opcode: number; readonly isLast: boolean }): void {
    this.#frame = null;
    if (opcode >= opcodes.close) {
      const payload = this.#control;
      this.#control = Buffer.alloc(0);
      this.onControl(opcode, payload);
    } else if (isLast) {
      const message = this.#message;
      this.#message = null;
      message?.end();
    }
  }
}

/** Null when the header is not whole yet. */
function headerOf(bytes: Buffer) {
  if (bytes.length < 2) return null;
  const [first, second] = [bytes[0]!, bytes[1]! & 0x7f];
  const size = second === 126 ? 4 : second === 127 ? 10 : 2;
  if (bytes.length < size) return null;
  const length = size === 2 ? second : size === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, length, size };
}

/** One message while it arrives. */
class IncomingMessage {
  #parts: Buffer[] = [];
  #keptBytes = 0;
  #bytes = 0;
  #kind: LongMessage | 'short' = 'short';
  #head = '';
  readonly #shortener = new StringShortener();

  constructor(
    private readonly maxBytes: number,
    private readonly observer: MessageObserver,
  ) {}

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#kind === 'skip') return;
    this.#keep(part);
    if (this.#kind === 'short' && this.#keptBytes > longBytes) this.#decide();
    if (this.#keptBytes > this.maxBytes) this.#become('skip');
  }

  end(): void {
    if (this.#kind === 'skip') this.observer.onSkipped(this.#head, this.#bytes);
    else this.observer.onMessage(Buffer.concat(this.#parts, this.#keptBytes).toString());
  }

  #keep(part: Buffer): void {
    const kept = this.#kind === 'shorten' ? this.#shortener.push(part) : part;
    this.#parts.push(kept);
    this.#keptBytes += kept.length;
  }

  #decide(): void {
    this.#head = Buffer.concat(this.#parts).toString('utf8', 0, headCharacters);
    this.#become(this.observer.onLong(this.#head));
  }

  #become(kind: LongMessage): void {
    const parts = this.#parts;
    this.#kind = kind;
    if (kind === 'keep') return;
    this.#parts = [];
    this.#keptBytes = 0;
    if (kind === 'shorten') for (const part of parts) this.#keep(part);
  }
}
