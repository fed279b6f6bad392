/** Reads a file as text, or as bytes in base64. */
import { z } from 'zod';
import { readFile as readContent } from '../../core/files/read/read.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { etag, fileErrors, FileQuery } from './inputs.ts';
import { operation } from './operation.ts';

const lineNumber = z.number().int().min(0).optional();

export const readFile = operation({
  name: 'files.read',
  input: FileQuery.extend({
    start_line: lineNumber.describe('The first line, counted from 0.'),
    end_line: lineNumber.describe('The line to end before.'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('base64 reads any bytes, whole.'),
  }),
  output: z
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
  async run({ files }, { path, user, start_line: startLine = null, end_line: endLine = null, encoding }) {
    const content = await readContent(files, { path, user: user ?? null, startLine, endLine, encoding });
    return { ...snakeKeys(content), path: showPath(content.path), file: showPath(content.path) };
  },
});
