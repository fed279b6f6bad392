/** The wire shapes of terminal sessions. */
import { z } from 'zod';
import { backendNames } from '../../../core/terminals/backends/names.ts';
import { retentions, terminalStatuses, type Terminal } from '../../../core/terminals/session/terminal.ts';
import { cols, namedObject, rows } from '../../../operations/inputs.ts';
import { execStatuses } from '../../../core/terminals/exec/record.ts';

export const ConsoleRecord = namedObject('TerminalConsoleRecord', {
  ps1: z.string().describe('The prompt as it was shown.'),
  command: z.string(),
  output: z.string().describe('At most 30 000 characters, unless the answer is not to be cut.'),
});

export const TerminalExec = namedObject('TerminalExec', {
  session_id: z.string(),
  command: z.string(),
  status: z.enum(execStatuses),
  output: z.string().describe('Plain text: what it printed, without escape sequences.'),
  console: z.array(ConsoleRecord).describe('This command, with the prompt before it.'),
  exit_code: z.int().nullable().describe('null until the shell has reported it.'),
  truncated: z.boolean().describe('The output is incomplete.'),
});

export const TerminalSession = namedObject('TerminalSession', {
  session_id: z.string(),
  id: z.string().describe('An alias of session_id.'),
  status: z.enum(terminalStatuses).describe('running: something has the foreground; terminated: its shell has ended.'),
  working_dir: z.string().describe('The current directory of the shell.'),
  user: z.string(),
  pid: z.int().nullable().describe('Pid of the shell; null once the shell has ended.'),
  cols,
  rows,
  name: z.string().nullable().describe('What people call the session; null without a name.'),
  title: z.string().nullable().describe('The title set by a program; null before any.'),
  backend: z.enum(backendNames),
  retention: z.enum(retentions).describe('expiring: closed after an hour without use.'),
  created_at: z.string().describe('RFC 3339, UTC.'),
  last_used_at: z.string().describe('RFC 3339, UTC.'),
  current_command: z.string().nullable().describe('The command in the foreground; null while the shell waits.'),
  attached: z.int().describe('Number of attached sockets.'),
  startup_skipped: z
    .boolean()
    .describe('The start-up files of its shell did not finish in time; the shell runs without them.'),
  exit_code: z.int().nullable().describe('Exit code of the shell; null while it lives, or after a signal.'),
});

export function terminalSession(terminal: Terminal): z.input<typeof TerminalSession> {
  const { record, end } = terminal;
  return {
    session_id: terminal.id,
    id: terminal.id,
    status: terminal.status,
    working_dir: terminal.directory,
    user: record.account,
    pid: terminal.pid,
    ...terminal.size,
    name: record.name ?? null,
    title: terminal.title,
    backend: terminal.backend,
    retention: record.retention,
    created_at: new Date(record.createdMs).toISOString(),
    last_used_at: new Date(record.lastUsedMs).toISOString(),
    current_command: terminal.foregroundCommand,
    attached: terminal.attached,
    startup_skipped: record.skipsStartUp === true,
    exit_code: terminal.isTerminated && end?.kind === 'exited' ? end.exitCode : null,
  };
}
