/** The service `process.Process`: processes are the commands of the daemon, found by their pid or their tag. */
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import type { Command } from '../../core/commands/command.ts';
import type { CommandSpec, StdinSource } from '../../core/commands/launcher.ts';
import { requestOf } from '../../http/rpc.ts';
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import { possibleSize } from '../../kit/types/terminal-size.ts';
import type { E2bDeps } from './app.ts';
import { processIdWord } from './names.ts';
import { callerOf, pathOf } from './caller.ts';
import { eventsOf } from './process-events.ts';
import {
  type Process,
  ProcessInfoSchema,
  type ProcessInput,
  type ProcessSelector,
  type PTY,
  Signal,
  type StartRequest,
} from './wire/process_pb.ts';

/** Every process of this surface knows that it is in a sandbox. */
const own = { E2B_SANDBOX: 'true' };
/** The shell that the clients start. */
const bash = '/bin/bash';

export function processService(deps: E2bDeps): ServiceImpl<typeof Process> {
  const { commands } = deps;
  return {
    async *start(request, context) {
      const { command } = await commands.start(specOf(deps, request, context));
      const { failure } = command.state;
      if (failure)
        throw new ConnectError(`${request.process?.cmd} cannot be executed: ${failure.message}`, Code.InvalidArgument);
      requestOf(context).note.account = command.note.user;
      requestOf(context).about(command.id);
      yield* eventsOf(deps, command, context);
    },

    async *connect({ process }, context) {
      yield* eventsOf(deps, commandOf(deps, process), context);
    },

    list: () => ({
      processes: commands.list({ status: 'running', sessionId: null }).map(({ note, pid }) =>
        create(ProcessInfoSchema, {
          config: { cmd: note.command, args: [...note.args], cwd: note.cwd },
          pid: pid ?? 0,
          ...(note.label !== null && { tag: note.label }),
        }),
      ),
    }),

    update({ process, pty }) {
      const { id, note, isRunning } = commandOf(deps, process);
      if (!isRunning) throw notFound(process);
      if (pty && !note.hasTerminal) throw new ConnectError('the process has no terminal', Code.Internal);
      if (pty) commands.resize(id, possibleSize(pty.size));
      return {};
    },

    async sendInput({ process, input }, { signal }) {
      await send(deps, running(deps, process), input, signal);
      return {};
    },

    async streamInput(messages, { signal }) {
      let command: Command | null = null;
      for await (const { event } of messages) {
        if (event.case === 'start') command = running(deps, event.value.process);
        if (event.case !== 'data') continue;
        if (!command) throw new ConnectError('the first message has to be start', Code.InvalidArgument);
        await send(deps, command, event.value.input, signal);
      }
      return {};
    },

    async closeStdin({ process }, { signal }) {
      const command = running(deps, process);
      if (command.note.hasTerminal)
        throw new ConnectError('a terminal has no end of input; send the character 0x04', Code.Unknown);
      if (command.child.stdin.isOpen)
        await commands.writeInput(command.id, { bytes: new Uint8Array(), isEnd: true, offset: null, signal });
      return {};
    },

    async sendSignal({ process, signal }) {
      const name = signal === Signal.SIGKILL ? 'SIGKILL' : signal === Signal.SIGTERM ? 'SIGTERM' : null;
      if (name === null) throw new ConnectError('only SIGKILL and SIGTERM can be sent', Code.Unimplemented);
      await commands.kill(running(deps, process).id, name, true);
      return {};
    },
  };
}

function specOf(deps: E2bDeps, { process, pty, tag, stdin }: StartRequest, context: HandlerContext): CommandSpec {
  if (!process || process.cmd === '') throw new CoreError('bad_argument', 'the process has no cmd');
  const caller = callerOf(deps, context.requestHeader);
  const texts = [process.cmd, ...process.args, process.cwd ?? '', ...Object.entries(process.envs).flat()];
  if (texts.some((text) => text.includes('\0'))) throw new CoreError('bad_argument', 'a text has a NUL byte');
  if (Object.keys(process.envs).some((name) => name === '' || name.includes('=')))
    throw new CoreError('bad_argument', 'the name of a variable is empty or has an =');
  const timeoutMs = context.timeoutMs();
  return {
    id: mintId(processIdWord),
    fingerprint: null,
    sessionId: null,
    command: process.cmd === bash && !deps.isProgram(bash) ? 'sh' : process.cmd,
    shell: 'none',
    args: process.args,
    cwd: pathOf(deps, process.cwd ?? '', caller),
    user: caller.user,
    env: { ...deps.defaults.values.env, ...own, ...process.envs },
    hardTimeoutMs: timeoutMs === undefined ? null : Math.max(1, Math.round(timeoutMs)),
    merge: false,
    isAwaited: false, // The start would be reported 2 ms late, and the clients work on it while the process runs.
    isMember: true, // As in envd: `setsid program` waits for its program, and callers rely on the exit code.
    limits: {},
    stdin: stdinOf(pty, stdin),
    label: tag ?? null,
  };
}

function stdinOf(pty: PTY | undefined, stdin: boolean | undefined): StdinSource {
  if (pty) return { kind: 'terminal', size: possibleSize(pty.size) };
  return { kind: stdin === false ? 'null' : 'pipe' };
}

/** Of several commands, the one that runs; else the newest. */
function commandOf({ commands }: E2bDeps, process: ProcessSelector | undefined): Command {
  const { selector } = process ?? { selector: { case: undefined } };
  if (selector.case === undefined) throw new ConnectError('the process is named by pid or tag', Code.Unimplemented);
  const isMeant =
    selector.case === 'pid'
      ? (command: Command) => command.pid === selector.value
      : ({ note }: Command) => note.label === selector.value;
  const command = commands.findNewest(isMeant);
  if (!command) throw notFound(process);
  return command;
}

function running(deps: E2bDeps, process: ProcessSelector | undefined): Command {
  const command = commandOf(deps, process);
  if (!command.isRunning) throw notFound(process);
  return command;
}

function notFound(process: ProcessSelector | undefined): CoreError {
  const { selector } = process ?? { selector: { case: undefined, value: undefined } };
  return new CoreError('command_not_found', `no process with ${selector.case} ${selector.value} runs`);
}

/** Resolves when the process has taken all of it. */
async function send(
  { commands }: E2bDeps,
  { id, note, child }: Command,
  input: ProcessInput | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { case: kind, value: bytes } = input?.input ?? { case: undefined, value: undefined };
  if (kind === undefined) throw new CoreError('bad_argument', 'the input has neither stdin nor pty');
  if ((kind === 'pty') !== note.hasTerminal)
    throw new ConnectError(
      note.hasTerminal ? 'the process has a terminal' : 'the process has no terminal',
      Code.Internal,
    );
  if (!child.stdin.isOpen) throw new ConnectError('standard input is closed', Code.Internal);
  for (let at = 0; at < bytes.length && !signal.aborted;) {
    const written = await commands.writeInput(id, { bytes: bytes.subarray(at), isEnd: false, offset: null, signal });
    at += written.acceptedBytes;
  }
}
