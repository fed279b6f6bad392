/** The REST routes of port 49983 that carry whole files. */
import { posix } from 'node:path';
import { z } from 'zod';
import { openDownload } from '../../core/files/read/download.ts';
import { statFile } from '../../core/files/read/stat.ts';
import { deletePath } from '../../core/files/tree/delete.ts';
import { Upload, type UploadedFile } from '../../core/files/write/upload.ts';
import { acceptsAnswer, decodedPieces, isEncoded } from '../../http/body/content-coding.ts';
import { formParts, isForm } from '../../http/body/multipart.ts';
import { fileReply } from '../../http/file/file-reply.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { routesFor } from '../../http/route/route.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import { showName, showPath } from '../../kit/text/path-text.ts';
import type { E2bDeps } from './app.ts';
import { callerNamed, pathOf, type Caller } from './caller.ts';
import { attributePrefix, metadataIn } from './metadata.ts';

const route = routesFor<E2bDeps>();
/** One request may hold this many files. */
const maxFiles = 1000;

const FileQuery = z.object({
  path: z.string().optional().describe('Relative to the home of the user.'),
  username: z.string().optional().describe('Whose file it is; the default user where it is absent.'),
  signature: z.string().optional().describe('In place of the key.'),
  signature_expiration: z.string().optional().describe('Seconds since 1970 until which the signature holds.'),
});
type FileQuery = z.output<typeof FileQuery>;

const fileErrors = [
  'unauthorized',
  'bad_argument',
  'file_not_found',
  'file_permission_denied',
  'file_invalid_target',
  'file_io_error',
] as const;

export const download = route({
  operation: 'e2b.download',
  method: 'GET',
  path: '/files',
  summary: 'Send the bytes of a file, whole or in part',
  query: FileQuery,
  raw: {
    contentType: '*/*',
    description: 'The bytes; ranges, conditions and Accept-Encoding are followed.',
    also: {
      206: 'The range that was asked for',
      304: 'What the client has is what there is',
      406: 'No coding is left',
    },
  },
  errors: [...fileErrors, 'range_not_satisfiable', 'capacity_reached'],
  async handle(deps, { query, context }) {
    const path = placeOf(deps, query, 'read', context).path;
    if (!acceptsAnswer(context.headers.get('accept-encoding')))
      return Response.json({ code: 406, message: 'the client accepts neither gzip nor the bytes' }, { status: 406 });
    const found = await openDownload(deps.files, { path, user: null, changePolicy: 'ignore' });
    return fileReply(found, found.mime, context.headers, 'inline');
  },
});

const binary = z.string().meta({ format: 'binary' });

export const upload = route({
  operation: 'e2b.upload',
  method: 'POST',
  path: '/files',
  summary: 'Take files of any size; nothing changes before all of them are whole',
  query: FileQuery,
  content: {
    'multipart/form-data': z.object({ file: binary }),
    'application/octet-stream': binary,
  },
  decodes: true,
  raw: { contentType: 'application/json', description: 'A list with name, path, type and metadata of each file.' },
  errors: [...fileErrors, 'malformed_request', 'unsupported_coding', 'no_space_left'],
  async handle(deps, { query, content, context }) {
    const { caller, path } = placeOf(deps, query, 'write', context);
    const metadata = metadataIn(context.headers);
    // A body is compressed only where it says so: a file that is a gzip stream stays one.
    const pieces = isEncoded(context.headers)
      ? decodedPieces(content, context.headers.get('content-encoding'))
      : content;
    const type = context.headers.get('content-type') ?? '';
    await using resources = new AsyncDisposableStack();
    const taken = new Map<string, Upload>();
    const take = async (target: string, of: AsyncIterable<Uint8Array>) => {
      const resolved = deps.files.paths.resolve(target, null);
      const real = await realOf(deps, resolved);
      if (taken.has(real)) throw new CoreError('bad_argument', `${showPath(resolved)} appears twice in the form`);
      const one = resources.use(new Upload(deps.files, caller.user, 'temporary'));
      taken.set(real, one);
      one.setPath(target.endsWith('/') ? target : resolved);
      await one.receive('', of);
    };
    if (isForm(type)) {
      for await (const part of formParts(pieces, type, 'file', maxFiles)) {
        if (part.kind === 'field') continue;
        if (part.name === 'file') await take(query.path ? path : targetOf(deps, part.fileName, caller), part.pieces);
        else for await (const _ of part.pieces);
      }
    } else if (/^application\/octet-stream\s*(;|$)/i.test(type) && query.path) await take(path, pieces);
    else throw new CoreError('bad_argument', 'send multipart/form-data, or application/octet-stream and ?path=');
    for (const path of taken.keys()) {
      const above = aboveOf(path, taken);
      if (above)
        throw new CoreError(
          'bad_argument',
          `${showPath(above)} is a file of the form, so ${showPath(path)} has no place`,
        );
    }
    const landed: object[] = [];
    for (const one of taken.values()) landed.push(await land(deps, one, metadata));
    return Response.json(landed);
  },
});

