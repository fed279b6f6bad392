/** The service `process.v1.ProcessService`: processes are commands of the daemon, found by their pid. */
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import type { Command, CommandState } from '../../core/commands/command.ts';
import type { StdinSource } from '../../core/commands/launcher.ts';
import { plainBytes } from '../../core/commands/output-chunk.ts';
import { requestOf, usualCode } from '../../http/rpc.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { possibleSize } from '../../kit/types/terminal-size.ts';
import type { AgentSandboxDeps } from './app.ts';
import { abandon, begin, endOfOutput, outputOf } from './commands.ts';
import { commandIdKey, processPrefix } from './names.ts';
import {
  type ExecuteResponse,
  ExecuteResponseSchema,
  type ProcessConfig,
  type ProcessService,
  Signal,
} from './wire/process_pb.ts';

const signals: Readonly<Partial<Record<Signal, NodeJS.Signals>>> = {
  [Signal.SIGINT]: 'SIGINT',
  [Signal.SIGTERM]: 'SIGTERM',
  [Signal.SIGKILL]: 'SIGKILL',
};
/** How long a write waits for a process that does not read. */
const inputWaitMs = 10_000;
/** What closes the input of a terminal. */
const endOfTransmission = new Uint8Array([4]);
/** A stream that is silent sends nothing, so that this is no limit of ours. */
const silenceMs = 2 ** 31 - 1;

export function codeOf(error: CoreError): Code {
  return error.code === 'stdin_closed' ? Code.Internal : usualCode(error);
}

export function processService(deps: AgentSandboxDeps): ServiceImpl<typeof ProcessService> {
  const { commands } = deps;
  return {
    async execute({ config }, context) {
      const limitMs = limitOf(context);
      const command = await started(deps, config, { stdin: { kind: 'null' }, limitMs, isAwaited: true }, context);
      const { signal } = context;
      using wait = new Deadline(limitMs, signal, deps.closing);
      await command.finished(wait.signal);
      if (command.isRunning && signal.aborted) abandon(deps, command);
      if (command.isRunning && deps.closing.aborted) throw stopping(command);
      if (command.isRunning || command.state.status === 'timed_out') throw timedOut(command);
      return answerOf(command, context);
    },

    async *start({ config, pty }, context) {
      const stdin: StdinSource = pty ? { kind: 'terminal', size: possibleSize(pty) } : { kind: 'pipe' };
      const limitMs = context.timeoutMs() ?? null;
      const command = await started(deps, config, { stdin, limitMs, isAwaited: false }, context);
      const { signal } = context;
      let isOver = false;
      // The signal fires after a call that has ended, too.
      const leave = () => isOver || abandon(deps, command);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      yield { event: { case: 'init', value: { processId: command.pid ?? 0 } } };
      const from = { stdout: 0, stderr: 0 };
      for await (const event of commands.follow(command, {
        ...{ from, rendering: plainBytes, silenceMs, signal, closing: deps.closing },
      })) {
        if (event.kind === 'bytes') yield { event: { case: event.stream, value: event.rendered } };
        else if (event.kind === 'exit') {
          isOver = true;
          if (event.state.status === 'timed_out') throw timedOut(command);
          yield { event: { case: 'exit', value: { exitCode: exitCodeOf(command, event.state) } } };
          return;
        } else if (event.kind === 'closing') {
          isOver = true;
          throw stopping(command);
        }
      }
      // Without an end, the time of the caller is over, or the caller has gone.
      throw timedOut(command);
    },

    async writeStdin({ processId, payload }, { signal }) {
      const command = running(deps, processId);
      const { child, note } = command;
      if (payload.case === undefined) throw new CoreError('bad_argument', 'there is neither input nor eof');
      if (!child.stdin.isOpen) throw new ConnectError('standard input is closed', Code.Internal);
      if (payload.case === 'input') await typed(deps, command, payload.value, signal);
      else if (note.hasTerminal) await typed(deps, command, endOfTransmission, signal);
      else await commands.writeInput(command.id, { bytes: new Uint8Array(), isEnd: true, offset: null, signal });
      return {};
    },

    async sendSignal({ processId, signal }) {
      const name = signals[signal];
      if (name === undefined) throw new CoreError('bad_argument', `signal ${signal} cannot be sent`);
      const { id, note, pid } = running(deps, processId);
      const foreground = note.hasTerminal && pid !== null ? deps.jobs.shell(pid)?.foreground : undefined;
      if (name === 'SIGKILL') await commands.kill(id, name, true);
      else if (foreground !== undefined && foreground > 0) deps.jobs.signal(foreground, name);
      else await commands.signalGroup(id, name);
      return {};
    },

    resizeTTY({ processId, cols, rows }) {
      const { id, note } = running(deps, processId);
      if (!note.hasTerminal) throw new ConnectError('the process has no terminal', Code.FailedPrecondition);
      commands.resize(id, possibleSize({ cols, rows }));
      return {};
    },
  };
}

