/** The v2 routes of the commands plane: wire shapes in, one core call each, views out. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CommandSpec, StdinSource } from '../../core/commands/commands.ts';
import type { Command } from '../../core/commands/command.ts';
import { follow } from '../../core/commands/output.ts';
import { shellNames } from '../../core/commands/shell.ts';
import { Answer } from '../../http/route.ts';
import { NdjsonStream } from '../../http/ndjson.ts';
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { clientIdPattern } from '../../kit/ids.ts';
import { route, type V2Deps } from './app.ts';
import {
  CommandLine,
  CommandOutput,
  CommandResult,
  commandLine,
  commandOutput,
  commandRecord,
  commandResult,
} from './views.ts';

const reservedIds = new Set(['sessions']);

/** The kernel ends every string at a NUL byte: what lies behind it would be lost without a word. */
const systemText = z.string().refine((text) => !text.includes('\0'), 'must not contain a NUL byte');
const clientId = z
  .string()
  .regex(clientIdPattern)
  .refine((id) => !reservedIds.has(id), 'is a word of a route');
const seconds = z.number().min(0).max(31_536_000);
const variableName = systemText.min(1).refine((name) => !name.includes('='), 'must not contain =');
const amount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const Stdin = z.union([
  z.enum(['pipe', 'null']),
  z.object({ data: z.string() }).strict(),
  z.object({ data_base64: z.base64() }).strict(),
]);

const RunBody = z.object({
  command: systemText.min(1).describe('Script for the shell, or the program when shell is none.'),
  shell: z.enum(shellNames).default('auto').describe('auto is bash, else sh; none runs a program with args.'),
  args: z.array(systemText).default([]).describe('Arguments; only with shell none.'),
  cwd: systemText.min(1).optional().describe('Working directory; the workspace otherwise.'),
  user: systemText
    .min(1)
    .optional()
    .describe('Account to run as: a name, a uid or uid:gid; the default account otherwise.'),
  session: clientId.optional().describe('A command session.'),
  session_id: clientId.optional().describe('The same as session.'),
  env: z.record(variableName, systemText.nullable()).default({}).describe('Environment; null unsets.'),
  mode: z.enum(['sync', 'async']).default('sync').describe('sync waits for the end, async answers at once.'),
  timeout: seconds
    .optional()
    .describe('Seconds that a sync call waits; then the answer is running and the command goes on.'),
  hard_timeout: seconds.optional().describe('Seconds after which the whole process tree is ended.'),
  max_output_length: z
    .number()
    .int()
    .min(0)
    .default(50_000)
    .describe('Characters per stream in this answer; 0 is no limit.'),
  command_id: clientId.optional().describe('The caller’s own id: the same id and body never start a second command.'),
  merge: z.boolean().default(false).describe('Standard error into standard output, as one exact stream.'),
  limits: z
    .object({ memory_bytes: amount, cpu_seconds: amount, open_files: amount, processes: amount, file_bytes: amount })
    .default({})
    .describe('Resource limits of each process.'),
  stdin: Stdin.optional().describe('pipe, null, or the data to write before it is closed.'),
});
type RunRequest = z.output<typeof RunBody>;

export const runCommand = route({
  operation: 'commands.run',
  method: 'POST',
  path: '/v2/commands',
  summary: 'Run a command',
  body: RunBody,
  data: CommandResult,
  errors: [
    'bad_argument',
    'session_not_found',
    'command_id_reused',
    'capacity_reached',
    'unavailable',
    'no_space_left',
  ],
  async handle({ commands }, { body, context }) {
    const { command, isReplay } = await commands.start(commandSpec(body));
    if (body.mode === 'sync') await waitForEnd(command, body.timeout, context.signal);
    return new Answer(commandResult(command, body.max_output_length, isReplay), {
      message: describeState(command),
      hint: nextStep(command),
    });
  },
});

const ReadQuery = z.object({
  offset: z.number().int().min(0).default(0).describe('Position in stdout to read from, in bytes.'),
  stderr_offset: z.number().int().min(0).default(0).describe('Position in stderr to read from, in bytes.'),
  wait: z.boolean().default(false).describe('Wait for new output or the end.'),
  wait_timeout: z.number().min(0).max(300).default(30).describe('Seconds to wait at most.'),
  limit_bytes: z
    .number()
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024)
    .describe('Bytes of each stream at most.'),
  stream: z.boolean().default(false).describe('Stream NDJSON, as Accept: application/x-ndjson does.'),
  encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('Of the streamed output.'),
});

