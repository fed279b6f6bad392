/** What a stream of a process sends: its start, its output so far and from then on, and its end. */
import { type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { Command, CommandState } from '../../core/commands/command.ts';
import { plainBytes, type Rendering } from '../../core/commands/output-chunk.ts';
import { replaceMessage } from '../../http/rpc.ts';
import type { E2bDeps } from './app.ts';
import { pingMsOf } from './keepalive.ts';
import type { ProcessEventSchema } from './wire/process_pb.ts';

type Response = { readonly event: MessageInitShape<typeof ProcessEventSchema> };
type EndEvent = { exitCode: number; exited: boolean; status: string; error?: string };

const none: Response = { event: {} };

/** A viewer that attaches to a terminal gets about a screen and its scrollback. */
const terminalReplayBytes = 256 * 1024;

/** One byte of flags, and the length. */
const prefixBytes = 5;

/** A whole frame with the message in JSON, because the codec of the library copies the output five times. */
function framed(hasTerminal: boolean): Rendering {
  return {
    name: 'e2b-json',
    wholeCharacters: false,
    render({ stream, bytes }, into) {
      let end = prefixBytes;
      for (const text of [`{"event":{"data":{"${hasTerminal ? 'pty' : stream}":"`, bytes.toBase64(), '"}}}'])
        end += into.write(text, end, 'latin1');
      into.writeUInt8(0);
      into.writeUInt32BE(end - prefixBytes, 1);
      return end;
    },
  };
}

export async function* eventsOf(
  { commands, closing }: E2bDeps,
  command: Command,
  context: HandlerContext,
): AsyncGenerator<Response> {
  const { requestHeader, signal } = context;
  const { hasTerminal } = command.note;
  yield { event: { event: { case: 'start', value: { pid: command.pid ?? 0 } } } };
  const stdout = hasTerminal ? Math.max(0, command.child.ends[0] - terminalReplayBytes) : 0;
  const silenceMs = pingMsOf(requestHeader);
  const isJson = requestHeader.get('content-type')?.startsWith('application/connect+json') ?? false;
  const rendering = isJson ? framed(hasTerminal) : plainBytes;
  const options = { from: { stdout, stderr: 0 }, rendering, silenceMs, signal, closing };
  for await (const event of commands.follow(command, options)) {
    switch (event.kind) {
      case 'bytes': {
        if (isJson) {
          replaceMessage(context, event.rendered);
          yield none;
          break;
        }
        const output = { case: hasTerminal ? 'pty' : event.stream, value: event.rendered } as const;
        yield { event: { event: { case: 'data', value: { output } } } };
        break;
      }
      case 'silence':
        yield { event: { event: { case: 'keepalive', value: {} } } };
        break;
      case 'exit':
        if (event.state.status === 'timed_out') throw timedOut();
        yield { event: { event: { case: 'end', value: endOf(event.state) } } };
        return;
      case 'closing':
        throw new ConnectError('the daemon is stopping', Code.Unavailable);
      case 'gap': // The protocol has no word for bytes that are no longer kept.
        break;
    }
  }
  // Without an end, the time of the caller is over, or the caller has gone.
  throw timedOut();
}

function timedOut(): ConnectError {
  return new ConnectError('the time limit of the call is over', Code.DeadlineExceeded);
}

/** The words of the system for signals, as wait statuses are written (strsignal(3), lower case). */
const signalWords: Readonly<Record<string, string>> = {
  SIGHUP: 'hangup',
  SIGINT: 'interrupt',
  SIGQUIT: 'quit',
  SIGILL: 'illegal instruction',
  SIGTRAP: 'trace/breakpoint trap',
  SIGABRT: 'aborted',
  SIGBUS: 'bus error',
  SIGFPE: 'floating point exception',
  SIGKILL: 'killed',
  SIGSEGV: 'segmentation fault',
  SIGPIPE: 'broken pipe',
  SIGALRM: 'alarm clock',
  SIGTERM: 'terminated',
};

function endOf({ status, exitCode, signal }: CommandState): EndEvent {
  if (signal !== null) return failed(`signal: ${signalWords[signal] ?? signal}`);
  if (exitCode === null)
    return { ...failed(status), error: 'the process that kept it was killed; its exit code is not known' };
  const words = `exit status ${exitCode}`;
  return { exitCode, exited: true, status: words, ...(exitCode !== 0 && { error: words }) };
}

function failed(status: string): EndEvent {
  return { exitCode: -1, exited: false, status, error: status };
}
