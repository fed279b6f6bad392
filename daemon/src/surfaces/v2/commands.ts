/** The v2 routes of the commands plane: wire shapes in, one core call each, views out. */
import { z } from 'zod';
import { createHash } from '../../kit/crypto.ts';
import { commandStatuses, type Command } from '../../core/commands/command.ts';
import { signalNames } from '../../core/commands/kill.ts';
import { summarize, type OutputSummary } from '../../core/commands/output.ts';
import { unreadNow } from '../../core/commands/refusal.ts';
import type { CommandSpec, StdinSource } from '../../core/commands/launcher.ts';
import { shellNames } from '../../core/commands/shell.ts';
import { Answer } from '../../kit/answer.ts';
import { NdjsonStream } from '../../http/stream/ndjson.ts';
import { mapEach, prepend } from '../../kit/async-sequences.ts';
import { Deadline } from '../../kit/deadline.ts';
import { installAdvice } from '../../kit/text/install-advice.ts';
import type { LongText } from '../../kit/text/long-text.ts';
import { route, type V2Deps } from './app.ts';
import { differs, sameValue } from '../../http/route/same-value.ts';
import { clientId, cols, environment, oneOf, rows, seconds, systemText } from '../../operations/inputs.ts';
import {
  CommandLine,
  CommandOutput,
  CommandRecord,
  CommandResult,
  commandLine,
  commandOutput,
  commandRecord,
  commandResult,
  outputLines,
  type WireLine,
} from './views.ts';

/** The keeper counts milliseconds in 32 bits. */
const hardSeconds = z.number().min(0).max(4_294_967);
const amount = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const Stdin = z.union([
  z.enum(['pipe', 'null']),
  z
    .object({ data: z.string().optional(), data_base64: z.base64().optional() })
    .refine(
      ({ data, data_base64: encoded }) => (data === undefined) !== (encoded === undefined),
      'needs data or data_base64',
    )
    .meta({
      anyOf: [{ required: ['data'] }, { required: ['data_base64'] }],
      not: { required: ['data', 'data_base64'] },
    }),
]);

/** The path parameters of every route of one command. */
const CommandPath = z.object({ command_id: clientId });

const RunBody = z
  .object({
    command: systemText.min(1).describe('Script for the shell, or the program when shell is none.'),
    shell: z.enum(shellNames).default('auto').describe('auto is bash, else sh; none runs a program with args.'),
    args: z.array(systemText).default([]).describe('Arguments; only with shell none.'),
    cwd: systemText.min(1).optional().describe('Working directory; the workspace otherwise.'),
    user: systemText
      .min(1)
      .optional()
      .describe('Account to run as: a name, a uid or uid:gid; the default account otherwise.'),
    session: clientId.optional().describe('A command session.'),
    session_id: clientId.optional().describe('An alias of session.'),
    env: environment.default({}).describe('Environment, kept by the session where there is one; null unsets.'),
    mode: z.enum(['sync', 'async']).default('sync').describe('sync waits for the end, async answers at once.'),
    timeout: seconds
      .optional()
      .describe('Seconds that a sync call waits; then the answer is running and the command continues.'),
    hard_timeout: hardSeconds.optional().describe('Seconds after which the whole process tree is ended.'),
    max_output_length: z
      .int()
      .min(0)
      .default(50_000)
      .describe('Characters per stream in this answer; a longer text is cut in the middle. 0 cuts nothing.'),
    output: z.boolean().default(true).describe('false leaves output out of the answer; stdout and stderr stay.'),
    command_id: clientId.optional().describe('The caller’s own id: the same id and body never start a second command.'),
    merge: z.boolean().default(false).describe('Standard error into standard output, as one exact stream.'),
    limits: z
      .object({ memory_bytes: amount, cpu_seconds: amount, open_files: amount, processes: amount, file_bytes: amount })
      .default({})
      .describe('Resource limits of each process.'),
    stdin: Stdin.optional().describe(
      'pipe (open for POST …/stdin), null (the end of input), or the data to write before it is closed. ' +
        'By default pipe with mode async, else null.',
    ),
    terminal: z
      .object({ cols, rows })
      .optional()
      .describe('Run at a terminal of this size: all three streams are it, and its output is stdout.'),
  })
  .superRefine(sameValue('session', 'session_id'))
  .superRefine(({ stdin, terminal }, context) => {
    if (terminal && stdin !== undefined && stdin !== 'pipe')
      context.addIssue({ code: 'custom', path: ['stdin'], message: 'must be pipe or absent where terminal is given' });
  })
  .meta(oneOf('session', 'session_id'));
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
  async handle({ commands, closing }, { body, context }) {
    const { command, isReplay } = await commands.start(commandSpec(body));
    context.note.account = command.note.user;
    context.about(command.id);
    if (body.mode === 'sync') await waitForEnd(command, body.timeout, context.signal, closing);
    const output = await summarize(command, body.max_output_length, body.output);
    // Repeated with the id, the request does not run it again. Without an id, a failure would make clients do just that.
    if (output.unread !== null && body.command_id !== undefined) throw unreadNow(command.id, output.unread);
    const result = commandResult(command, output, { isReplay, hasOutput: body.output });
    const message = describeAnswer(command, { isReplay, isStopping: closing.aborted });
    return new Answer(result, { message, hint: unreadHint(command, output) ?? nextStep(command, result) });
  },
});

