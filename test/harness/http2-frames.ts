/** Sends HTTP/2 as frames on a socket, for what no client library would send. */
import { connect, type Socket } from 'node:net';

export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  window: 8,
  more: 9,
} as const;
/** Flags of frames. */
export const flag = { endStream: 1, acknowledgement: 1, endHeaders: 4 } as const;

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The opening of a connection; `windowBytes` is what the server may send on a stream before it is asked for more. */
export function opening(windowBytes = 65_535): Buffer {
  const setting = Buffer.alloc(6);
  setting.writeUInt16BE(4, 0);
  setting.writeUInt32BE(windowBytes, 2);
  return Buffer.concat([preface, frame(frameType.settings, 0, 0, setting)]);
}

/** Header fields as literals that enter no table. */
export function fields(of: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(Object.entries(of).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const prefix = 127;
  if (bytes.length < prefix) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [prefix];
  let rest = bytes.length - prefix;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

export const callFields = (method: string, authority: string): Record<string, string> => ({
  ':method': 'POST',
  ':scheme': 'http',
  ':path': `/process.v1.ProcessService/${method}`,
  ':authority': authority,
  'content-type': 'application/grpc',
  te: 'trailers',
});

/** A message of gRPC in its envelope. */
export function enveloped(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** `ProcessConfig` of a shell in the field `config` of `StartRequest` and `ExecuteRequest`. */
export function shellMessage(script: string): Buffer {
  const field = (number: number, bytes: Uint8Array) =>
    Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
  return field(1, Buffer.concat(['/bin/sh', '-c', script].map((word) => field(1, Buffer.from(word)))));
}

/** One connection that sends what it is told, as fast as the server takes it. */
export class FrameConnection implements Disposable {
  received = Buffer.alloc(0);
  #isClosed = false;
  readonly #closed = Promise.withResolvers<void>();

  private constructor(private readonly socket: Socket) {
    socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]).subarray(-65_536);
    });
    socket.on('error', () => undefined); // A server that has enough resets the connection.
    socket.on('close', () => {
      this.#isClosed = true;
      this.#closed.resolve();
    });
  }

  static async open(port: number): Promise<FrameConnection> {
    const socket = connect(port, '127.0.0.1');
    const connection = new FrameConnection(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  /** False once the server has closed the connection. */
  async send(bytes: Uint8Array): Promise<boolean> {
    if (this.#isClosed) return false;
    const isTaken = new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()));
    await Promise.race([isTaken, this.#closed.promise]);
    return !this.#isClosed;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
