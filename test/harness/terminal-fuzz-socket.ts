/** A handwritten WebSocket for what client libraries cannot do: partial and malformed frames, paused reading. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface SocketEnd {
  /** The close code of the other side. Null where the connection ended without one. */
  readonly code: number | null;
  readonly reason: string;
}

const finished = 0x80;
const masked = 0x80;
const lengthIn16Bits = 126;
const lengthIn64Bits = 127;

/** The mask is all zeros, so the payload stays unchanged. */
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
  /** Resolves when the connection has ended, from either side. */
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

  /** Resolves when the server has accepted the upgrade. Rejects with the answer otherwise. */
  static async open(url: string, path: string, onFrame: (opcode: number, payload: Buffer) => void) {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => null); // The close event reports the error.
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

  /** Sends a close frame and reads until the connection ends. */
  async close(): Promise<SocketEnd> {
    this.resume();
    this.send(opcodes.close, Buffer.from([0x03, 0xe8]));
    return await this.ended;
  }

  /** Resets the connection without a close frame, discarding data in flight. */
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

/** `end`: how many bytes the whole frame needs, as far as known. A server does not mask. */
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