const ReadQuery = z.object({
  offset: z.int().min(0).default(0).describe('Position in stdout to read from, in bytes; at most 2^53 − 1.'),
  stderr_offset: z.int().min(0).default(0).describe('Position in stderr to read from, in bytes; at most 2^53 − 1.'),
  wait: z.boolean().default(false).describe('Wait for new output or the end.'),
  wait_timeout: z.number().min(0).max(300).default(30).describe('Seconds to wait at most.'),
  limit_bytes: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024)
    .describe('Bytes of each stream at most; one character is answered where none fits.'),
  stream: z.boolean().default(false).describe('Stream NDJSON, as Accept: application/x-ndjson does.'),
  encoding: z
    .enum(['utf-8', 'base64', 'auto', 'bytes'])
    .default('utf-8')
    .describe(
      'Encoding of the streamed output; auto is text where a piece is UTF-8, else base64; bytes come as they are, after a line with their number.',
    ),
});

const heartbeatMs = 15_000;

export const readCommand = route({
  operation: 'commands.read',
  method: 'GET',
  path: '/v2/commands/{command_id}',
  summary: 'Read the output and the state of a command, at once or as a stream',
  params: CommandPath,
  query: ReadQuery,
  data: CommandOutput,
  lines: CommandLine,
  errors: ['command_not_found', 'capacity_reached', 'unavailable'],
  async handle(deps, { params, query, context }) {
    const command = deps.commands.get(params.command_id);
    const from = { stdout: query.offset, stderr: query.stderr_offset };
    if (query.stream || context.headers.get('accept')?.includes('application/x-ndjson')) {
      return new NdjsonStream((signal) => streamLines(deps, command, from, query.encoding, signal));
    }
    using deadline = new Deadline(null, context.signal, deps.closing);
    const result = await deps.commands.read(command, {
      offsets: from,
      limitBytes: query.limit_bytes,
      waitMs: query.wait ? query.wait_timeout * 1000 : 0,
      signal: deadline.signal,
    });
    const output = commandOutput(command, result);
    return new Answer(output, { message: describeState(command), hint: nextStep(command, output) });
  },
});

export const listCommands = route({
  operation: 'commands.list',
  method: 'GET',
  path: '/v2/commands',
  summary: 'List commands in the order of their start',
  query: z.object({
    status: z.enum(commandStatuses).optional().describe('Only commands with this status.'),
    session: clientId.optional().describe('Only commands of this session.'),
  }),
  data: z.object({ commands: z.array(CommandRecord) }),
  handle({ commands }, { query }) {
    const found = commands.list({ status: query.status ?? null, sessionId: query.session ?? null });
    return { commands: found.map(commandRecord) };
  },
});

const StdinBody = z
  .object({
    input: z.string().default('').describe('Text to write, as UTF-8.'),
    input_base64: z.base64().optional().describe('Bytes to write, in place of input.'),
    eof: z.boolean().default(false).describe('Close standard input after this data.'),
    offset: z.int().min(0).optional().describe('Number of bytes sent before; makes a retry safe.'),
  })
  .superRefine(({ input, input_base64: encoded }, context) => {
    if (input === '' || encoded === undefined || Buffer.from(encoded, 'base64').equals(Buffer.from(input))) return;
    context.addIssue({ code: 'custom', path: ['input_base64'], message: differs('input') });
  })
  .meta(oneOf('input', 'input_base64'));

