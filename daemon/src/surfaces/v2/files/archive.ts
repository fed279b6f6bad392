/** The v2 routes that download and upload whole directory trees as tar archives. */
import { z } from 'zod';
import { packTree } from '../../../core/files/archive/pack.ts';
import { unpackTree } from '../../../core/files/archive/unpack.ts';
import { decodedPieces, encodePieces, type Coding } from '../../../http/body/content-coding.ts';
import { dispositionOf } from '../../../http/file/disposition.ts';
import { RawReply, untilTaken } from '../../../http/stream/raw.ts';
import { Answer } from '../../../kit/answer.ts';
import { showName, showPath } from '../../../kit/text/path-text.ts';
import { route } from '../app.ts';
import { fileErrors, FileQuery } from '../../../operations/files/inputs.ts';
import { namedObject } from '../../../operations/inputs.ts';

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
    description:
      'The archive, with names below the directory. Sockets, pipes, devices and set-ID bits are left out. ' +
      'Where a directory had some, a global pax header at the end, with the record `SVC.skipped`, has their number and ' +
      'names the first 1000, one in a line; the entry of the directory comes again after it. A failure before the first 256 KiB are read has its own status. A later one breaks the connection off, and the archive ends with a ' +
      'global pax header whose record `SVC.error` names the path and the reason, and with a block that no tar takes. ' +
      'A failure inside the content of a file ends the archive there. The log names the path in each case.',
  },
  errors: [...fileErrors, 'capacity_reached'],
  async handle({ files }, { query, context }) {
    const { path, user = null, format } = query;
    const tree = await packTree(files, { path, user, exclude: globsOf(query.exclude ?? '') });
    const { mediaType, coding } = formats[format];
    const name = showName(tree.path.slice(tree.path.lastIndexOf('/') + 1)) || 'root';
    const headers = {
      'content-type': mediaType,
      'content-disposition': dispositionOf(`${name}.${format}`, 'attachment'),
      'x-content-type-options': 'nosniff',
    };
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield* coding ? encodePieces(tree.pieces(), coding) : tree.pieces();
      const failure = tree.failure();
      if (failure === null) return;
      await untilTaken(context);
      throw failure; // Breaks the connection, so that a truncated archive never looks complete.
    }
    return new RawReply({ kind: 'pieces', pieces }, headers, 200, async () => tree[Symbol.asyncDispose]());
  },
});

/** A comma in braces or after a backslash is not a separator. */
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
  query: FileQuery.extend({
    links: z
      .enum(['refuse', 'keep'])
      .default('refuse')
      .describe('For links that lead out of the tree: keep creates them unchanged, and follows none.'),
  }),
  decodes: true,
  content: { 'application/x-tar': z.string().meta({ format: 'binary' }) },
  data: namedObject('UnpackedTree', {
    path: z.string(),
    mode: z.enum(['rename', 'merge']).describe('merge where the destination was there.'),
    entries: z.int(),
    bytes: z.int().describe('Bytes of the contents of all files.'),
  }),
  errors: [...fileErrors, 'file_exists', 'file_too_large', 'no_space_left', 'malformed_request'],
  async handle({ files }, { query, content, context }) {
    const { path, user = null } = query;
    const pieces = decodedPieces(content, context.headers.get('content-encoding'));
    const unpacked = await unpackTree(files, { path, user, pieces, keepsLinks: query.links === 'keep' });
    const hint = unpacked.entries === 0 ? 'The archive has no entries, so nothing was unpacked.' : null;
    return new Answer({ ...unpacked, path: showPath(unpacked.path) }, { hint });
  },
});
