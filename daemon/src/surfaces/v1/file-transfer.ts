/** The 1.x routes that upload and download whole files of any size. */
import { z } from 'zod';
import { openDownload } from '../../core/files/read/download.ts';
import { Upload } from '../../core/files/write/upload.ts';
import { noFile, takeFileForm } from '../../http/body/file-form.ts';
import { fileReply } from '../../http/file/file-reply.ts';
import { isForm } from '../../http/body/multipart.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { fileCodes, jsonCodes, orFailure, route } from './file-failures.ts';
import { pathOf, sound } from './file-inputs.ts';
import { namedObject } from '../../operations/inputs.ts';

export const upload = route({
  operation: 'files.upload_v1',
  method: 'POST',
  path: '/v1/file/upload',
  summary: 'Take a file of any size, and put it in its place in one step',
  content: {
    'multipart/form-data': namedObject('Body_upload_file', {
      file: z.string().meta({ format: 'binary' }),
      path: z
        .string()
        .optional()
        .describe('A directory takes the file under its own name; without it, the upload directory.'),
    }),
  },
  data: orFailure(
    namedObject('FileUploadResult', {
      file_path: z.string(),
      file_size: z.int().describe('Bytes.'),
      success: z.boolean(),
    }),
  ),
  errors: [...jsonCodes, 'malformed_request'],
  async handle({ files }, { content, context }) {
    const contentType = context.headers.get('content-type');
    if (!isForm(contentType)) throw noFile();
    await using taken = new Upload(files, null, 'uploads');
    await takeFileForm(content, contentType ?? '', {
      takeFile: (fileName, pieces) => taken.receive(fileName, pieces),
      takeField(name, value) {
        if (name === 'path' && value !== '') taken.setPath(sound(value));
      },
    });
    const { path, size } = await taken.land();
    return { file_path: showPath(path), file_size: size, success: true };
  },
});

export const download = route({
  operation: 'files.download_v1',
  method: 'GET',
  path: '/v1/file/download',
  summary: 'Send the bytes of a file, whole or in part',
  query: z
    .object({
      path: z.string().optional(),
      file: z.string().optional().describe('Another name of path.'),
      change_policy: z
        .enum(['ignore', 'abort'])
        .default('ignore')
        .describe('abort answers 409, or breaks off, when the file changes while it is read.'),
    })
    .superRefine(({ path, file }, context) => {
      if (path !== undefined || file !== undefined) return;
      context.addIssue({ code: 'invalid_type', expected: 'string', path: ['path'], input: undefined });
    })
    .meta({ required: ['path'] }),
  raw: {
    contentType: 'application/octet-stream',
    description: 'The bytes; Range, If-Range, If-None-Match and If-Modified-Since are followed',
    also: { 206: 'The range that was asked for', 304: 'What the client has is what there is' },
  },
  errors: [...fileCodes, 'precondition_failed', 'range_not_satisfiable', 'capacity_reached'],
  async handle({ files }, { query, context }) {
    const request = { path: pathOf(query), user: null, changePolicy: query.change_policy };
    return fileReply(await openDownload(files, request), 'application/octet-stream', context.headers);
  },
});
