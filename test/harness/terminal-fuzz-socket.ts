/** A WebSocket by hand, for what no client library does: half a frame, frames of a wrong form, no reading for a while. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface SocketEnd {
  /** How the other side has closed it; null where the connection just ended. */
  readonly code: number | null;
  readonly reason: string;
}

const finished = 0x80;
const masked = 0x80;
const lengthIn16Bits = 126;
const lengthIn64Bits = 127;

/** The mask is all zeros, so that the payload stays as it is. */
export function frameOf(opcode: number, payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const head = Buffer.alloc(length < lengthIn16Bits ? 6 : length < 65_536 ? 8 : 14);
  head[0] = finished | opcode;
  if (length < lengthIn16Bits) head[1] = masked | length;
  else if (length < 65_536) {
    head[1] = masked | lengthIn16Bits;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = masked | lengthIn64Bits;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, bytes]);
}

export class BareSocket {
  /** Resolves once the connection has ended, whoever ended it. */
  readonly ended: Promise<SocketEnd>;
  isOpen = true;
  #code: number | null = null;
  #reason = '';
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #wantedBytes = 2;

  private constructor(
    private readonly socket: Socket,
    private readonly onFrame: (opcode: number, payload: Buffer) => void,
  ) {
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        this.isOpen = false;
        resolve({ code: this.#code, reason: this.#reason });
      });
    });
  }

  /** Resolves when the other side has agreed; rejects with its answer when it has not. */
  static async open(url: string, path: string, onFrame: (opcode: number, payload: Buffer) => void) {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => null); // The close tells.
    const bare = new BareSocket(socket, onFrame);
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket'];
    lines.push('Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', '');
    socket.write(lines.join('\r\n'));
    let answer = Buffer.alloc(0);
    const isWhole = new Promise<void>((resolve) => {
      const take = (bytes: Buffer) => {
        answer = Buffer.concat([answer, bytes]);
        const end = answer.indexOf('\r\n\r\n');
        if (end < 0) return;
        socket.off('data', take);
        socket.on('data', (more: Buffer) => bare.#take(more));
        const rest = answer.subarray(end + 4);
        answer = answer.subarray(0, end);
        if (rest.length > 0) bare.#take(rest);
        resolve();
      };
      socket.on('data', take);
    });
    await Promise.race([isWhole, once(socket, 'close')]);
    if (answer.toString('latin1').startsWith('HTTP/1.1 101')) return bare;
    socket.destroy();
    throw new Error(`no WebSocket at ${path}: ${answer.toString('latin1').split('\r\n')[0]}`);
  }

  send(opcode: number, payload: string | Uint8Array): void {
    this.sendBytes(frameOf(opcode, payload));
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.isOpen) this.socket.write(bytes);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Asks for the end, and reads what comes before it. */
  async close(): Promise<SocketEnd> {
    this.resume();
    this.send(opcodes.close, Buffer.from([0x03, 0xe8]));
    return await this.ended;
  }

  /** Without a word, and with all that is on its way. */
  async drop(): Promise<SocketEnd> {
    if (this.isOpen) this.socket.resetAndDestroy();
    return await this.ended;
  }

  #take(bytes: Buffer): void {
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes < this.#wantedBytes) return;
    let all = this.#unread.length === 1 ? bytes : Buffer.concat(this.#unread);
    for (let frame = readFrame(all); ; frame = readFrame(all)) {
      this.#wantedBytes = frame.end;
      if (frame.payload === null) break;
      all = all.subarray(frame.end);
      this.#handle(frame.opcode, frame.payload);
    }
    this.#unread = [all];
    this.#unreadBytes = all.length;
  }

  #handle(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) this.send(opcodes.pong, payload);
    if (opcode === opcodes.close) {
      this.#code = payload.length >= 2 ? payload.readUInt16BE(0) : null;
      this.#reason = payload.subarray(2).toString();
      this.send(opcodes.close, payload.subarray(0, 2));
      this.socket.end();
    }
    this.onFrame(opcode, payload);
  }
}

/** `end`: how many bytes have to be there for all of it, as far as that can be told. A server masks nothing. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer | null; end: number } {
  const opcode = (bytes[0] ?? 0) & 0x0f;
  if (bytes.length < 2) return { opcode, payload: null, end: 2 };
  const short = (bytes[1] ?? 0) & 0x7f;
  const head = short === lengthIn64Bits ? 10 : short === lengthIn16Bits ? 4 : 2;
  if (bytes.length < head) return { opcode, payload: null, end: head };
  const length = head === 10 ? Number(bytes.readBigUInt64BE(2)) : head === 4 ? bytes.readUInt16BE(2) : short;
  const end = head + length;
  return { opcode, payload: bytes.length < end ? null : bytes.subarray(head, end), end };
}
