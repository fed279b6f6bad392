/** `boxkeep logs`: prints the output of a command, and with -f follows new output. */
import { readArguments, type Arguments } from '../arguments.ts';
import { answerWithinMs, Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { exitCodeOf } from '../client/ending.ts';
import { follow, reconnectTime } from '../client/follow.ts';
import { Deadline } from '../../kit/deadline.ts';
import { streamNames, type StreamName } from '../../kit/types/stream-name.ts';
import { writeOutput } from '../client/write-output.ts';
import type { Verb } from '../verb.ts';
import { number, type Offsets } from '../client/wire.ts';

export const logs: Verb = {
  usage: 'logs <url> <command_id>',
  summary: 'print what a command has written',
  details: `  -f, --follow         go on until it has ended
  --stdout-only        without standard error
  --stderr-only        without standard output
  --offset BYTES       begin there in standard output; 0
  --stderr-offset BYTES  the same for standard error
  --exit-code          with -f: exit with the code of the command, as exec does, and not with 0
  --reconnect SECONDS  how long a daemon that is away is waited for; 60

The key comes from SVC_API_KEY, never from the arguments.`,

  async run(args, environment) {
    const given = readArguments(args, {
      values: ['offset', 'stderr-offset', 'reconnect'],
      switches: ['f', 'follow', 'stdout-only', 'stderr-only', 'exit-code'],
      words: ['the address of a daemon', 'the id of a command'],
    });
    const [address = '', id = ''] = given.words;
    const client = new Client(address, environment);
    const wanted = wantedStreams(given);
    const ends = await currentEnds(client, id);
    const offsets = firstOffsets(given, wanted, ends);
    const isFollowed = given.has('f') || given.has('follow');
    const seen = { ...offsets };
    const isReached = () => !isFollowed && wanted.every((stream) => seen[stream] >= ends[stream]);
    if (isReached()) return 0;
    const options = { offsets, reconnectMs: reconnectTime(given), signal: new AbortController().signal };
    for await (const output of follow(client, id, options)) {
      if (output.kind === 'exit') return given.has('exit-code') ? await exitCodeOf(output, id) : 0;
      if (wanted.includes(output.stream)) await writeOutput(output);
      seen[output.stream] = output.kind === 'gap' ? output.to : output.offset + output.bytes.length;
      if (isReached()) return 0;
    }
    throw new Error('output ends with an exit');
  },
};

function wantedStreams(given: Arguments): readonly StreamName[] {
  const [isOut, isErr] = [given.has('stdout-only'), given.has('stderr-only')];
  if (isOut && isErr) throw new ClientFailure('--stdout-only and --stderr-only leave nothing');
  return streamNames.filter((stream) => (stream === 'stdout' ? !isErr : !isOut));
}

async function currentEnds(client: Client, id: string): Promise<Offsets> {
  using deadline = new Deadline(answerWithinMs);
  const past = Number.MAX_SAFE_INTEGER;
  const path = `/v2/commands/${encodeURIComponent(id)}?offset=${past}&stderr_offset=${past}`;
  const read = await client.call('GET', path, null, deadline.signal);
  return { stdout: number(read['offset']), stderr: number(read['stderr_offset']) };
}

/** The offsets to start from. A stream that is not wanted starts at its current end, so that old output is not sent. */
function firstOffsets(given: Arguments, wanted: readonly StreamName[], ends: Offsets): Offsets {
  const first = (stream: StreamName, flag: string) =>
    wanted.includes(stream) ? Math.min(given.number(flag, 0) ?? 0, ends[stream]) : ends[stream];
  return { stdout: first('stdout', 'offset'), stderr: first('stderr', 'stderr-offset') };
}
