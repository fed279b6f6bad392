/** The v2 routes that take and send whole files of any size. */
import { z } from 'zod';
import { assertKnown, openDownload, wholeBytes, type Download } from '../../core/files/download.ts';
import { Upload } from '../../core/files/upload.ts';
import { codedTag, isKnown, meetsCondition, wantsPartOf } from '../../http/conditions.ts';
import {
  acceptedCoding,
  encodePieces,
  encodeWhole,
  isCompressible,
  leastBytes,
  type Coding,
} from '../../http/content-coding.ts';
import { attachment } from '../../http/disposition.ts';
import { InvalidInput } from '../../http/envelope.ts';
import { formParts, isForm } from '../../http/multipart.ts';
import { rangeOf, type ByteRange } from '../../http/ranges.ts';
import { RawReply, type RawBody } from '../../http/raw.ts';
import { CoreError } from '../../kit/errors.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import { showName, showPath } from '../../kit/path-text.ts';
import { route } from './app.ts';
import { fileErrors, filePath, FileQuery, OwnerQuery } from './file-inputs.ts';

const binary = z.string().meta({ format: 'binary' });

export const upload = route({
  operation: 'files.upload',
  method: 'POST',
  path: '/v2/fs/upload',
  summary: 'Take a file of any size, and put it in its place in one step',
  query: OwnerQuery.extend({
    path: filePath.optional().describe('Where a body goes that is no form; of a form, the field path counts first.'),
  }),
  content: {
    'multipart/form-data': z.object({
      file: binary,
      path: filePath.optional().describe('Before or behind the file; a directory takes it under its own name.'),
    }),
    'application/octet-stream': binary,
  },
  data: z
    .object({
      path: z.string(),
      file_path: z.string(),
      file_size: z.number().int(),
      success: z.boolean(),
      sha256: z.string().describe('Of the whole file, hexadecimal.'),
    })
    .meta({ id: 'UploadedFile' }),
  errors: [...fileErrors, 'file_exists', 'no_space_left', 'malformed_request'],
  async handle({ files }, { query, content, context }) {
    await using taken = new Upload(files, query.user ?? null);
    if (query.path !== undefined) taken.setPath(query.path);
    const contentType = context.headers.get('content-type');
    if (isForm(contentType)) await takeForm(taken, content, contentType ?? '');
    else await takeBody(taken, content);
    const { path, size, sha256 } = await taken.land();
    const shown = showPath(path);
    return { path: shown, file_path: shown, file_size: size, success: true, sha256 };
  },
});

async function takeForm(taken: Upload, content: AsyncIterable<Uint8Array>, contentType: string): Promise<void> {
  for await (const part of formParts(content, contentType)) {
    if (part.kind === 'field') {
      if (part.name === 'path') taken.setPath(pathOf(part.value));
    } else if (part.name !== 'file') {
      throw invalid(
        `body.${part.name.slice(0, 100)}`,
        'is no part of this form; the file is called file',
        'value_error',
      );
    } else if (taken.hasFile) {
      throw invalid('body.file', 'is there twice', 'value_error');
    } else {
      await taken.receive(part.fileName, part.pieces);
    }
  }
  if (!taken.hasFile) throw invalid('body.file', 'is required', 'missing');
}

async function takeBody(taken: Upload, content: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
  if (!taken.hasPath) {
    throw new CoreError('bad_argument', 'a body that is no form says nothing of its place', {
      hint: 'Give ?path=, or send multipart/form-data with a part called file and a field called path.',
    });
  }
  await taken.receive('', usedOnce(content));
}

/** The memory of a piece is given back when the next one is asked for: collecting it later costs tens of mebibytes. */
async function* usedOnce(pieces: AsyncIterable<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece;
    piece.buffer.transfer(0);
  }
}

function pathOf(value: string): string {
  const checked = filePath.safeParse(value);
  if (checked.success) return checked.data;
  throw invalid(
    'body.path',
    checked.error.issues[0]?.message ?? 'is no path',
    value === '' ? 'too_short' : 'value_error',
  );
}

function invalid(location: string, message: string, type: string): InvalidInput {
  return new InvalidInput([{ location, message, type }]);
}

