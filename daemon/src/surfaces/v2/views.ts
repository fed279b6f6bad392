/** The wire shapes of the v2 resources, each built from one core record. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { commandStatuses, type Command } from '../../core/commands/command.ts';
import type { OutputChunk, Rendering } from '../../core/commands/output-chunk.ts';
import type { FollowEvent, OutputSummary } from '../../core/commands/output.ts';
import type { ReadResult } from '../../core/commands/read.ts';
import type { Session } from '../../core/commands/sessions.ts';
import { writeTextLine } from '../../http/stream/ndjson.ts';
import { outputText } from '../../http/stream/output-text.ts';
import { namedObject } from '../../operations/inputs.ts';

const offset = z.int().min(0).describe('Absolute position in the stream, in bytes.');
const time = z.string().nullable().describe('RFC 3339, UTC.');

export const StartError = namedObject('StartError', {
  stage: z.string().describe('The step that failed, for example exec.'),
  errno: z.int(),
  errno_name: z.string(),
  message: z.string(),
});

export const CommandRecord = namedObject('Command', {
  command_id: z.string(),
  session_id: z.string().nullable(),
  command: z.string().describe('At most 16384 characters; a longer script ends in “…” here and runs whole.'),
  args: z
    .array(z.string())
    .describe('Arguments with shell none; at most 16384 characters together, then “…” stands for the rest.'),
  status: z.enum(commandStatuses),
  exit_code: z.int().nullable().describe('128 + signal after a death by signal; null while running or unknown.'),
  signal: z.string().nullable(),
  pid: z.int().nullable(),
  user: z.string(),
  cwd: z.string(),
  has_terminal: z.boolean().describe('It runs at a terminal, whose output is stdout.'),
  started_at: time,
  ended_at: time,
  duration_ms: z.number().nullable(),
  oom_killed: z.boolean().nullable().describe('null when it is unknown.'),
  streams_open: z.boolean().describe('A process still holds an output pipe.'),
  error: StartError.nullable().describe('Why the command could not start; null otherwise.'),
});

export const CommandResult = CommandRecord.extend({
  stdout: outputText,
  stderr: outputText,
  output: outputText.optional().describe('Both streams in the order they were read; not with output false.'),
  offset: offset.describe('End of stdout in this answer.'),
  stderr_offset: offset.describe('End of stderr in this answer.'),
  truncated: z.boolean().describe('The texts are incomplete; read the rest by offset.'),
  replayed: z.boolean().describe('The command_id was used for this request before; nothing was started now.'),
}).meta({ id: 'CommandResult' });

export const Gap = z
  .object({ stream: z.enum(['stdout', 'stderr']), from: offset, to: offset })
  .meta({ id: 'Gap', description: 'Bytes that are no longer kept.' });

export const CommandOutput = namedObject('CommandOutput', {
  stdout: outputText,
  stderr: outputText,
  offset: offset.describe('Offset for the next read of stdout.'),
  stderr_offset: offset.describe('Offset for the next read of stderr.'),
  gaps: z.array(Gap),
  command: CommandRecord,
});

const outputLine = {
  offset: offset.describe('Position of the first byte.'),
  next: offset.describe('The offset to resume from.'),
  data: z.string().optional().describe('As UTF-8; other bytes show as U+FFFD.'),
  data_base64: z
    .string()
    .optional()
    .describe('Loss-free, with encoding base64, and with auto where the piece is not UTF-8.'),
  bytes: z
    .int()
    .min(0)
    .optional()
    .describe('With encoding bytes: so many bytes of the stream follow the newline of this line, as they are.'),
};
const positions = { offset, stderr_offset: offset };

export const CommandLine = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('start'), command_id: z.string(), pid: z.int().nullable() }),
    z.object({ type: z.literal('stdout'), ...outputLine }),
    z.object({ type: z.literal('stderr'), ...outputLine }),
    z.object({ type: z.literal('gap'), stream: z.enum(['stdout', 'stderr']), from: offset, to: offset }),
    z.object({ type: z.literal('heartbeat'), ...positions }),
    z.object({
      type: z.literal('exit'),
      status: z.enum(commandStatuses),
      exit_code: z.int().nullable(),
      signal: z.string().nullable(),
      ...positions,
    }),
    z.object({ type: z.literal('closing'), ...positions }),
  ])
  .meta({ id: 'CommandLine' });

export function commandRecord(command: Command): z.input<typeof CommandRecord> {
  const { note, state, startedMs } = command;
  return {
    command_id: command.id,
    session_id: note.sessionId,
    command: note.command,
    args: [...note.args],
    status: state.status,
    exit_code: state.exitCode,
    signal: state.signal,
    pid: command.pid,
    user: note.user,
    cwd: note.cwd,
    has_terminal: note.hasTerminal,
    started_at: timestamp(startedMs),
    ended_at: timestamp(state.endedMs),
    duration_ms: state.endedMs === null ? null : Math.max(0, Math.round((state.endedMs - startedMs) * 1000) / 1000),
    oom_killed: state.oomKilled,
    streams_open: !command.isRunning && command.child.streamsOpen,
    error: state.failure && {
      stage: state.failure.stage,
      errno: state.failure.errno,
      errno_name: state.failure.errnoName,
      message: state.failure.message,
    },
  };
}

export function commandResult(
  command: Command,
  { stdout, stderr, output, offsets, truncated }: OutputSummary,
  { isReplay, hasOutput }: { readonly isReplay: boolean; readonly hasOutput: boolean },
): z.input<typeof CommandResult> {
  return {
    ...commandRecord(command),
    stdout,
    stderr,
    ...(hasOutput && { output }),
    offset: offsets.stdout,
    stderr_offset: offsets.stderr,
    truncated,
    replayed: isReplay,
  };
}

export function commandOutput(command: Command, { stdout, stderr }: ReadResult): z.input<typeof CommandOutput> {
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    offset: stdout.next,
    stderr_offset: stderr.next,
    gaps: [
      ...stdout.gaps.map((gap) => ({ stream: 'stdout' as const, ...gap })),
      ...stderr.gaps.map((gap) => ({ stream: 'stderr' as const, ...gap })),
    ],
    command: commandRecord(command),
  };
}

export type WireLine = z.input<typeof CommandLine>;
type OutputLine = Extract<WireLine, { type: 'stdout' | 'stderr' }>;

const asText: Rendering['render'] = ({ stream, offset, bytes }, into) => {
  const line: OutputLine = { type: stream, offset, next: offset + bytes.length };
  return writeTextLine(into, line, 'data', bytes);
};
const asBase64: Rendering['render'] = ({ stream, offset, bytes }, into) => {
  const line: OutputLine = { type: stream, offset, next: offset + bytes.length };
  return writeTextLine(into, line, 'data_base64', Buffer.from(Buffer.from(bytes).toString('base64')));
};

/** A reader copies these, and neither end looks at each of them. */
const asBytes: Rendering['render'] = ({ stream, offset, bytes }, into) => {
  const line: OutputLine = { type: stream, offset, next: offset + bytes.length, bytes: bytes.length };
  const at = into.write(`${JSON.stringify(line)}\n`);
  into.set(bytes, at);
  return at + bytes.length;
};

