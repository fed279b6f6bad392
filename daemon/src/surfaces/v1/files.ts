/** The 1.x routes that read and change the content of one file. */
import { z } from 'zod';
import { lineEndOf } from '../../core/files/line-ends.ts';
import { bytesOfContent, contentEncodings, type WrittenContent } from '../../core/files/read/content.ts';
import { readFile } from '../../core/files/read/read.ts';
import { replaceText } from '../../core/files/write/replace-text.ts';
import { writeFile } from '../../core/files/write/write.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { jsonCodes, orFailure, route } from './file-failures.ts';
import { namedObject, wholeText } from '../../operations/inputs.ts';
import { bodyWithPath, fileOf, ownerOf, sudo } from './file-inputs.ts';

const line = z.int().nullish();

export const read = route({
  operation: 'files.read_v1',
  method: 'POST',
  path: '/v1/file/read',
  summary: 'Read a text file, whole or some of its lines',
  body: bodyWithPath('file', {
    start_line: line.describe('The first line, counted from 0; from the end where it is negative.'),
    end_line: line.describe('The line to end before, counted alike.'),
    sudo,
  }).meta({ id: 'FileReadRequest' }),
  data: orFailure(
    namedObject('FileReadResult', {
      content: z.string(),
      file: z.string(),
      line_count: z.int().describe('Lines of the content.'),
    }),
  ),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const path = fileOf(body);
    const user = ownerOf(files.accounts, body.sudo, path);
    const { start_line: startLine = null, end_line: endLine = null } = body;
    const read = await readFile(files, { path, user, startLine, endLine, encoding: 'utf-8' });
    return { content: read.content, file: showPath(read.path), line_count: linesIn(read.content) };
  },
});

function linesIn(text: string): number {
  const lineEnd = lineEndOf(text);
  const ends = text.split(lineEnd).length - 1;
  return text === '' || text.endsWith(lineEnd) ? ends : ends + 1;
}

const WriteRequest = bodyWithPath('file', {
  content: wholeText,
  encoding: z
    .enum(contentEncodings)
    .meta({ id: 'FileContentEncoding' })
    .nullable()
    .default('utf-8')
    .describe('raw has one character, U+0000 to U+00FF, for each byte.'),
  append: z.boolean().nullable().default(false),
  leading_newline: z.boolean().nullable().default(false).describe('Only for utf-8.'),
  trailing_newline: z.boolean().nullable().default(false).describe('Only for utf-8.'),
  sudo,
}).meta({ id: 'FileWriteRequest' });

export const write = route({
  operation: 'files.write_v1',
  method: 'POST',
  path: '/v1/file/write',
  summary: 'Write a file, with the directories that lead to it',
  body: WriteRequest,
  data: orFailure(namedObject('FileWriteResult', { file: z.string(), bytes_written: z.int().nullable() })),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const path = fileOf(body);
    const user = ownerOf(files.accounts, body.sudo, path);
    const written = await writeFile(files, {
      path,
      user,
      content: contentOf(body),
      append: body.append ?? false,
      ifMatch: null,
      mode: null,
    });
    return { file: showPath(written.path), bytes_written: written.bytesWritten };
  },
});

function contentOf({ content, encoding, ...around }: z.output<typeof WriteRequest>): WrittenContent {
  if (encoding === 'base64' || encoding === 'raw') return bytesOfContent(content, encoding);
  return {
    text: content,
    newlineBefore: around.leading_newline ?? false,
    newlineAfter: around.trailing_newline ?? false,
  };
}

export const replace = route({
  operation: 'files.replace_v1',
  method: 'POST',
  path: '/v1/file/replace',
  summary: 'Replace each occurrence of a text in a file',
  body: bodyWithPath('file', { old_str: z.string().min(1), new_str: wholeText, sudo }).meta({
    id: 'FileReplaceRequest',
  }),
  data: orFailure(namedObject('FileReplaceResult', { file: z.string(), replaced_count: z.int() })),
  errors: jsonCodes,
  async handle({ files }, { body }) {
    const path = fileOf(body);
    const user = ownerOf(files.accounts, body.sudo, path);
    const replaced = await replaceText(files, { path, user, oldText: body.old_str, newText: body.new_str });
    return { file: showPath(replaced.path), replaced_count: replaced.count };
  },
});
