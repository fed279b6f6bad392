/** Reads a file as text, or as bytes in base64. */
import { z } from 'zod';
import { maxReadBytes, readFile as readContent } from '../../core/files/read/read.ts';
import { CoreError } from '../../kit/errors.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { etag, fileErrors, FileQuery } from './inputs.ts';
import { operation } from './operation.ts';
import { namedObject } from '../inputs.ts';

const lineNumber = z.int().min(0).optional();

export const readFile = operation({
  name: 'files.read',
  input: FileQuery.extend({
    start_line: lineNumber.describe('The first line, counted from 0.'),
    end_line: lineNumber.describe('The line to end before.'),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe('The first byte, in place of start_line: next_offset of the answer before this one.'),
    max_bytes: z
      .int()
      .min(4)
      .max(maxReadBytes)
      .optional()
      .describe('Bytes of the content at most: whole lines, or whole characters of a longer line.'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('base64 reads any bytes.'),
  }),
  output: namedObject('FileContent', {
    file: z.string(),
    path: z.string(),
    content: z.string(),
    line_count: z.int().nullable().describe('Lines of the whole file; null with base64.'),
    size: z.int().describe('Bytes of the whole file.'),
    etag,
    encoding: z
      .enum(['utf-8', 'utf-16le', 'utf-16be'])
      .nullable()
      .describe('Of the file: UTF-16 where the file begins with its byte order mark; null with base64.'),
    truncated: z.boolean().describe('max_bytes cut the content: continue with next_offset.'),
    next_offset: z.int().nullable().describe('Pass as offset for the rest; null when nothing was cut.'),
  }),
  errors: [...fileErrors, 'file_not_text', 'file_too_large', 'capacity_reached'],
  async run({ files }, input) {
    const { path, user = null, start_line: startLine = null, end_line: endLine = null, encoding } = input;
    const { offset = null, max_bytes: maxBytes = null } = input;
    if (offset !== null && startLine !== null) {
      throw new CoreError('bad_argument', 'start_line and offset exclude each other', {
        hint: 'Leave start_line out to continue at offset.',
      });
    }
    const content = await readContent(files, { path, user, startLine, endLine, offset, maxBytes, encoding });
    const truncated = content.nextOffset !== null;
    return { ...snakeKeys(content), path: showPath(content.path), file: showPath(content.path), truncated };
  },
});
