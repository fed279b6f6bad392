/** Reads a JSON body whole, up to a limit, and says clearly what is wrong with it. */
import { CoreError } from '../kit/errors.ts';

/** 32 MiB (contract, house rules). */
export const maxJsonBodyBytes = 32 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface BodyLimits {
  readonly maxBytes: number;
  /** How long nothing may arrive before the request is given up. */
  readonly stallMs: number;
}

/** The object in the body; an empty body is an empty object, as 1.x clients send it. */
export async function readJsonObject(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  const text = decode(await readBytes(request, limits));
  if (text.trim() === '') return {};
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('the body is not a JSON object');
  }
  return value as Record<string, unknown>;
}

/** Small bodies have arrived with their headers: reading them whole spares a stream. */
const smallBytes = 64 * 1024;

async function readBytes(request: Request, { maxBytes, stallMs }: BodyLimits): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (announced !== null && Number(announced) <= smallBytes) return within(request.bytes(), stallMs);
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  for (let length = 0; reader;) {
    const { done, value } = await within(reader.read(), stallMs);
    if (done) break;
    length += value.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
  return Buffer.concat(chunks);
}

/** Rejects when nothing has come in time. */
async function within<T>(arriving: Promise<T>, stallMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(malformed(`the body has stalled for ${stallMs / 1000} s`)), stallMs);
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

function malformed(message: string): CoreError {
  return new CoreError('malformed_request', message, { hint: 'Send one JSON object in UTF-8.' });
}

function tooLarge(limit: number): CoreError {
  return new CoreError('body_too_large', `the body is over the limit of ${limit} bytes`, {
    hint: 'Send large content as a file upload.',
  });
}
