/** The wire shapes of 1.x commands and their sessions, and the functions that build them. */
import { z } from 'zod';
import type { Command } from '../../core/commands/command.ts';
import type { ReadResult } from '../../core/commands/read.ts';
import { noOutput, type OutputSummary } from '../../core/commands/output.ts';
import type { Session } from '../../core/commands/sessions.ts';
import { outputText } from '../../http/stream/output-text.ts';
import { namedObject } from '../../operations/inputs.ts';

const CommandStatus = z
  .enum(['pending', 'running', 'completed', 'timed_out', 'killed'])
  .meta({ id: 'CommandStatus', description: 'completed is an end by itself, whatever its exit code.' });

type Status = z.input<typeof CommandStatus>;

const exitCode = z.int().nullable().describe('Exit code of a completed command; null otherwise.');

export const BashExecResult = namedObject('BashExecResult', {
  session_id: z.string(),
  command_id: z.string(),
  command: z.string(),
  status: CommandStatus,
  stdout: outputText.nullable(),
  stderr: outputText.nullable().describe('null when there is none.'),
  exit_code: exitCode,
  offset: z.int().describe('In bytes of stdout: where to read on.'),
  stderr_offset: z.int().describe('As offset, for stderr.'),
});

const BashCommandInfo = namedObject('BashCommandInfo', {
  command_id: z.string(),
  command: z.string(),
  status: CommandStatus,
  exit_code: exitCode,
});

export const BashOutputResult = namedObject('BashOutputResult', {
  session_id: z.string(),
  stdout: outputText,
  stderr: outputText,
  offset: z.int(),
  stderr_offset: z.int(),
  command: BashCommandInfo.nullable().describe('The command of this output; null before the first command.'),
});

const timestamp = z.string().meta({ format: 'date-time' });

const SessionStatus = z.enum(['ready', 'closed']).meta({ id: 'SessionStatus' });

export const BashSessionInfo = namedObject('BashSessionInfo', {
  session_id: z.string(),
  status: SessionStatus,
  working_dir: z.string().describe('Directory of the next command.'),
  created_at: timestamp,
  last_used_at: timestamp,
  current_command: z.string().nullable().describe('The newest running command.'),
  command_count: z.int(),
});

export function execResult(
  command: Command,
  { stdout, stderr, offsets }: OutputSummary,
): z.input<typeof BashExecResult> {
  return {
    session_id: command.note.sessionId ?? '',
    ...commandInfo(command),
    stdout,
    stderr: stderr || null,
    offset: offsets.stdout,
    stderr_offset: offsets.stderr,
  };
}

/** For a command that the call did not wait for: reports it as running, even if it has ended since. */
export function startedResult(command: Command): z.input<typeof BashExecResult> {
  const result = execResult(command, noOutput);
  return command.state.failure ? result : { ...result, status: 'running', exit_code: null };
}

export function outputResult(
  sessionId: string,
  command: Command,
  { stdout, stderr }: ReadResult,
): z.input<typeof BashOutputResult> {
  return {
    session_id: sessionId,
    stdout: stdout.text,
    stderr: stderr.text,
    offset: stdout.next,
    stderr_offset: stderr.next,
    command: commandInfo(command),
  };
}

function commandInfo({ id, note, state }: Command): z.input<typeof BashCommandInfo> {
  const status = statuses[state.status];
  return { command_id: id, command: note.command, status, exit_code: status === 'completed' ? state.exitCode : null };
}

/** 1.x reports every command as killed that ended neither by itself nor by its hard timeout (1.x, CommandStatus). */
const statuses: Readonly<Record<Command['state']['status'], Status>> = {
  running: 'running',
  completed: 'completed',
  timed_out: 'timed_out',
  killed: 'killed',
  failed: 'killed',
  lost: 'killed',
};

export function sessionInfo(
  session: Session,
  status: z.input<typeof SessionStatus>,
  current: Command | null,
): z.input<typeof BashSessionInfo> {
  return {
    session_id: session.id,
    status,
    working_dir: session.cwd,
    created_at: new Date(session.createdMs).toISOString(),
    last_used_at: new Date(session.lastUsedMs).toISOString(),
    current_command: current?.note.command ?? null,
    command_count: session.commandCount,
  };
}