/** The output lines for each encoding that a client can request. */
export const outputLines = {
  'utf-8': { name: 'v2 utf-8', wholeCharacters: true, render: asText },
  base64: { name: 'v2 base64', wholeCharacters: false, render: asBase64 },
  /** As lossless as base64. Text is a third shorter, and faster at both ends. */
  auto: {
    name: 'v2 auto',
    wholeCharacters: false,
    render: (piece, into) => (isUtf8(piece.bytes) ? asText : asBase64)(piece, into),
  },
  bytes: { name: 'v2 bytes', wholeCharacters: false, render: asBytes },
} as const satisfies Record<string, Rendering>;

export function commandLine(event: Exclude<FollowEvent, OutputChunk>): WireLine {
  switch (event.kind) {
    case 'gap':
      return { type: 'gap', stream: event.stream, from: event.from, to: event.to };
    case 'silence':
      return { type: 'heartbeat', ...positionsOf(event) };
    case 'closing':
      return { type: 'closing', ...positionsOf(event) };
    case 'exit': {
      const { status, exitCode, signal } = event.state;
      return { type: 'exit', status, exit_code: exitCode, signal, ...positionsOf(event) };
    }
  }
}

function positionsOf({ offsets }: { offsets: { stdout: number; stderr: number } }) {
  return { offset: offsets.stdout, stderr_offset: offsets.stderr };
}

function timestamp(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export const SessionRecord = namedObject('CommandSession', {
  session_id: z.string(),
  status: z.literal('ready'),
  working_dir: z.string(),
  env_keys: z.array(z.string()).describe('Names of its variables; their values stay secret.'),
  user: z.string(),
  created_at: z.string(),
  last_used_at: z.string(),
  current_command: z.string().nullable().describe('The id of the command that runs in it.'),
  command_count: z.int(),
});

export function sessionRecord(session: Session, current: Command | null): z.input<typeof SessionRecord> {
  return {
    session_id: session.id,
    status: 'ready',
    working_dir: session.cwd,
    env_keys: Object.keys(session.env).filter((name) => session.env[name] !== null),
    user: session.account,
    created_at: new Date(session.createdMs).toISOString(),
    last_used_at: new Date(session.lastUsedMs).toISOString(),
    current_command: current?.id ?? null,
    command_count: session.commandCount,
  };
}
