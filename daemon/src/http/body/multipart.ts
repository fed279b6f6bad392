/** Reads a multipart form as a stream: one part after another, each file at the speed of its reader. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { BusboyInstance } from '@fastify/busboy';
import { CoreError } from '../../kit/errors.ts';
import { InvalidInput } from '../route/envelope.ts';

export type FormPart =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  /** The caller reads all pieces before it asks for the next part. */
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly fileName: string;
      readonly pieces: AsyncIterable<Uint8Array>;
    };

const maxFields = 64;
const usualFiles = 8;
const maxFieldBytes = 64 * 1024;
const maxNameBytes = 1024;
const maxHeaders = 32;

export function isForm(contentType: string | null): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType ?? '');
}

/**
 * Yields the parts of a form. A part called `fileName` counts as a file even without a file name. The file name of a
 * part may have directories.
 * Throws `malformed_request` for a body that is not a form, and `InvalidInput` for a field that is too long.
 */
export async function* formParts(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  fileName: string,
  maxFiles: number = usualFiles,
): AsyncGenerator<FormPart> {
  const form = await openForm(contentType, fileName, maxFiles);
  const over = new AbortController();
  const parts = collectParts(form, maxFiles);
  const sending = send(body, form, over.signal).catch((error: unknown) => fail(form, error as Error));
  try {
    yield* parts;
  } finally {
    over.abort();
    form.destroy();
    await sending;
  }
}

/** Ends the parser and the file being read. The parser alone would leave the file waiting forever. */
function fail(form: BusboyInstance, error: Error): void {
  form.emit('failed', error);
  form.destroy(error);
}

/** Loads the parser with the first form, to keep the start fast. */
async function openForm(contentType: string, file: string, maxFiles: number): Promise<BusboyInstance> {
  const { Busboy } = await import('@fastify/busboy');
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      isPartAFile: (name, type, fileName) =>
        name === file || fileName !== undefined || type === 'application/octet-stream',
      limits: {
        fields: maxFields,
        files: maxFiles,
        fieldSize: maxFieldBytes,
        fieldNameSize: maxNameBytes,
        headerPairs: maxHeaders,
      },
    });
  } catch (error) {
    throw malformed((error as Error).message);
  }
}

/** Collects the events of the parser in order. The parser itself applies backpressure while a file is not read. */
function collectParts(form: BusboyInstance, maxFiles: number): ReadableStream<FormPart> {
  return new ReadableStream<FormPart>({
    start(parts) {
      let hasEnded = false;
      let file: Readable | null = null; // The one that is read: the parser has one at a time.
      form.on('failed', (error: Error) => file?.destroy(error));
      const end = (error: Error | null) => {
        if (hasEnded) return;
        hasEnded = true;
        if (error) parts.error(error);
        else parts.close();
      };
      form.on('field', (name: string | undefined, value, isNameCut, isValueCut) => {
        if (name === undefined) end(withoutName());
        else if (isNameCut || isValueCut) end(new InvalidInput([tooLong(name)]));
        else if (!hasEnded) parts.enqueue({ kind: 'field', name, value });
      });
      form.on('file', (name: string | undefined, pieces, fileName) => {
        file = pieces;
        // The file may fail before it has a reader. It then has to store the failure, because no other listener
        // receives it.
        pieces.on('error', (error) => pieces.destroy(error));
        if (name === undefined) end(withoutName());
        else if (!hasEnded) parts.enqueue({ kind: 'file', name, fileName: fileName ?? '', pieces: filePieces(pieces) });
      });
      form.on('fieldsLimit', () => end(malformed(`the form has more than ${maxFields} fields`)));
      form.on('filesLimit', () => end(malformed(`the form has more than ${maxFiles} files`)));
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

/** Errors of the parser concern the body; the daemon's own failures pass through the parser unchanged. */
function knownOf(error: unknown): Error {
  if (error instanceof CoreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return malformed(/unexpected end/i.test(reason) ? 'the form ends in the middle of a part' : reason);
}

function tooLong(name: string): InvalidInput['errors'][number] {
  const location = `body.${name.slice(0, 100)}`;
  return { location, message: `must have at most ${maxFieldBytes} bytes`, type: 'too_long' };
}

/** The types of the parser promise a name, which a part may lack. */
function withoutName(): CoreError {
  return malformed('a part has no name');
}

function malformed(reason: string): CoreError {
  return new CoreError('malformed_request', `the body is not a form: ${reason}`, {
    hint: 'Send multipart/form-data with a boundary, a part called file, and a field called path.',
  });
}