export const download = route({
  operation: 'files.download',
  method: 'GET',
  path: '/v2/fs/download',
  summary: 'Send the bytes of a file, whole or in part',
  query: FileQuery.extend({
    change_policy: z
      .enum(['ignore', 'abort'])
      .default('ignore')
      .describe('abort answers 409, or breaks off, when the file changes while it is read.'),
  }),
  raw: {
    contentType: '*/*',
    description: 'The bytes; Range, If-Range, If-None-Match, If-Modified-Since and Accept-Encoding are followed',
    also: { 206: 'The range that was asked for', 304: 'What the client has is what there is' },
  },
  errors: [...fileErrors, 'file_too_large', 'precondition_failed', 'range_not_satisfiable', 'capacity_reached'],
  async handle({ files }, { query, context }) {
    const { path, user = null, change_policy: changePolicy } = query;
    const found = await openDownload(files, { path, user, changePolicy });
    try {
      return await replyWith(found, context.headers);
    } catch (error) {
      await found[Symbol.asyncDispose]();
      throw error;
    }
  },
});

async function replyWith(found: Download, asked: Headers): Promise<RawReply> {
  const release = () => found[Symbol.asyncDispose]();
  assertKnown(found, meetsCondition(asked, found));
  const range = wantsPartOf(asked, found) ? rangeOf(asked.get('range'), found.size) : 'whole';
  const coding = range === 'whole' ? codingFor(found, asked) : null;
  const headers = headersOf(found, coding);
  if (isKnown(asked, found)) return new RawReply({ kind: 'none' }, headers, 304, release);
  if (range === 'unsatisfiable') throw unsatisfiable(found, asked.get('range') ?? '');
  if (coding) return new RawReply(await codedBody(found, coding), headers, 200, release);
  const { from, to } = range === 'whole' ? { from: 0, to: found.size } : range;
  const told = { ...headers, 'content-length': String(to - from) };
  const body = await bodyOf(found, { from, to });
  if (range === 'whole') return new RawReply(body, told, 200, release);
  return new RawReply(body, { ...told, 'content-range': `bytes ${from}-${to - 1}/${found.size}` }, 206, release);
}

function codingFor({ mime, size }: Download, asked: Headers): Coding | null {
  return isCompressible(mime) && size >= leastBytes ? acceptedCoding(asked.get('accept-encoding')) : null;
}

function headersOf(found: Download, coding: Coding | null): Record<string, string> {
  return {
    'content-type': found.mime,
    'content-disposition': attachment(showName(found.name)),
    'last-modified': new Date(found.modifiedMs).toUTCString(),
    etag: coding ? codedTag(found.etag, coding) : found.etag,
    'accept-ranges': 'bytes',
    // A cache may keep it, and has to ask each time.
    'cache-control': 'private, no-cache',
    // What a page of the sandbox says about itself is not to run as ours.
    'x-content-type-options': 'nosniff',
    ...(isCompressible(found.mime) ? { vary: 'Accept-Encoding' } : {}),
    ...(coding ? { 'content-encoding': coding } : {}),
  };
}

async function bodyOf(found: Download, { from, to }: ByteRange): Promise<RawBody> {
  if (to - from <= wholeBytes) return { kind: 'bytes', bytes: await found.read(from, to) };
  if (found.canBeSliced) return { kind: 'file', file: found.slice(from, to) };
  return { kind: 'pieces', pieces: () => found.pieces(from, to) };
}

async function codedBody(found: Download, coding: Coding): Promise<RawBody> {
  if (found.size > wholeBytes)
    return { kind: 'pieces', pieces: () => encodePieces(found.pieces(0, found.size), coding) };
  return { kind: 'bytes', bytes: await encodeWhole(await found.read(0, found.size), coding) };
}

function unsatisfiable({ path, size }: Download, range: string): FileFailure {
  return new FileFailure({
    operation: 'download',
    path,
    errnoName: 'EINVAL',
    code: 'range_not_satisfiable',
    message: `${showPath(path)}: has ${size} bytes, and none of them is in the range ${JSON.stringify(range)}`,
    hint: `Ask for bytes=0-${Math.max(0, size - 1)}, for bytes=-N, the last N, or for the whole without Range.`,
    more: { size },
  });
}
