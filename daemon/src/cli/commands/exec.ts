/** `boxkeep exec`: runs a command in the sandbox as if it ran here, with streams, signals and exit code. */
import type { CommandHandle, CommandRunRequest } from '../../../../clients/typescript/src/index.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { Arguments } from '../arguments.ts';
import { Client } from '../client/client.ts';
import { exitCodeOf, tellFailedStart } from '../client/ending.ts';
import { StreamFailure } from '../client/failure.ts';
import { follow, reconnectTime } from '../client/follow.ts';
import { passInput } from '../client/input.ts';
import { relaySignals, sendSignal } from '../client/relay.ts';
import { CaughtSignals } from '../client/signals.ts';
import { canHaveInput, say } from '../client/standard-streams.ts';
import { startCommand } from '../client/start.ts';
import { writeOutput } from '../client/write-output.ts';
import { variable } from '../variable.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const exec: Verb = {
  usage: 'exec [url] [--] <cmd…>',
  summary: 'run a command in a sandbox, as if it ran here',
  flags: {
    '--cwd DIR': 'where it starts; the workspace otherwise',
    '--user NAME': 'the account it runs as',
    '--env NAME=VALUE': 'a variable for it, any number of times; --env NAME passes the one of this machine',
    '--session ID': 'a command session: its directory, environment and account apply',
    '--shell': 'the words of the command are one script for the shell',
    '--timeout SECONDS': 'ends it with all that it has started',
    '--no-stdin': 'it gets no standard input; right for loops and background jobs',
    '--reconnect SECONDS': 'how long a daemon that is away is waited for; 60',
  },
  details: `Flags stand before the command. Its first word ends them, and -- does so where that word begins with a dash.
${connectionHelp}
Ctrl-C interrupts the command, a second one within two seconds kills it.`,
  exits: 'that of the command, 128 + n after signal n',
  hasCommand: true,

  async run(given, environment) {
    const client = new Client(given, environment);
    const body = commandBody(given, environment);
    const reconnectMs = reconnectTime(given);
    using signals = new CaughtSignals();
    const command = await startCommand(client, body, signals);
    if (command.record.status === 'failed') return await tellFailedStart(command.record);
    return await attend(client, command, { signals, reconnectMs, hasInput: body.stdin === 'pipe' });
  },
};

function commandBody(given: Arguments, environment: Environment): CommandRunRequest {
  const [program = '', ...args] = given.command;
  const isScript = given.has('shell');
  const [cwd, user, session] = [given.value('cwd'), given.value('user'), given.value('session')];
  const timeout = given.number('timeout', 0.001);
  return {
    ...(isScript ? { command: given.command.join(' ') } : { command: program, args, shell: 'none' }),
    ...(cwd !== null && { cwd }),
    ...(user !== null && { user }),
    ...(session !== null && { session }),
    ...(timeout !== null && { hard_timeout: timeout }),
    env: Object.fromEntries(given.all('env').map((text) => variable(text, environment))),
    stdin: !given.has('no-stdin') && canHaveInput() ? 'pipe' : 'null',
  };
}

interface Attended {
  readonly signals: CaughtSignals;
  readonly reconnectMs: number;
  readonly hasInput: boolean;
}

/** Relays signals and streams between the start of a command and its end. */
async function attend(client: Client, command: CommandHandle, options: Attended): Promise<number> {
  const { id } = command;
  const over = new AbortController();
  const aside = [relaySignals(client, id, options.signals, over)];
  if (options.hasInput) aside.push(passInput(command, over.signal));
  // The background tasks end the whole run only when they fail.
  for (const task of aside) task.catch((error: unknown) => over.abort(error));
  try {
    const { reconnectMs } = options;
    const offsets = { stdout: 0, stderr: 0 };
    for await (const output of follow(client, command, { offsets, reconnectMs, signal: over.signal })) {
      await writeOutput(output);
      if (output.type === 'exit') return await exitCodeOf(output, id);
    }
    throw new Error('output ends with an exit');
  } catch (error) {
    // Like the loss of a remote shell's terminal: the command must not run forever without its input or its reader.
    if (error instanceof StreamFailure) {
      await sendSignal(client, id, 'SIGHUP').catch(() => say(`SIGHUP could not be sent, and ${id} may run on`));
    }
    throw error;
  } finally {
    over.abort();
  }
}