export const writeStdin = route({
  operation: 'commands.write_stdin',
  method: 'POST',
  path: '/v2/commands/{command_id}/stdin',
  summary: 'Write to the standard input of a command',
  params: CommandPath,
  body: StdinBody,
  fieldsToRepeat: ({ inputOffset }) => (inputOffset === undefined ? {} : { offset: inputOffset }),
  data: z.object({
    accepted_bytes: z.int().describe('Bytes accepted by this call.'),
    offset: z.int().describe('Bytes accepted by all calls; pass it to the next one.'),
  }),
  errors: ['command_not_found', 'stdin_closed', 'bad_argument'],
  async handle({ commands }, { params, body, context }) {
    const bytes = body.input_base64 === undefined ? Buffer.from(body.input) : Buffer.from(body.input_base64, 'base64');
    const { acceptedBytes, offset } = await commands.writeInput(params.command_id, {
      bytes,
      isEnd: body.eof,
      offset: body.offset ?? null,
      signal: context.signal,
    });
    const hint =
      acceptedBytes < bytes.length ? 'The command does not read; send the rest again from this offset.' : null;
    return new Answer({ accepted_bytes: acceptedBytes, offset }, { hint });
  },
});

export const resizeCommand = route({
  operation: 'commands.resize',
  method: 'POST',
  path: '/v2/commands/{command_id}/resize',
  summary: 'Resize the terminal of a command',
  params: CommandPath,
  body: z.object({ cols, rows }),
  data: z.object({ cols, rows }),
  errors: ['command_not_found', 'bad_argument', 'terminal_ended'],
  handle({ commands }, { params, body }) {
    commands.resize(params.command_id, body);
    return body;
  },
});

export const killCommand = route({
  operation: 'commands.kill',
  method: 'POST',
  path: '/v2/commands/{command_id}/kill',
  summary: 'Send a signal to a command',
  params: CommandPath,
  body: z.object({
    signal: z.enum(signalNames).default('SIGTERM'),
    tree: z.boolean().default(true).describe('Every process that it has started, wherever it went.'),
  }),
  data: z.object({
    signalled: z.int().optional().describe('How many processes were sent the signal.'),
    survivors: z.array(z.int()).optional().describe('Pids that are still alive a moment later.'),
  }),
  errors: ['command_not_found', 'not_implemented'],
  async handle({ commands }, { params, body }) {
    const killed = await commands.kill(params.command_id, body.signal, body.tree);
    if (!killed) return new Answer({}, { message: 'The command has ended' });
    const hint = killed.survivors.length > 0 ? 'SIGKILL ends those who ignore other signals.' : null;
    return new Answer({ signalled: killed.signalled, survivors: [...killed.survivors] }, { hint });
  },
});

export const deleteCommand = route({
  operation: 'commands.delete',
  method: 'DELETE',
  path: '/v2/commands/{command_id}',
  summary: 'End a command with its descendants, and delete its record',
  params: CommandPath,
  data: z.object({ command_id: z.string() }),
  errors: ['command_not_found', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ commands }, { params }) {
    await commands.delete(params.command_id);
    return { command_id: params.command_id };
  },
});

function streamLines(
  { commands, closing }: V2Deps,
  command: Command,
  from: { stdout: number; stderr: number },
  encoding: keyof typeof outputLines,
  signal: AbortSignal,
): AsyncIterable<WireLine | Uint8Array> {
  const start: WireLine = { type: 'start', command_id: command.id, pid: command.pid };
  const options = { from, rendering: outputLines[encoding], silenceMs: heartbeatMs, signal, closing };
  const lines = mapEach(commands.follow(command, options), (event) =>
    event.kind === 'bytes' ? event.rendered : commandLine(event),
  );
  return prepend<WireLine | Uint8Array>(start, lines);
}

/** The command continues when the wait ends for any reason. Only a verb, a limit or a shutdown ends a command. */
async function waitForEnd(
  command: Command,
  timeout: number | undefined,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  using deadline = new Deadline(timeout === undefined ? null : timeout * 1000, ...signals);
  await command.finished(deadline.signal);
}