const heartbeatMs = 15_000;

export const readCommand = route({
  operation: 'commands.read',
  method: 'GET',
  path: '/v2/commands/{command_id}',
  summary: 'Read the output and the state of a command, at once or as a stream',
  params: z.object({ command_id: clientId }),
  query: ReadQuery,
  data: CommandOutput,
  lines: CommandLine,
  errors: ['command_not_found'],
  async handle(deps, { params, query, context }) {
    const command = deps.commands.get(params.command_id);
    const from = { stdout: query.offset, stderr: query.stderr_offset };
    if (query.stream || context.headers.get('accept')?.includes('application/x-ndjson')) {
      return new NdjsonStream((signal) => streamLines(deps, command, from, query.encoding, signal));
    }
    const result = await deps.commands.read(command, {
      offsets: from,
      limitBytes: query.limit_bytes,
      waitMs: query.wait ? query.wait_timeout * 1000 : 0,
      signal: context.signal,
    });
    return new Answer(commandOutput(command, result), { message: describeState(command), hint: nextStep(command) });
  },
});

async function* streamLines(
  { closing }: V2Deps,
  command: Command,
  from: { stdout: number; stderr: number },
  encoding: 'utf-8' | 'base64',
  signal: AbortSignal,
): AsyncGenerator<z.input<typeof CommandLine>> {
  yield { type: 'start', command_id: command.id, pid: command.pid };
  const options = { from, wholeCharacters: encoding === 'utf-8', silenceMs: heartbeatMs, signal, closing };
  for await (const event of follow(command, options)) yield commandLine(event, encoding);
}

/** The command goes on when the wait ends, whatever ends it: only a verb, a limit or shutdown ends a command. */
async function waitForEnd(command: Command, timeout: number | undefined, signal: AbortSignal): Promise<void> {
  using deadline = new Deadline(timeout === undefined ? null : timeout * 1000, signal);
  await command.finished(deadline.signal);
}

function commandSpec(body: RunRequest): CommandSpec {
  const sessionId = body.session ?? body.session_id ?? null;
  if (sessionId !== null) {
    throw new CoreError('session_not_found', `no session has the id ${sessionId}`, { hint: 'Leave session out.' });
  }
  return {
    id: body.command_id ?? null,
    fingerprint: body.command_id === undefined ? null : fingerprintOf(body),
    sessionId,
    command: body.command,
    shell: body.shell,
    args: body.args,
    cwd: body.cwd ?? null,
    user: body.user ?? null,
    env: body.env,
    hardTimeoutMs: body.hard_timeout === undefined ? null : Math.max(1, Math.round(body.hard_timeout * 1000)),
    merge: body.merge,
    limits: {
      memoryBytes: body.limits.memory_bytes,
      cpuSeconds: body.limits.cpu_seconds,
      openFiles: body.limits.open_files,
      processes: body.limits.processes,
      fileBytes: body.limits.file_bytes,
    },
    stdin: stdinSource(body),
  };
}

/** Without a word about stdin, a program that looks at it does not hang in a call that waits for its end. */
function stdinSource({ stdin, mode, timeout }: RunRequest): StdinSource {
  if (stdin === undefined) return { kind: mode === 'async' || timeout !== undefined ? 'pipe' : 'null' };
  if (typeof stdin === 'string') return { kind: stdin };
  return { kind: 'bytes', bytes: 'data' in stdin ? Buffer.from(stdin.data) : Buffer.from(stdin.data_base64, 'base64') };
}

/** What makes two requests the same: everything but how long and how much the caller wants to read. */
function fingerprintOf({ mode: _mode, timeout: _timeout, max_output_length: _length, ...rest }: RunRequest): string {
  return createHash('sha256').update(JSON.stringify(rest, sortKeys)).digest('hex');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function describeState(command: Command): string {
  const { status, exit_code: exitCode, signal, error } = commandRecord(command);
  if (status === 'completed') return `Command completed with exit code ${exitCode}`;
  if (status === 'failed') return `Command could not start: ${error?.message ?? 'unknown reason'}`;
  if (status === 'lost') return 'The keeper of the command was killed; its exit code is not known';
  if (status === 'running') return 'Command is running';
  return `Command ${status === 'killed' ? 'was killed' : 'timed out'}${signal ? ` (${signal})` : ''}`;
}

function nextStep(command: Command): string | null {
  if (!command.isRunning) return null;
  return `GET /v2/commands/${command.id}?wait=true reads on; add stream=true to follow it.`;
}
