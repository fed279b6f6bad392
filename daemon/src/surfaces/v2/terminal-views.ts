/** The wire shapes of terminal sessions. */
import { z } from 'zod';
import { backendNames } from '../../core/terminals/shell-process.ts';
import { retentions, terminalStatuses, type Terminal } from '../../core/terminals/terminal.ts';
import { mostCols, mostRows } from '../../core/terminals/terminal-size.ts';

export const cols = z.number().int().min(1).max(mostCols).describe('Columns.');
export const rows = z.number().int().min(1).max(mostRows).describe('Rows.');

export const ConsoleRecord = z
  .object({
    ps1: z.string().describe('The prompt as it was shown.'),
    command: z.string(),
    output: z.string().describe('At most 30 000 characters, unless the answer is not to be cut.'),
  })
  .meta({ id: 'TerminalConsoleRecord' });

export const TerminalSession = z
  .object({
    session_id: z.string(),
    id: z.string().describe('The same as session_id.'),
    status: z
      .enum(terminalStatuses)
      .describe('running: something has the foreground; terminated: its shell has ended.'),
    working_dir: z.string().describe('Where its shell is now.'),
    user: z.string(),
    pid: z.number().int().nullable().describe('Of its shell; null once that has ended.'),
    cols,
    rows,
    title: z.string().nullable().describe('What a program has called it; null before any has.'),
    backend: z.enum(backendNames),
    retention: z.enum(retentions).describe('expiring: it is closed when nobody has used it for an hour.'),
    created_at: z.string().describe('RFC 3339, UTC.'),
    last_used_at: z.string().describe('RFC 3339, UTC.'),
    current_command: z.string().nullable().describe('What runs in its foreground; null while the shell waits.'),
    attached: z.number().int().describe('Sockets that are open to it.'),
    exit_code: z.number().int().nullable().describe('Of its shell; null while that lives, or died by a signal.'),
  })
  .meta({ id: 'TerminalSession' });

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
    title: terminal.title,
    backend: terminal.backend,
    retention: record.retention,
    created_at: new Date(record.createdMs).toISOString(),
    last_used_at: new Date(record.lastUsedMs).toISOString(),
    current_command: terminal.foregroundCommand,
    attached: terminal.attached,
    exit_code: terminal.isTerminated && end?.kind === 'exited' ? end.exitCode : null,
  };
}
