/** Resolves the session and command ids of a 1.x request. */
import type { Command } from '../../core/commands/command.ts';
import type { Commands } from '../../core/commands/commands.ts';
import { CoreError } from '../../kit/errors.ts';

/** The commands of a session, oldest first. Empty before the first command. Throws `session_not_found`. */
export function commandsOf(commands: Commands, id: string): Command[] {
  const found = commands.list({ status: null, sessionId: id });
  // A closed session stays known for as long as its commands are kept.
  if (found.length === 0) assertSession(commands, id);
  return found;
}

/** Throws `command_not_found` for a command of another session. */
export function commandNamed(all: readonly Command[], id: string): Command {
  const command = all.find((one) => one.id === id);
  if (command) return command;
  throw new CoreError('command_not_found', `Command not found in this session: ${id}`, {
    hint: 'It is of another session, or has ended long ago; POST /v1/bash/exec starts one.',
  });
}

export function assertSession(commands: Commands, id: string): void {
  if (commands.sessions().some((session) => session.id === id)) return;
  throw new CoreError('session_not_found', `Session not found: ${id}`, {
    hint: 'POST /v1/bash/exec with this session_id creates it, as POST /v1/bash/sessions/create does.',
  });
}
