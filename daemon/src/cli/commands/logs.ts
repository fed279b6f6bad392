/** `boxkeep logs`: prints the output of a command, and with -f follows new output. */
import type { Offsets, OutputEvent, StreamName } from '../../../../clients/typescript/src/index.ts';
import { streamNames } from '../../kit/types/stream-name.ts';
import type { Arguments } from '../arguments.ts';
import { Client } from '../client/client.ts';
import { exitCodeOf } from '../client/ending.ts';
import { ClientFailure } from '../client/failure.ts';
import { follow, reconnectTime } from '../client/follow.ts';
import { print } from '../client/standard-streams.ts';
import { writeOutput } from '../client/write-output.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const logs: Verb = {
  usage: 'logs [url] <command_id>',
  summary: 'print what a command has written',
  flags: {
    '-f, --follow': 'go on until it has ended',
    '--stdout-only': 'without standard error',
    '--stderr-only': 'without standard output',
    '--offset BYTES': 'begin there in standard output; 0',
    '--stderr-offset BYTES': 'the same for standard error',
    '--exit-code': 'with -f: exit with the code of the command, as exec does, and not with 0',
    '--json': 'each piece, gap and end as a line of JSON, with the output as UTF-8',
    '--reconnect SECONDS': 'how long a daemon that is away is waited for; 60',
  },
  details: connectionHelp,
  words: ['the id of a command'],

  async run(given, environment) {
    const [id = ''] = given.words;
    const client = new Client(given, environment);
    const wanted = wantedStreams(given);
    const command = await client.answer((options) => client.sandbox.commands.connect(id, {}, options));
    const { ends } = command;
    const offsets = firstOffsets(given, wanted, ends);
    const isFollowed = given.has('f') || given.has('follow');
    const isReached = () => !isFollowed && wanted.every((stream) => offsets[stream] >= ends[stream]);
    if (isReached()) return 0;
    const write = given.has('json') ? writeLine : writeOutput;
    for await (const output of follow(client, command, { offsets, reconnectMs: reconnectTime(given) })) {
      const isWanted = output.type === 'exit' || wanted.includes(output.type === 'gap' ? output.stream : output.type);
      if (isWanted) await write(output);
      if (output.type === 'exit') return given.has('exit-code') ? await exitCodeOf(output, id) : 0;
      if (isReached()) return 0;
    }
    throw new Error('output ends with an exit');
  },
};

/** The same line as in the stream of the daemon. */
async function writeLine(output: OutputEvent): Promise<void> {
  if (output.type === 'gap') return await print(JSON.stringify(output));
  if (output.type !== 'exit') {
    const { type, offset, text: data } = output;
    return await print(JSON.stringify({ type, offset, data }));
  }
  const { type, status, exitCode: exit_code, signal } = output;
  await print(JSON.stringify({ type, status, exit_code, signal }));
}

function wantedStreams(given: Arguments): readonly StreamName[] {
  const [isOut, isErr] = [given.has('stdout-only'), given.has('stderr-only')];
  if (isOut && isErr) throw new ClientFailure('--stdout-only and --stderr-only leave nothing');
  return streamNames.filter((stream) => (stream === 'stdout' ? !isErr : !isOut));
}

/** The offsets to start from. A stream that is not wanted starts at its current end, so that old output is not sent. */
function firstOffsets(given: Arguments, wanted: readonly StreamName[], ends: Offsets): Offsets {
  const first = (stream: StreamName, flag: string) =>
    wanted.includes(stream) ? Math.min(given.number(flag, 0) ?? 0, ends[stream]) : ends[stream];
  return { stdout: first('stdout', 'offset'), stderr: first('stderr', 'stderr-offset') };
}
