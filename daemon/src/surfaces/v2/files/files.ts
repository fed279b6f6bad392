/** The v2 routes that read and change single files: wire shapes in, one core call each, views out. */
import { z } from 'zod';
import { bytesOfContent, contentEncodings, type WrittenContent } from '../../../core/files/read/content.ts';
import { makeDirectory } from '../../../core/files/write/make-directory.ts';
import { readFile } from '../../../core/files/read/read.ts';
import { statFile } from '../../../core/files/read/stat.ts';
import { writeFile } from '../../../core/files/write/write.ts';
import { CoreError } from '../../../kit/errors.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { snakeKeys } from '../../../http/route/snake-keys.ts';
import { route } from '../app.ts';
import { fileErrors, filePath, FileQuery, OwnerQuery } from './inputs.ts';
import { systemText, wholeText } from '../inputs.ts';

const etag = z.string().describe('Changes with the content of the file.');
const sha256 = z.string().describe('SHA-256 of the whole file, hexadecimal.');
const lineNumber = z.number().int().min(0).optional();
const mode = z
  .string()
  .regex(/^0?[0-7]{3,4}$/)
  .optional()
  .describe('Permission bits as octal text, such as 644.');

export const read = route({
  operation: 'files.read',
  method: 'GET',
  path: '/v2/fs/read',
  summary: 'Read a file as text, whole or some of its lines',
  query: FileQuery.extend({
    start_line: lineNumber.describe('The first line, counted from 0.'),
    end_line: lineNumber.describe('The line to end before.'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('base64 reads any bytes, whole.'),
  }),
  data: z
    .object({
      file: z.string(),
      path: z.string(),
      content: z.string(),
      line_count: z.number().int().nullable().describe('Lines of the whole file; null with base64.'),
      size: z.number().int().describe('Bytes of the whole file.'),
      etag,
      encoding: z
        .enum(['utf-8', 'utf-16le', 'utf-16be'])
        .nullable()
        .describe('Of the file: UTF-16 where the file begins with its byte order mark; null with base64.'),
    })
    .meta({ id: 'FileContent' }),
  errors: [...fileErrors, 'file_not_text', 'file_too_large', 'capacity_reached'],
  async handle({ files }, { query }) {
    const { path, user, start_line: startLine = null, end_line: endLine = null, encoding } = query;
    const content = await readFile(files, { path, user: user ?? null, startLine, endLine, encoding });
    return { ...snakeKeys(content), path: showPath(content.path), file: showPath(content.path) };
  },
});

const WriteBody = z.object({
  path: filePath,
  content: wholeText.describe('The new content, in the encoding that is named.'),
  encoding: z
    .enum(contentEncodings)
    .default('utf-8')
    .describe('raw has one character, U+0000 to U+00FF, for each byte.'),
  append: z.boolean().default(false).describe('Add to the end of the file; text takes its encoding and line ends.'),
  leading_newline: z.boolean().default(false).describe('A newline before the content; text only.'),
  trailing_newline: z.boolean().default(false).describe('Add a newline after the content; text only.'),
  if_match: systemText.min(1).optional().describe('Write only while the file has this etag.'),
  mode,
});

export const write = route({
  operation: 'files.write',
  method: 'POST',
  path: '/v2/fs/write',
  summary: 'Write a file in one step, with the directories that lead to it',
  query: OwnerQuery,
  body: WriteBody,
  data: z
    .object({
      file: z.string(),
      path: z.string(),
      bytes_written: z.number().int(),
      size: z.number().int().describe('Bytes of the whole file.'),
      sha256,
      etag,
    })
    .meta({ id: 'WrittenFile' }),
  errors: [...fileErrors, 'precondition_failed', 'no_space_left'],
  async handle({ files }, { query, body }) {
    const written = await writeFile(files, {
      path: body.path,
      user: query.user ?? null,
      content: contentOf(body),
      append: body.append,
      ifMatch: body.if_match ?? null,
      mode: body.mode === undefined ? null : Number.parseInt(body.mode, 8),
    });
    return { ...snakeKeys(written), path: showPath(written.path), file: showPath(written.path) };
  },
});

function contentOf(body: z.output<typeof WriteBody>): WrittenContent {
  const { content, encoding } = body;
  if (encoding !== 'utf-8' && (body.leading_newline || body.trailing_newline)) {
    throw new CoreError('bad_argument', `a newline cannot be added to ${encoding} content`, {
      hint: 'Put it into the content, or send text.',
    });
  }
  if (encoding !== 'utf-8') return bytesOfContent(content, encoding);
  return { text: content, newlineBefore: body.leading_newline, newlineAfter: body.trailing_newline };
}

export const stat = route({
  operation: 'files.stat',
  method: 'GET',
  path: '/v2/fs/stat',
  summary: 'Return the attributes of a path',
  query: FileQuery.extend({
    follow_symlinks: z.boolean().default(true).describe('Follow a link, and return the attributes of its target.'),
  }),
  data: z
    .object({
      path: z.string(),
      size: z.number().int(),
      permissions: z.string().describe('Permission bits as octal text.'),
      is_directory: z.boolean(),
      is_symlink: z.boolean().describe('True when the path itself is a link.'),
      modified_time: z.string().describe('RFC 3339, UTC.'),
      uid: z.number().int(),
      gid: z.number().int(),
      owner: z.string().nullable(),
      group: z.string().nullable(),
      mode: z.number().int().describe('st_mode, as stat(2) has it.'),
      target: z.string().nullable().describe('The target text of a link.'),
      inode: z.number().int(),
      mime: z.string().nullable().describe('By the extension; null unless the path is a regular file.'),
      etag,
    })
    .meta({ id: 'FileStat' }),
  errors: fileErrors,
  async handle({ files }, { query }) {
    const { path, user = null, follow_symlinks: followSymlinks } = query;
    const { modifiedMs, ...found } = await statFile(files, { path, user, followSymlinks });
    return {
      ...snakeKeys(found),
      path: showPath(found.path),
      target: found.target === null ? null : showPath(found.target),
      modified_time: new Date(modifiedMs).toISOString(),
    };
  },
});

export const mkdir = route({
  operation: 'files.mkdir',
  method: 'POST',
  path: '/v2/fs/mkdir',
  summary: 'Make a directory',
  query: OwnerQuery,
  body: z.object({
    path: filePath,
    parents: z.boolean().default(false).describe('Create missing parents, and accept an existing directory.'),
  }),
  data: z.object({ path: z.string(), created: z.boolean() }).meta({ id: 'MadeDirectory' }),
  errors: [...fileErrors, 'file_exists', 'no_space_left'],
  async handle({ files }, { query, body }) {
    const { path, created } = await makeDirectory(files, { ...body, user: query.user ?? null });
    return { path: showPath(path), created };
  },
});
