/** Why a command did not begin. */
import { CoreError } from '../../kit/errors.ts';
import type { Terminal } from './terminal.ts';

export function busy(terminal: Terminal): CoreError {
  const what = terminal.foregroundCommand;
  const reason = what === null ? 'is busy' : `runs ${JSON.stringify(what.slice(0, 80))}`;
  return new CoreError('terminal_busy', `session ${terminal.id} ${reason}; the command did not begin`, {
    hint: 'Wait longer (timeout, on_busy), interrupt what runs (signal), or use another session.',
    facts: { current_command: what },
  });
}

export function tooMany(terminal: Terminal, mostWaiting: number): CoreError {
  return new CoreError('capacity_reached', `${mostWaiting} commands wait for session ${terminal.id} already`, {
    hint: 'Wait for them, or use another session.',
  });
}

export function notTaken(): CoreError {
  return new CoreError('unavailable', 'the shell of the session did not take the command', {
    hint: 'Look at its screen; input with \\u0003 gives up what was typed there before.',
  });
}

export function neverBegan(): CoreError {
  return new CoreError('unavailable', 'the shell of the session ended before it took the command, and so did others', {
    hint: 'Look at its recording, and at the files that the shell reads when it starts.',
  });
}
