/** The v2 routes that upload and download whole files of any size. */
import { z } from 'zod';
import { openDownload } from '../../../core/files/read/download.ts';
import { Upload } from '../../../core/files/write/upload.ts';
import { InvalidInput } from '../../../http/route/envelope.ts';
import { invalidPart, takeFileForm, type FileTaker } from '../../../http/body/file-form.ts';
import { fileReply } from '../../../http/file/file-reply.ts';
import { isForm } from '../../../http/body/multipart.ts';
import { validate } from '../../../http/route/validate.ts';
import { createHash } from '../../../kit/crypto.ts';
import { CoreError } from '../../../kit/errors.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { route } from '../app.ts';
import { fileErrors, fileMode, filePath, FileQuery, OwnerQuery, readMode } from '../../../operations/files/inputs.ts';
import { namedObject } from '../../../operations/inputs.ts';

const binary = z.string().meta({ format: 'binary' });

export const upload = route({
  operation: 'files.upload',
  method: 'POST',
  path: '/v2/fs/upload',
  summary: 'Take a file of any size, and put it in its place in one step',
  query: OwnerQuery.extend({
    path: filePath.optional().describe('Destination; a form may name it in the field path instead.'),
    mode: fileMode,
  }),
  content: {
    'multipart/form-data': z.object({
      file: binary,
      path: filePath
        .optional()
        .describe('Before or after the file part. Into a directory, the file keeps its own name.'),
    }),
    'application/octet-stream': binary,
  },
  data: namedObject('UploadedFile', {
    path: z.string(),
    file_path: z.string(),
    file_size: z.int(),
    success: z.boolean(),
    sha256: z.string().describe('SHA-256 of the whole file, hexadecimal.'),
  }),
  errors: [...fileErrors, 'file_exists', 'no_space_left', 'malformed_request'],
  async handle({ files }, { query, content, context }) {
    const hash = createHash('sha256');
    await using taken = new Upload(files, query.user ?? null, 'temporary', (piece) => hash.update(piece));
    if (query.path !== undefined) taken.setPath(query.path);
    const contentType = context.headers.get('content-type');
    if (isForm(contentType)) await takeFileForm(content, contentType ?? '', takerOf(taken, query.path));
    else await takeBody(taken, content);
    const { path, size } = await taken.land({ mode: readMode(query.mode) });
    const shown = showPath(path);
    return { path: shown, file_path: shown, file_size: size, success: true, sha256: hash.digest('hex') };
  },
});

const FormFields = z.object({ path: filePath.optional() });

function takerOf(taken: Upload, inQuery: string | undefined): FileTaker {
  let isNamed = false;
  return {
    takeFile: (fileName, pieces) => taken.receive(fileName, pieces),
    takeField(name, value) {
      const checked = validate(FormFields, { [name]: value }, 'body', true);
      if ('errors' in checked) throw new InvalidInput(checked.errors);
      if (isNamed) throw invalidPart(name, 'appears twice', 'value_error');
      if (value.includes('\ufffd'))
        throw invalidPart(name, 'is not UTF-8; pass a file:// URL with %FF for such bytes', 'value_error');
      if (inQuery !== undefined && inQuery !== value)
        throw invalidPart(name, 'differs from path in the query', 'value_error');
      isNamed = true;
      taken.setPath(checked.value.path ?? value);
    },
  };
}

async function takeBody(taken: Upload, content: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
  if (!taken.hasPath) {
    throw new CoreError('bad_argument', 'a body that is not a form names no destination', {
      hint: 'Give ?path=, or send multipart/form-data with a part called file and a field called path.',
    });
  }
  await taken.receive('', usedOnce(content));
}

/** Frees the memory of each piece at once, because the garbage collector keeps tens of mebibytes. */
async function* usedOnce(pieces: AsyncIterable<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece;
    piece.buffer.transfer(0);
  }
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
    return fileReply(found, found.mime, context.headers);
  },
});
