/** The five routes of the older interface, which the other configurations of the clients speak. */
import { z } from 'zod';
import { constants } from 'node:os';
import { confine, openConfined } from '../../core/files/confine.ts';
import { statFile, type FileStat } from '../../core/files/read/stat.ts';
import { Upload } from '../../core/files/write/upload.ts';
import type { CommandState } from '../../core/commands/command.ts';
import { formParts } from '../../http/body/multipart.ts';
import { fileReply } from '../../http/file/file-reply.ts';
import { routesFor } from '../../http/route/route.ts';
import { Deadline } from '../../kit/deadline.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import { decodeUtf8 } from '../../kit/text/text.ts';
import type { AgentSandboxDeps } from './app.ts';
import { abandon, begin, outputOf } from './commands.ts';
import { shownIn } from './entries.ts';
import { showName } from '../../kit/text/path-text.ts';
import { shellWords } from './shell-words.ts';

const route = routesFor<AgentSandboxDeps>();
const fileErrors = ['forbidden', 'bad_argument', 'file_not_found', 'file_permission_denied', 'file_io_error'] as const;
const params = z.object({ path: z.string() });
const json = (description: string) => ({ contentType: 'application/json', description });

export const ready = route({
  operation: 'agentSandboxLegacy.ready',
  method: 'GET',
  path: '/',
  summary: 'Whether the daemon serves',
  raw: json('`status` is `ok`.'),
  handle: () => Response.json({ status: 'ok', message: 'Sandbox Runtime is active.' }),
});

const usualSeconds = 300;
/** The exit code of timeout(1). */
const timedOutCode = 124;

export const execute = route({
  operation: 'agentSandboxLegacy.execute',
  method: 'POST',
  path: '/execute',
  summary: 'Run a command without a shell',
  body: z.object({ command: z.string(), timeout_seconds: z.number().positive().nullish() }),
  raw: json('`stdout`, `stderr`, `exit_code` and `timed_out`.'),
  errors: ['bad_argument', 'capacity_reached', 'unavailable'],
  async handle(deps, { body, context: { signal, body: limits } }) {
    const limitMs = (body.timeout_seconds ?? usualSeconds) * 1000;
    const wanted = { env: {}, cwd: '', stdin: { kind: 'null' }, limitMs, isAwaited: true } as const;
    const command = await begin(deps, { ...wanted, argv: shellWords(body.command) });
    const { failure } = command.state;
    if (failure)
      return Response.json({
        stdout: '',
        stderr: `Failed to execute command: ${failure.message}`,
        exit_code: 1,
        timed_out: false,
      });
    using wait = new Deadline(limitMs, signal, deps.closing);
    await command.finished(wait.signal);
    if (command.isRunning && signal.aborted) abandon(deps, command);
    if (command.isRunning && deps.closing.aborted) throw new CoreError('unavailable', 'the daemon is stopping');
    const isTimedOut = command.isRunning || command.state.status === 'timed_out';
    const { ends } = command.child;
    using _held = limits.room.admit((ends[0] + ends[1]) * copies);
    return Response.json({
      stdout: decodeUtf8(outputOf(command, 'stdout')),
      stderr: decodeUtf8(outputOf(command, 'stderr')),
      exit_code: isTimedOut ? timedOutCode : exitCodeOf(command.state),
      timed_out: isTimedOut,
    });
  },
});

/** Bytes on their way to the client: read, as text, and as JSON. */
const copies = 5;

/** As Python has it: minus the number of the signal. */
function exitCodeOf({ exitCode, signal }: CommandState): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  if (signal !== null) return -(numbers[signal] ?? 1);
  if (exitCode === null) throw new CoreError('unavailable', 'the keeper of the command was killed');
  return exitCode;
}

export const upload = route({
  operation: 'agentSandboxLegacy.upload',
  method: 'POST',
  path: '/upload',
  summary: 'Write the part `file` of a form under its file name',
  content: { 'multipart/form-data': z.object({ file: z.string().meta({ format: 'binary' }) }) },
  raw: json('`message`'),
  errors: [...fileErrors, 'malformed_request', 'no_space_left'],
  async handle(deps, { content, context }) {
    let name: string | null = null;
    for await (const part of formParts(content, context.headers.get('content-type') ?? '', 'file')) {
      if (part.kind !== 'file') continue;
      if (part.name === 'file' && name === null) {
        name = part.fileName;
        await using one = new Upload(deps.files, null, 'temporary');
        one.setPath(await confine(deps.files, deps.root, name));
        await one.receive('', part.pieces);
        await one.land();
      } else for await (const _ of part.pieces);
    }
    if (name === null) throw new CoreError('bad_argument', 'the form has no part called file');
    return Response.json({ message: `File '${name}' uploaded successfully.` });
  },
});

export const download = route({
  operation: 'agentSandboxLegacy.download',
  method: 'GET',
  path: '/download/{path...}',
  summary: 'Send a file',
  params,
  raw: { contentType: 'application/octet-stream', description: 'The bytes.' },
  errors: fileErrors,
  async handle(deps, { params: { path: given }, context }) {
    const path = await confine(deps.files, deps.root, given);
    if ((await found(deps, path))?.isDirectory !== false) throw new CoreError('file_not_found', 'File not found');
    const file = await openConfined(deps.files, deps.root, path);
    return await fileReply(file, 'application/octet-stream', context.headers);
  },
});

export const listing = route({
  operation: 'agentSandboxLegacy.list',
  method: 'GET',
  path: '/list/{path...}',
  summary: 'List a directory',
  params,
  raw: json('An array of `name`, `size`, `type` and `mod_time`.'),
  errors: fileErrors,
  async handle(deps, { params: { path: given }, context: { signal } }) {
    const path = await confine(deps.files, deps.root, given);
    if (!(await found(deps, path))?.isDirectory) throw new CoreError('file_not_found', 'Path is not a directory');
    const entries = await shownIn(deps, path, signal);
    return Response.json(
      entries.map(({ name, size, isDirectory, modifiedMs }) => ({
        name: showName(name),
        size: size ?? 0,
        type: isDirectory ? 'directory' : 'file',
        mod_time: (modifiedMs ?? 0) / 1000,
      })),
    );
  },
});

export const exists = route({
  operation: 'agentSandboxLegacy.exists',
  method: 'GET',
  path: '/exists/{path...}',
  summary: 'Whether a path exists',
  params,
  raw: json('`path` and `exists`.'),
  errors: fileErrors,
  async handle(deps, { params: { path: given } }) {
    const path = await confine(deps.files, deps.root, given);
    return Response.json({ path: given, exists: (await found(deps, path)) !== null });
  },
});

async function found({ files }: AgentSandboxDeps, path: string): Promise<FileStat | null> {
  return await nullOn('file_not_found', statFile(files, { path, user: null, followSymlinks: true }));
}
