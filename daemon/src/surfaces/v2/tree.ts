/** The v2 routes that send and take whole directory trees as tar archives. */
import { z } from 'zod';
import { packTree } from '../../core/files/pack.ts';
import { unpackTree } from '../../core/files/unpack.ts';
import { decodedPieces, encodePieces, type Coding } from '../../http/content-coding.ts';
import { attachment } from '../../http/disposition.ts';
import { RawReply } from '../../http/raw.ts';
import { showName, showPath } from '../../kit/path-text.ts';
import { route } from './app.ts';
import { fileErrors, FileQuery } from './file-inputs.ts';

const formats = {
  tar: { mediaType: 'application/x-tar', coding: null },
  'tar.gz': { mediaType: 'application/gzip', coding: 'gzip' },
  'tar.zst': { mediaType: 'application/zstd', coding: 'zstd' },
} as const satisfies Record<string, { mediaType: string; coding: Coding | null }>;

export const pack = route({
  operation: 'files.pack',
  method: 'GET',
  path: '/v2/fs/tree',
  summary: 'Send a directory, or one file, as a tar archive',
  query: FileQuery.extend({
    format: z.enum(['tar', 'tar.gz', 'tar.zst']).default('tar'),
    exclude: z
      .string()
      .optional()
      .describe('Globs, separated by commas: without a slash of a name at any depth, else of a path below.'),
  }),
  raw: {
    contentType: Object.values(formats).map(({ mediaType }) => mediaType),
    description: 'The archive, with names below the directory; sockets, pipes and devices are left out',
  },
  errors: [...fileErrors, 'capacity_reached'],
  async handle({ files }, { query }) {
    const { path, user = null, format } = query;
    const tree = await packTree(files, { path, user, exclude: globsOf(query.exclude ?? '') });
    const { mediaType, coding } = formats[format];
    const name = showName(tree.path.slice(tree.path.lastIndexOf('/') + 1)) || 'root';
    const headers = {
      'content-type': mediaType,
      'content-disposition': attachment(`${name}.${format}`),
      'x-content-type-options': 'nosniff',
    };
    const pieces = () => (coding ? encodePieces(tree.pieces(), coding) : tree.pieces());
    return new RawReply({ kind: 'pieces', pieces }, headers, 200, async () => tree[Symbol.asyncDispose]());
  },
});

/** A comma in braces or behind a backslash separates nothing. */
function globsOf(text: string): string[] {
  const globs = [''];
  let depth = 0;
  for (const [character] of text.matchAll(/\\.|[^]/gu)) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === ',' && depth <= 0) globs.push('');
    else globs.push(`${globs.pop() ?? ''}${character}`);
  }
  return globs.filter((glob) => glob !== '');
}

export const unpack = route({
  operation: 'files.unpack',
  method: 'PUT',
  path: '/v2/fs/tree',
  summary: 'Take a tar archive, and put its tree in its place when all of it has been read',
  query: FileQuery,
  content: { 'application/x-tar': z.string().meta({ format: 'binary' }) },
  data: z
    .object({
      path: z.string(),
      mode: z.enum(['rename', 'merge']).describe('merge where the destination was there.'),
      entries: z.number().int(),
      bytes: z.number().int().describe('Of the contents of all files.'),
    })
    .meta({ id: 'UnpackedTree' }),
  errors: [...fileErrors, 'file_exists', 'file_too_large', 'no_space_left', 'malformed_request'],
  async handle({ files }, { query, content, context }) {
    const { path, user = null } = query;
    const pieces = decodedPieces(content, context.headers.get('content-encoding'));
    const unpacked = await unpackTree(files, { path, user, pieces });
    return { ...unpacked, path: showPath(unpacked.path) };
  },
});
