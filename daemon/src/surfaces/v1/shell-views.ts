/** The wire shapes of 1.x shell sessions and their commands, and the functions that build them. */
import { z } from 'zod';
import { execStatuses, type ExecAnswer } from '../../core/terminals/exec/record.ts';
import type { JobState } from '../../core/terminals/exec/job.ts';
import type { Terminal } from '../../core/terminals/session/terminal.ts';
import { wireId } from './shell-ids.ts';
import { namedObject } from '../../operations/inputs.ts';

const BashCommandStatus = z.enum(execStatuses).meta({ id: 'BashCommandStatus' });

const ConsoleRecord = namedObject('ConsoleRecord', {
  ps1: z.string().describe('The prompt as it was shown.'),
  command: z.string(),
  output: z.string().default('').describe('At most 30000 characters, unless the answer is not to be cut.'),
});

const consoleRecords = z.array(ConsoleRecord).nullable();

export const ShellCommandResult = namedObject('ShellCommandResult', {
  session_id: z.string(),
  command: z.string(),
  status: BashCommandStatus,
  output: z.string().nullable().describe('Plain text; the output so far while the command runs.'),
  console: consoleRecords.describe('This command; view has those before it.'),
  exit_code: z.int().nullable().describe('The exit code of a completed command.'),
});

export const ShellViewResult = namedObject('ShellViewResult', {
  output: z
    .string()
    .describe(
      'Everything the session has shown, as text: the screen and what is above it, from the last 4 MiB of output.',
    ),
  session_id: z.string(),
  console: consoleRecords.describe('The commands that exec ran in the session, the last one last.'),
  status: BashCommandStatus,
  command: z.string().nullable().describe('The running command, or the last one.'),
  exit_code: z.int().nullable(),
});

export const ShellWaitResult = namedObject('ShellWaitResult', { status: BashCommandStatus });
export const ShellWriteResult = namedObject('ShellWriteResult', { status: BashCommandStatus });

export const ShellKillResult = namedObject('ShellKillResult', {
  status: BashCommandStatus,
  exit_code: z.int().nullable().describe('As the shell reported it.'),
  returncode: z.int().nullable().describe('An alias of exit_code.'),
});

export const ShellCreateSessionResponse = namedObject('ShellCreateSessionResponse', {
  session_id: z.string(),
  working_dir: z.string(),
});

const ShellSessionInfo = namedObject('ShellSessionInfo', {
  working_dir: z.string(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime(),
  age_seconds: z.int(),
  status: z.string().describe('ready, running, or terminated: its shell has ended.'),
  current_command: z.string().nullable(),
});

export const ActiveShellSessionsResult = namedObject('ActiveShellSessionsResult', {
  sessions: z.record(z.string(), ShellSessionInfo),
});

export const ShellSessionStats = namedObject('ShellSessionStats', {
  total_sessions: z.int(),
  active_sessions: z.int().describe('Used within the last 5 minutes, or in use now.'),
  idle_sessions: z.int(),
  max_sessions: z.int(),
  session_timeout: z.int().describe('Seconds without use after which a session is closed.'),
  usage_ratio: z.number().describe('Share of max_sessions in use, from 0 to 1.'),
});

export function commandResult(id: string, answer: ExecAnswer): z.input<typeof ShellCommandResult> {
  const { command, status, output, console, exitCode } = answer;
  return { session_id: id, command, status, output, console: [...console], exit_code: exitCode };
}

/** `output` is the terminal's content. */
export function viewResult(
  { id }: Terminal,
  output: string,
  { console, status, command, exitCode }: JobState,
): z.input<typeof ShellViewResult> {
  return { output, session_id: wireId(id), console: [...console], status, command, exit_code: exitCode };
}

export function sessionInfo(terminal: Terminal, nowMs: number): z.input<typeof ShellSessionInfo> {
  const { createdMs, lastUsedMs } = terminal.record;
  return {
    working_dir: terminal.directory,
    created_at: new Date(createdMs).toISOString(),
    last_used_at: new Date(lastUsedMs).toISOString(),
    age_seconds: Math.max(0, Math.floor((nowMs - createdMs) / 1000)),
    status: terminal.status,
    current_command: terminal.foregroundCommand,
  };
}
