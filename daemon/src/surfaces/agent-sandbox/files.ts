/** The routes of port 8080 for files and directories. */
import { z } from 'zod';
import { confine, openConfined } from '../../core/files/confine.ts';
import { statFile } from '../../core/files/read/stat.ts';
import { deletePath } from '../../core/files/tree/delete.ts';
import { Upload } from '../../core/files/write/upload.ts';
import { formParts, isForm } from '../../http/body/multipart.ts';
import { fileReply } from '../../http/file/file-reply.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { routesFor } from '../../http/route/route.ts';
import type { RawReply } from '../../http/stream/raw.ts';
import { CoreError } from '../../kit/errors.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import type { AgentSandboxDeps } from './app.ts';
import { allIn, entriesOf } from './entries.ts';

const route = routesFor<AgentSandboxDeps>();

const fileErrors = [
  'forbidden',
  'bad_argument',
  'file_not_found',
  'file_permission_denied',
  'file_invalid_target',
  'file_invalid_path',
  'file_io_error',
] as const;

const params = z.object({ path: z.string().describe('Relative to the root; slashes may be encoded.') });
const found = {
  contentType: '*/*',
  description: 'The bytes of a file as `application/octet-stream`, or the entries of a directory as JSON.',
  also: { 206: 'The range that was asked for', 304: 'What the client has is what there is' },
};

export const read = route({
  operation: 'agentSandbox.read',
  method: 'GET',
  path: '/v1/files/{path...}',
  summary: 'Send a file, whole or in part, or list a directory',
  params,
  raw: found,
  errors: [...fileErrors, 'range_not_satisfiable', 'capacity_reached'],
  handle: (deps, { params: { path }, context }) => answerWith(deps, path, context),
});

export const readRoot = route({
  operation: 'agentSandbox.readRoot',
  method: 'GET',
  path: '/v1/files',
  summary: 'List the root',
  raw: found,
  errors: fileErrors,
  handle: (deps, { context }) => answerWith(deps, '', context),
});

async function answerWith(
  deps: AgentSandboxDeps,
  given: string,
  { headers, signal }: RequestContext,
): Promise<Response | RawReply> {
  const path = await confine(deps.files, deps.root, given);
  const { isDirectory } = await statFile(deps.files, { path, user: null, followSymlinks: true });
  if (isDirectory)
    return Response.json({ path: `/${given.replace(/^\/+/, '')}`, entries: await entriesOf(deps, path, signal) });
  const download = await openConfined(deps.files, deps.root, path);
  return await fileReply(download, 'application/octet-stream', headers);
}

const octalDigits = 8;

export const write = route({
  operation: 'agentSandbox.write',
  method: 'PUT',
  path: '/v1/files/{path...}',
  summary: 'Write a file in one step; parents are made',
  params,
  query: z.object({
    mode: z
      .string()
      .regex(/^0[0-7]{3}$/)
      .default('0644')
      .describe('Four octal digits.'),
  }),
  content: {
    'application/octet-stream': z.string().meta({ format: 'binary' }),
    'multipart/form-data': z.object({ file: z.string().meta({ format: 'binary' }) }),
  },
  raw: { contentType: [], description: 'It is written.', status: 204 },
  errors: [...fileErrors, 'malformed_request', 'no_space_left'],
  async handle(deps, { params: { path: given }, query, content, context }) {
    const path = await confine(deps.files, deps.root, given);
    await using upload = new Upload(deps.files, null, 'temporary');
    upload.setPath(path);
    await upload.receive('', fileOf(content, context.headers.get('content-type') ?? ''));
    await upload.land({ mode: Number.parseInt(query.mode, octalDigits) });
    return new Response(null, { status: 204 });
  },
});

/** The body, or the part `file` of a form. */
async function* fileOf(content: AsyncIterable<Uint8Array>, type: string): AsyncGenerator<Uint8Array> {
  if (!isForm(type)) return yield* content;
  let hasFile = false;
  for await (const part of formParts(content, type, 'file')) {
    if (part.kind !== 'file') continue;
    if (part.name === 'file' && !hasFile) {
      hasFile = true;
      yield* part.pieces;
    } else for await (const _ of part.pieces);
  }
  if (!hasFile) throw new CoreError('bad_argument', 'the form has no part called file');
}

/** What Go reads as a boolean. */
const truths = ['1', 't', 'T', 'true', 'TRUE', 'True'] as const;
const falsehoods = ['0', 'f', 'F', 'false', 'FALSE', 'False'] as const;

export const remove = route({
  operation: 'agentSandbox.remove',
  method: 'DELETE',
  path: '/v1/files/{path...}',
  summary: 'Remove a file, a link or a directory',
  params,
  query: z.object({ recursive: z.enum([...truths, ...falsehoods]).default('false') }),
  raw: { contentType: [], description: 'It is removed. Of the root, all it contained.', status: 204 },
  errors: [...fileErrors, 'file_exists'],
  async handle(deps, { params: { path: given }, query, context }) {
    const path = await confine(deps.files, deps.root, given, 'link');
    const recursive = truths.some((word) => word === query.recursive);
    if (path !== deps.root) await deleted(deps, path, recursive);
    else if (!recursive) throw new CoreError('file_exists', 'the root can only be emptied, with recursive=true');
    else for (const { path: child } of await allIn(deps, path, context.signal)) await deleted(deps, child, true);
    return new Response(null, { status: 204 });
  },
});

async function deleted({ files }: AgentSandboxDeps, path: string, recursive: boolean): Promise<void> {
  try {
    await deletePath(files, { path, user: null, recursive });
  } catch (error) {
    if (!(error instanceof FileFailure) || error.errnoName !== 'ENOTEMPTY') throw error;
    throw new CoreError('file_exists', error.message);
  }
}
