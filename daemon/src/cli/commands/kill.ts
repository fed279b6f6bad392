/** `boxkeep kill`: sends a signal to a command, and reports the processes that survive it. */
import { constants } from 'node:os';
import { readArguments } from '../arguments.ts';
import { Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { sendSignal, type SignalName } from '../client/relay.ts';
import { print, say } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const kill: Verb = {
  usage: 'kill [url] <command_id>',
  summary: 'end a command with all that it has started',
  details: `  --signal NAME  the signal to send: TERM otherwise; KILL, SIGKILL and 9 are the same
  --no-tree      only to the process that was started, not to what it has started
  --json         print the result as JSON

Exit code: 0 when everybody who got the signal is gone, 1 when some live on; they are named. A signal that does not
ask to end, as USR1 or STOP, is followed by 0.
${connectionHelp}`,

  async run(args, environment) {
    const words = ['the id of a command'];
    const given = readArguments(args, { values: ['signal'], switches: ['no-tree', 'json'], words }, environment);
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
