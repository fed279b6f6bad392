/** `boxkeep kill`: sends a signal to a command, and reports the processes that survive it. */
import { constants } from 'node:os';
import { Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { sendSignal, type SignalName } from '../client/relay.ts';
import { print, say } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const kill: Verb = {
  usage: 'kill [url] <command_id>',
  summary: 'end a command with all that it has started',
  flags: {
    '--signal NAME': 'the signal to send: TERM otherwise; KILL, SIGKILL and 9 are the same',
    '--no-tree': 'only to the process that was started, not to what it has started',
    '--json': 'print the result as JSON',
  },
  details: connectionHelp,
  exits:
    '0 when every process that got the signal is gone, or after a signal such as USR1, which asks none to end; ' +
    '1 when some live on, which are named',
  words: ['the id of a command'],

  async run(given, environment) {
    const [id = ''] = given.words;
    const signal = signalName(given.value('signal') ?? 'TERM');
    const sent = await sendSignal(new Client(given, environment), id, signal, !given.has('no-tree'));
    const { signalled = null, survivors = [] } = sent;
    const isSurvived = survivors.length > 0 && endingSignals.includes(signal);
    const exitCode = isSurvived ? exitSurvivors : 0;
    if (given.has('json')) {
      await print(JSON.stringify({ command_id: id, signal, signalled, survivors }));
      return exitCode;
    }
    if (signalled === null) await print(`${id} has ended`);
    else if (isSurvived)
      await say(`kill: still living after ${signal}: ${survivors.join(', ')}; --signal KILL ends them`);
    else await print(`sent ${signal} to ${signalled} process${signalled === 1 ? '' : 'es'} of ${id}`);
    return exitCode;
  },
};

const exitSurvivors = 1;
const endingSignals: readonly string[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGKILL', 'SIGABRT'];

/** Accepts `TERM`, `sigterm` or `15`. */
function signalName(text: string): SignalName {
  const upper = text.toUpperCase();
  const known = Object.entries(constants.signals);
  const found = known.find(([name, number]) => [name, name.slice(3), String(number)].includes(upper));
  if (!found) throw new ClientFailure(`no signal is named ${text}`);
  return found[0] as SignalName; // The daemon refuses the few that it does not send.
}