function commandSpec(body: RunRequest): CommandSpec {
  return {
    id: body.command_id ?? null,
    fingerprint: body.command_id === undefined ? null : fingerprintOf(body),
    sessionId: body.session ?? body.session_id ?? null,
    command: body.command,
    shell: body.shell,
    args: body.args,
    cwd: body.cwd ?? null,
    user: body.user ?? null,
    env: body.env,
    hardTimeoutMs: body.hard_timeout === undefined ? null : Math.max(1, Math.round(body.hard_timeout * 1000)),
    merge: body.merge,
    isAwaited: body.mode === 'sync',
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

/** If the request does not mention stdin, a program that reads it must not hang in a call that waits for its end. */
function stdinSource({ stdin, mode, terminal }: RunRequest): StdinSource {
  if (terminal) return { kind: 'terminal', size: terminal };
  if (stdin === undefined) return { kind: mode === 'async' ? 'pipe' : 'null' };
  if (typeof stdin === 'string') return { kind: stdin };
  return {
    kind: 'bytes',
    bytes: stdin.data === undefined ? Buffer.from(stdin.data_base64 ?? '', 'base64') : Buffer.from(stdin.data),
  };
}

/** Two requests are the same if they differ only in how long the caller waits and how much it reads. */
function fingerprintOf(request: RunRequest): string {
  const { mode: _mode, timeout: _timeout, max_output_length: _length, output: _output, ...rest } = request;
  return createHash('sha256').update(JSON.stringify(rest, sortKeys)).digest('hex');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function describeState(command: Command): string {
  const { status, exit_code: exitCode, signal, error, pid } = commandRecord(command);
  if (status === 'completed') return `Command completed with exit code ${exitCode}`;
  if (status === 'failed') return `Command could not start: ${error?.message ?? 'unknown reason'}`;
  if (status === 'lost') return 'The keeper of the command was killed; its exit code is not known';
  if (status === 'running') return 'Command is running';
  if (status === 'killed' && pid === null) return `Command was killed (${signal}) before it started`;
  return `Command ${status === 'killed' ? 'was killed' : 'timed out'}${signal ? ` (${signal})` : ''}`;
}

interface AnswerState {
  /** An earlier request started the command. */
  readonly isReplay: boolean;
  /** The daemon has received SIGTERM. */
  readonly isStopping: boolean;
}

function describeAnswer(command: Command, { isReplay, isStopping }: AnswerState): string {
  const started = isReplay ? `; an earlier request started it at ${commandRecord(command).started_at}` : '';
  const stopping = isStopping && command.isRunning ? '; the daemon is stopping and did not wait for the end' : '';
  return `${describeState(command)}${started}${stopping}`;
}

function unreadHint({ id }: Command, { unread }: OutputSummary): string | null {
  return unread === null ? null : `Its output could not be read (${unread}); GET /v2/commands/${id} reads it.`;
}

function nextStep(command: Command, part: Part) {
  const { child, id, isRunning, state } = command;
  const { stdout, stderr, offset, stderr_offset: end, truncated } = part;
  if (!isRunning) {
    const advice = state.exitCode ? installAdvice(shortText(stdout) + shortText(stderr), state.exitCode) : null;
    return (
      advice ?? (truncated ? `GET /v2/commands/${id} reads the output from its beginning, 1 MiB at a time.` : null)
    );
  }
  const path = `/v2/commands/${id}?wait=true&offset=${offset}&stderr_offset=${end}`;
  const input = child.stdin.isOpen
    ? `POST /v2/commands/${id}/stdin passes input.`
    : 'It has no open standard input; mode async or stdin "pipe" starts a command with one.';
  return `GET ${path} reads on; add stream=true to follow it. ${input}`;
}

/** The output of an answer, and where the rest begins. */
interface Part {
  readonly stdout: string | LongText;
  readonly stderr: string | LongText;
  readonly offset: number;
  readonly stderr_offset: number;
  /** Something is left out between the texts. Only the answer of a start says so. */
  readonly truncated?: boolean;
}

/** A long text is not searched: an error that ends a program is short. */
function shortText(text: string | LongText): string {
  return typeof text === 'string' ? text : '';
}
