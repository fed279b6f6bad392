/** A client that watches a tab or the display, and keeps what it has received. */
import { inflateSync } from 'node:zlib';
import type { Closed } from './terminal-client.ts';
import type { JsonObject, Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export interface LivePicture {
  readonly sequence: number;
  readonly width: number;
  readonly height: number;
  readonly screen: { readonly width: number; readonly height: number };
  readonly tab_id: string | null;
  readonly jpeg: Uint8Array<ArrayBuffer>;
  readonly arrivedMs: number;
}

export interface LiveOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** False for a client that acknowledges nothing by itself. */
  readonly acknowledges?: boolean;
}

export class LiveClient implements AsyncDisposable {
  readonly pictures: LivePicture[] = [];
  error: JsonObject | null = null;
  readonly closed: Promise<Closed>;
  isClosed = false;
  readonly #socket: WebSocket;
  #frame: JsonObject | null = null;

  constructor(
    sandbox: Pick<Sandbox, 'url'>,
    path: string,
    private readonly options: LiveOptions = {},
  ) {
    this.#socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}${path}`, options as unknown as string[]);
    this.#socket.binaryType = 'arraybuffer';
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code, reason }) => {
        this.isClosed = true;
        resolve({ code, reason });
      };
    });
    this.#socket.onerror = () => null; // The close event reports the error.
    this.#socket.onmessage = ({ data }) => this.#take(data as string | ArrayBuffer);
  }

  get latest(): LivePicture | undefined {
    return this.pictures.at(-1);
  }

  /** Resolves with the first picture of which this holds. */
  async sees(what: string, holds: (picture: LivePicture) => boolean | Promise<boolean>): Promise<LivePicture> {
    let looked = 0;
    let found: LivePicture | undefined;
    await until(what, async () => {
      for (; found === undefined && looked < this.pictures.length; looked += 1) {
        if (await holds(this.pictures[looked]!)) found = this.pictures[looked];
      }
      if (found === undefined && this.isClosed) throw new Error(`closed before ${what}: ${JSON.stringify(this.error)}`);
      return found !== undefined;
    });
    return found!;
  }

  /** The error of the daemon, and the code with which it has then closed. */
  async ended(): Promise<{ readonly code: number; readonly error: JsonObject | null }> {
    const { code } = await this.closed;
    return { code, error: this.error };
  }

  acknowledge(sequence: number): void {
    this.send(JSON.stringify({ type: 'ack', sequence }));
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  #take(data: string | ArrayBuffer): void {
    if (typeof data === 'string') {
      const frame = JSON.parse(data) as JsonObject;
      if (frame['type'] === 'error') this.error = frame;
      else this.#frame = frame;
      return;
    }
    const { bytes, ...frame } = this.#frame as unknown as LivePicture & { readonly bytes: number };
    if (bytes !== data.byteLength) throw new Error(`a picture of ${data.byteLength} bytes was announced as ${bytes}`);
    this.pictures.push({ ...frame, jpeg: new Uint8Array(data), arrivedMs: Date.now() });
    if (this.options.acknowledges !== false) this.acknowledge(frame.sequence);
  }
}

/** The colour of a picture that has one: red, green and blue. */
export async function colourOf({ jpeg }: LivePicture): Promise<readonly number[]> {
  const png = Buffer.from(await new Bun.Image(jpeg).resize(1, 1).png().bytes());
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
  }
  const [, red = 0, green = 0, blue = 0] = inflateSync(Buffer.concat(parts)); // The first byte is the filter of the row.
  return [red, green, blue];
}

/** JPEG keeps colours about, not exactly. */
export async function isColour(picture: LivePicture, colour: readonly number[]): Promise<boolean> {
  const shown = await colourOf(picture);
  return colour.every((part, index) => Math.abs(part - (shown[index] ?? 0)) < 24);
}
