/** The v2 routes that read and change single files. */
import type { z } from 'zod';
import { InvalidInput } from '../../../http/route/envelope.ts';
import { routeOf } from '../../../http/route/operation-route.ts';
import { Answer } from '../../../kit/answer.ts';
import { OwnerQuery } from '../../../operations/files/inputs.ts';
import { readFile } from '../../../operations/files/read.ts';
import { statFile } from '../../../operations/files/stat.ts';
import { DirectoryBody, makeDirectory } from '../../../operations/files/trees.ts';
import { WriteBody, writeFile } from '../../../operations/files/write.ts';
import { style } from '../app.ts';

export const read = routeOf(readFile, {
  method: 'GET',
  path: '/v2/fs/read',
  summary: 'Read a file as text, whole or some of its lines',
  query: readFile.input,
  answer: (content) =>
    new Answer(content, {
      hint: content.truncated
        ? `The same call with offset=${content.next_offset} in place of start_line reads on.`
        : null,
    }),
})(style);

export const write = routeOf(writeFile, {
  method: 'POST',
  path: '/v2/fs/write',
  summary: 'Write a file in one step, with the directories that lead to it',
  query: OwnerQuery,
  body: WriteBody,
  read: ({ query, body, headers }) => ({ ...query, ...body, ...createOnly(headers.get('if-none-match')) }),
})(style);

/** The header counts as the field of the same name; `*` is its only value that a write can have (RFC 9110, 13.1.2). */
function createOnly(header: string | null): Pick<z.output<typeof WriteBody>, 'if_none_match'> {
  if (header === null) return {};
  if (header === '*') return { if_none_match: header };
  throw new InvalidInput([{ location: 'header.if-none-match', message: 'must be *', type: 'enum' }]);
}

export const stat = routeOf(statFile, {
  method: 'GET',
  path: '/v2/fs/stat',
  summary: 'Return the attributes of a path',
  query: statFile.input,
})(style);

export const mkdir = routeOf(makeDirectory, {
  method: 'POST',
  path: '/v2/fs/mkdir',
  summary: 'Make a directory',
  query: OwnerQuery,
  body: DirectoryBody,
})(style);