/** Without the links of what is there; a path that cannot be looked at stays as it is, and its use says why. */
async function realOf(deps: E2bDeps, path: string): Promise<string> {
  const stat = await nullOn(CoreError, statFile(deps.files, { path, user: null, followSymlinks: false }));
  if (stat) return stat.realPath ?? path;
  const parent = posix.dirname(path);
  return parent === path ? path : posix.join(await realOf(deps, parent), posix.basename(path));
}

/** The nearest file of the form that stands where another one needs a directory. */
function aboveOf(path: string, taken: ReadonlyMap<string, unknown>): string | null {
  for (let at = posix.dirname(path); at !== '/'; at = posix.dirname(at)) if (taken.has(at)) return at;
  return null;
}

export const compose = route({
  operation: 'e2b.compose',
  method: 'POST',
  path: '/files/compose',
  summary: 'Join files into one, and remove them',
  body: z.object({ source_paths: z.array(z.string()).min(1), destination: z.string(), username: z.string().nullish() }),
  raw: { contentType: 'application/json', description: 'Name, path and type of the file.' },
  errors: [...fileErrors, 'no_space_left'],
  async handle(deps, { body }) {
    const caller = callerNamed(deps, body.username ?? '');
    const sources = body.source_paths.map((path) => deps.files.paths.resolve(pathOf(deps, path, caller), null));
    const destination = pathOf(deps, body.destination, caller);
    const realDestination = await realOf(deps, destination);
    for (const path of sources)
      if ((await realOf(deps, path)) === realDestination)
        throw new CoreError('bad_argument', `${showPath(path)} is the destination itself`);
    await using joined = new Upload(deps.files, caller.user, 'temporary');
    joined.setPath(destination);
    await joined.receive('', contentOf(deps, sources));
    const entry = await land(deps, joined, new Map());
    for (const path of new Set(sources))
      await nullOn('file_not_found', deletePath(deps.files, { path, user: null, recursive: false }));
    return Response.json(entry);
  },
});

async function* contentOf({ files }: E2bDeps, paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    await using source = await openDownload(files, { path, user: null, changePolicy: 'abort' });
    yield* source.pieces(0, source.size);
  }
}

async function land({ attributes }: E2bDeps, one: Upload, metadata: ReadonlyMap<string, string>): Promise<object> {
  const noted = { isKept: false };
  const landed: UploadedFile = await one.land({
    finish: ({ fd }) => {
      noted.isKept = attributes.replace(fd, attributePrefix, metadata);
    },
  });
  return {
    name: showName(posix.basename(landed.path)),
    path: showPath(landed.path),
    type: 'file',
    ...(noted.isKept && metadata.size > 0 && { metadata: Object.fromEntries(metadata) }),
  };
}

function targetOf(deps: E2bDeps, name: string, caller: Caller): string {
  if (name === '') throw new CoreError('bad_argument', 'a file has no name; give ?path=, or a file name in its part');
  return pathOf(deps, name, caller);
}

function placeOf(deps: E2bDeps, query: FileQuery, operation: 'read' | 'write', context: RequestContext) {
  if (!context.isAuthorized) assertSigned(deps, query, operation, context.headers);
  const caller = callerNamed(deps, query.username ?? '');
  return { caller, path: pathOf(deps, query.path ?? '', caller) };
}

/** A key that is given decides alone. */
function assertSigned(
  { apiKey }: E2bDeps,
  { path = '', username = '', signature = '', signature_expiration: expiration }: FileQuery,
  operation: 'read' | 'write',
  headers: Headers,
): void {
  const [, given = ''] = /^v1_([\w+/-]+)$/.exec(signature) ?? [];
  const until = expiration === undefined ? '' : `:${expiration}`;
  const isSigned =
    !headers.has('x-access-token') &&
    apiKey.hasSigned(Buffer.from(given, 'base64'), (key) => `${path}:${operation}:${username}:${key}${until}`);
  if (!isSigned) throw new CoreError('unauthorized', 'the key of the daemon, or a signature with it, is needed');
  if (expiration !== undefined && !(/^\d{1,12}$/.test(expiration) && Number(expiration) * 1000 >= Date.now()))
    throw new CoreError('unauthorized', 'the signature has expired');
}
