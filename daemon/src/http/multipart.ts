/** Reads a form of several parts as it comes: one part after another, each file as fast as it is taken. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { BusboyInstance } from '@fastify/busboy';
import { CoreError } from '../kit/errors.ts';
import { InvalidInput } from './envelope.ts';

export type FormPart =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  /** To be taken whole before the next part is asked for. */
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly fileName: string;
      readonly pieces: AsyncIterable<Uint8Array>;
    };

const mostFields = 64;
const mostFiles = 8;
const mostFieldBytes = 64 * 1024;
const mostNameBytes = 1024;
const mostHeaders = 32;

export function isForm(contentType: string | null): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType ?? '');
}

/** Throws `malformed_request` for what is no form, `InvalidInput` for a field that is too long. */
export async function* formParts(body: AsyncIterable<Uint8Array>, contentType: string): AsyncGenerator<FormPart> {
  const form = await openForm(contentType);
  const over = new AbortController();
  const parts = collectParts(form);
  const sending = send(body, form, over.signal).catch((error: unknown) => fail(form, error as Error));
  try {
    yield* parts;
  } finally {
    over.abort();
    form.destroy();
    await sending;
  }
}

/** Ends the parser, and the file that is being taken: the parser itself would have it wait for ever. */
function fail(form: BusboyInstance, error: Error): void {
  form.emit('failed', error);
  form.destroy(error);
}

/** The parser is loaded with the first form: a start takes no time for it. */
async function openForm(contentType: string): Promise<BusboyInstance> {
  const { Busboy } = await import('@fastify/busboy');
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fields: mostFields,
        files: mostFiles,
        fieldSize: mostFieldBytes,
        fieldNameSize: mostNameBytes,
        headerPairs: mostHeaders,
      },
    });
  } catch (error) {
    throw malformed((error as Error).message);
  }
}

/** What the parser tells, in its order; it waits by itself for a file that is not taken. */
function collectParts(form: BusboyInstance): ReadableStream<FormPart> {
  return new ReadableStream<FormPart>({
    start(parts) {
      let hasEnded = false;
      const end = (error: Error | null) => {
        if (hasEnded) return;
        hasEnded = true;
        if (error) parts.error(error);
        else parts.close();
      };
      form.on('field', (name, value, isNameCut, isValueCut) => {
        if (isNameCut || isValueCut) end(new InvalidInput([tooLong(name)]));
        else if (!hasEnded) parts.enqueue({ kind: 'field', name, value });
      });
      form.on('file', (name, pieces, fileName) => {
        form.once('failed', (error: Error) => pieces.destroy(error));
        // It may fail before anybody reads it: then it has to hold the failure, which nobody else would hear.
        pieces.on('error', (error) => pieces.destroy(error));
        if (!hasEnded) parts.enqueue({ kind: 'file', name, fileName, pieces: filePieces(pieces) });
      });
      form.on('fieldsLimit', () => end(malformed(`the form has more than ${mostFields} fields`)));
      form.on('filesLimit', () => end(malformed(`the form has more than ${mostFiles} files`)));
      form.on('error', (error) => end(knownOf(error)));
      form.on('finish', () => end(null));
    },
  });
}

async function* filePieces(pieces: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) yield piece as Uint8Array;
  } catch (error) {
    throw knownOf(error);
  }
}

async function send(body: AsyncIterable<Uint8Array>, form: BusboyInstance, signal: AbortSignal): Promise<void> {
  for await (const piece of body) {
    if (signal.aborted) return;
    if (!form.write(piece)) await drained(form, signal);
  }
  form.end();
}

async function drained(form: BusboyInstance, signal: AbortSignal): Promise<void> {
  try {
    await once(form, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What the parser says is about the body; our own failures pass through it. */
function knownOf(error: unknown): Error {
  if (error instanceof CoreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return malformed(/unexpected end/i.test(reason) ? 'the form ends in the middle of a part' : reason);
}

function tooLong(name: string): InvalidInput['errors'][number] {
  const location = `body.${name.slice(0, 100)}`;
  return { location, message: `must have at most ${mostFieldBytes} bytes`, type: 'too_long' };
}

function malformed(reason: string): CoreError {
  return new CoreError('malformed_request', `the body is no form: ${reason}`, {
    hint: 'Send multipart/form-data with a boundary, a part called file, and a field called path.',
  });
}
