/** Reads a JSON body whole, up to a limit, and says clearly what is wrong with it. */
import { CoreError } from '../kit/errors.ts';

/** 32 MiB (contract, house rules). */
export const maxJsonBodyBytes = 32 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The object in the body; an empty body is an empty object, as 1.x clients send it. */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  const text = decode(await readBytes(request, maxJsonBodyBytes));
  if (text.trim() === '') return {};
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('the body is not a JSON object');
  }
  return value as Record<string, unknown>;
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limit) throw tooLarge(limit);
  if (request.headers.has('content-length')) return request.bytes();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