/** The command of a call. Its id travels with the answer. */
async function started(
  deps: AgentSandboxDeps,
  config: ProcessConfig | undefined,
  how: { readonly stdin: StdinSource; readonly limitMs: number | null; readonly isAwaited: boolean },
  context: HandlerContext,
): Promise<Command> {
  const { command: argv = [], envVars: env = {}, cwd = '' } = config ?? {};
  const command = await begin(deps, { argv, env, cwd, ...how });
  const { failure } = command.state;
  if (failure)
    throw new ConnectError(`${argv[0]}: ${failure.message}`, failureCodes[failure.errnoName] ?? Code.Internal);
  context.responseHeader.set(commandIdKey, command.id);
  requestOf(context).note.account = command.note.user;
  return command;
}

const failureCodes: Readonly<Record<string, Code>> = { ENOENT: Code.NotFound, EACCES: Code.PermissionDenied };

/** A client stops listening at its deadline. The answer that says so has to be there before. */
const answerMs = 500;
const answerPart = 0.05;

function limitOf(context: HandlerContext): number | null {
  const ms = context.timeoutMs();
  return ms === undefined ? null : Math.max(1, ms - Math.min(answerMs, ms * answerPart));
}

/** Bytes on their way from the log to the client: read, encoded, framed and joined. */
const copies = 4;

function answerOf(command: Command, context: HandlerContext): ExecuteResponse {
  const { ends } = command.child;
  using _held = requestOf(context).body.room.admit((ends[0] + ends[1]) * copies);
  return create(ExecuteResponseSchema, {
    exitCode: exitCodeOf(command, command.state),
    stdout: outputOf(command, 'stdout'),
    stderr: outputOf(command, 'stderr'),
  });
}

function exitCodeOf({ id }: Command, { exitCode, signal }: CommandState): number {
  if (signal !== null) return -1;
  if (exitCode === null)
    throw new ConnectError(`the keeper of ${id} was killed; the exit code is not known`, Code.Internal, withId(id));
  return exitCode;
}

/** What fits into the trailers, which clients limit to 8 KiB. */
const detailBytes = 2048;

/** The error has the end of the output so far. */
function timedOut(command: Command): ConnectError {
  const message = `the time limit is over; GET /v2/commands/${command.id} has the output`;
  const value = {
    exitCode: -1,
    stdout: endOfOutput(command, 'stdout', detailBytes),
    stderr: endOfOutput(command, 'stderr', detailBytes),
  };
  const details = [{ desc: ExecuteResponseSchema, value }];
  return new ConnectError(message, Code.DeadlineExceeded, withId(command.id), details);
}

function stopping({ id }: Command): ConnectError {
  return new ConnectError('the daemon is stopping', Code.Unavailable, withId(id));
}

const withId = (id: string) => ({ [commandIdKey]: id });

function running({ commands }: AgentSandboxDeps, processId: number): Command {
  const found = commands
    .list({ status: 'running', sessionId: null })
    .find(({ id, pid }) => pid === processId && id.startsWith(processPrefix));
  if (!found) throw new CoreError('command_not_found', `no process ${processId} of this service runs`);
  return found;
}

/** Resolves when the process has taken all of it. */
async function typed(
  { commands }: AgentSandboxDeps,
  { id, child }: Command,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  using wait = new Deadline(inputWaitMs, signal);
  const before = child.stdin.accepted;
  const refused = (code: Code) =>
    new ConnectError(`the process took ${child.stdin.accepted - before} of ${bytes.length} bytes`, code);
  try {
    for (let at = 0; at < bytes.length;) {
      if (wait.passed) throw refused(Code.ResourceExhausted);
      const request = { bytes: bytes.subarray(at), isEnd: false, offset: null, signal: wait.signal };
      at += (await commands.writeInput(id, request)).acceptedBytes;
    }
  } catch (error) {
    // The client repeats a call that has done nothing.
    if (error instanceof HandedOver && child.stdin.accepted > before) throw refused(Code.Unavailable);
    throw error;
  }
}
