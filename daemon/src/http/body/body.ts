/** Reads a whole JSON body, up to a limit, with clear errors. */
import { CoreError } from '../../kit/errors.ts';
import type { Reservation, MemoryBudget } from '../../kit/memory-budget.ts';
import { malformed, parseJsonBody } from './json-body.ts';

export interface BodyLimits {
  /** The memory for all bodies whose requests are not handled yet. */
  readonly room: MemoryBudget;
  /** How long a body may stall before the request is refused. */
  readonly stallMs: number;
}

/** The body is JSON of another type, such as a list. */
export class NotAnObject extends CoreError {
  constructor() {
    super('malformed_request', 'the body is not a JSON object', { hint: 'Send one JSON object in UTF-8.' });
  }
}

/** Returns the object in the body; an empty body counts as an empty object, because 1.x clients send it. */
export async function readJsonObject(
  request: Request,
  limits: BodyLimits,
  reservation: Reservation,
): Promise<Record<string, unknown>> {
  const bytes = await readWhole(request, limits, reservation);
  const value = bytes.length > smallBytes ? await parseLarge(bytes, limits) : await parseJsonBody(bytes);
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NotAnObject();
  }
  return value as Record<string, unknown>;
}

/** Parses large bodies one at a time, because decoding a long string cannot be interrupted. */
async function parseLarge(bytes: Bytes, { room }: BodyLimits): Promise<unknown> {
  const value = await room.inTurn(() => parseJsonBody(bytes));
  // The parsed value is a copy, and the garbage collector would free the bytes much later.
  bytes.buffer.transfer(0);
  return value;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads the body. If the client disconnects, the runtime's own error becomes `malformed_request`. */
async function readWhole(request: Request, limits: BodyLimits, reservation: Reservation): Promise<Bytes> {
  try {
    return await readBytes(request, limits, reservation);
  } catch (error) {
    if (!request.signal.aborted) throw error;
    throw malformed('the client has gone before its body was whole');
  }
}

/** Bodies up to this size usually arrive together with their headers. */
const smallBytes = 64 * 1024;

async function readBytes(request: Request, limits: BodyLimits, reservation: Reservation): Promise<Bytes> {
  const { maxBytes } = limits.room;
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (announced !== null) reservation.announced(Number(announced));
  // Reading a small body in one piece avoids a stream.
  if (announced !== null && Number(announced) <= smallBytes) {
    return within(request.bytes() as Promise<Bytes>, limits.stallMs);
  }
  if (!request.body) return new Uint8Array();
  const expected = announced === null ? smallBytes : Number(announced);
  return readPieces(request.body.getReader(), { ...limits, expected }, reservation);
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>;

/** Reads into a buffer of the announced length, whose pages take memory only as the body arrives. */
async function readPieces(
  reader: BodyReader,
  { room: { maxBytes }, stallMs, expected }: BodyLimits & { readonly expected: number },
  reservation: Reservation,
): Promise<Bytes> {
  let bytes = new Uint8Array(expected);
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), stallMs);
      if (done) return bytes.subarray(0, length);
      const end = length + value.length;
      if (end > maxBytes) throw tooLarge(maxBytes);
      reservation.piece(value.length);
      if (end > bytes.length) {
        bytes = new Uint8Array(bytes.buffer.transfer(Math.min(maxBytes, Math.max(end, bytes.length * 2))));
      }
      bytes.set(value, length);
      length = end;
    }
  } catch (error) {
    // The answer does not wait for the rest of a refused body.
    void reader.cancel().catch(() => null);
    throw error;
  }
}

/** Rejects with `malformed_request` when nothing arrives in time. */
export async function within<T>(arriving: Promise<T>, stallMs: number, hint?: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = hint ?? 'Send the whole body without a pause; nothing has been started.';
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(malformed(`the body has stalled for ${stallMs / 1000} s`, next)), stallMs);
  });
  try {
    return await Promise.race([arriving, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(limit: number): CoreError {
  return new CoreError('body_too_large', `the body is over the limit of ${limit} bytes`, {
    hint: 'Send large content as a file upload.',
  });
}
