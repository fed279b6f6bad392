/** Writes a file in one step. */
import { z } from 'zod';
import { bytesOfContent, contentEncodings, type WrittenContent } from '../../core/files/read/content.ts';
import { writeFile as writeContent } from '../../core/files/write/write.ts';
import { CoreError } from '../../kit/errors.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { namedObject, systemText, wholeText } from '../inputs.ts';
import { etag, fileErrors, filePath, fileMode, OwnerQuery, readMode } from './inputs.ts';
import { operation } from './operation.ts';

const sha256 = z.string().describe('SHA-256 of the whole file, hexadecimal.');
export const WriteBody = z.object({
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
  if_none_match: z
    .literal('*')
    .optional()
    .describe('Create the file, or fail when it exists; the header If-None-Match does the same.'),
  mode: fileMode,
});

export const writeFile = operation({
  name: 'files.write',
  input: WriteBody.extend(OwnerQuery.shape),
  output: namedObject('WrittenFile', {
    file: z.string(),
    path: z.string(),
    bytes_written: z.int(),
    size: z.int().describe('Bytes of the whole file.'),
    sha256,
    etag,
  }),
  errors: [...fileErrors, 'file_exists', 'precondition_failed', 'no_space_left'],
  async run({ files }, input) {
    const written = await writeContent(files, {
      path: input.path,
      user: input.user ?? null,
      content: contentOf(input),
      append: input.append,
      ifMatch: input.if_match ?? null,
      mustBeNew: input.if_none_match !== undefined,
      mode: readMode(input.mode),
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
