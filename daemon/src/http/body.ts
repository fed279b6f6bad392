/** Reads a JSON body whole, up to a limit, and says clearly what is wrong with it. */
import { CoreError } from '../kit/errors.ts';

/** 32 MiB (contract, house rules). */
export const maxJsonBodyBytes = 32 * 1024 * 1024;

/** Of all bodies together that are on their way. */
export const maxArrivingBytes = 128 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface BodyLimits {
  readonly maxBytes: number;
  /** Shared by all bodies that are arriving. */
  readonly room: BodyRoom;
  /** How long nothing may arrive before the request is given up. */
  readonly stallMs: number;
}

/** The memory for bodies that are arriving: a client may send one for as long as it likes. */
export class BodyRoom {
  #takenBytes = 0;

  constructor(private readonly mostBytes: number) {}

  /** Throws `capacity_reached`. */
  take(bytes: number): void {
    if (this.#takenBytes + bytes > this.mostBytes) {
      throw new CoreError(
        'capacity_reached',
        `the bodies that are arriving have ${this.mostBytes} bytes, which is the most`,
        {
          hint: 'Send it again when others have arrived, or in smaller parts.',
        },
      );
    }
    this.#takenBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes;
  }
}

/** The object in the body; an empty body is an empty object, as 1.x clients send it. */
export async function readJsonObject(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  const text = decode(await readWhole(request, limits));
  if (text.trim() === '') return {};
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('the body is not a JSON object');
  }
  return value as Record<string, unknown>;
}

/** A client that goes while it sends makes the reading fail, in words of the runtime's own. */
async function readWhole(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  try {
    return await readBytes(request, limits);
  } catch (error) {
    if (!request.signal.aborted) throw error;
    throw malformed('the client has gone before its body was whole');
  }
}

/** Small bodies have arrived with their headers: reading them whole spares a stream. */
const smallBytes = 64 * 1024;

async function readBytes(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > limits.maxBytes) throw tooLarge(limits.maxBytes);
  if (announced !== null && Number(announced) <= smallBytes) return within(request.bytes(), limits.stallMs);
  return request.body ? readPieces(request.body.getReader(), limits) : new Uint8Array();
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;

async function readPieces(reader: BodyReader, { maxBytes, stallMs, room }: BodyLimits): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), stallMs);
      if (done) return Buffer.concat(pieces);
      if (length + value.length > maxBytes) throw tooLarge(maxBytes);
      room.take(value.length);
      length += value.length;
      pieces.push(value);
    }
  } finally {
    room.giveBack(length);
  }
}

/** Rejects with `malformed_request` when nothing has come in time. */
export async function within<T>(arriving: Promise<T>, stallMs: number, hint?: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(malformed(`the body has stalled for ${stallMs / 1000} s`, hint)), stallMs);
  });
  try {
    return await Promise.race([arriving, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw malformed('the body is not UTF-8');
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw malformed(`the body is not JSON: ${error.message}`);
    throw error;
  }
}

function malformed(message: string, hint = 'Send one JSON object in UTF-8.'): CoreError {
  return new CoreError('malformed_request', message, { hint });
}

function tooLarge(limit: number): CoreError {
  return new CoreError('body_too_large', `the body is over the limit of ${limit} bytes`, {
    hint: 'Send large content as a file upload.',
  });
}
