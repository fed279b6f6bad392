/** The 1.x command routes. Each command is a process in a session, which its first use creates. */
import { z } from 'zod';
import type { Command } from '../../core/commands/command.ts';
import { summarize } from '../../core/commands/output.ts';
import type { ReadResult } from '../../core/commands/read.ts';
import { signalNames } from '../../core/commands/kill.ts';
import type { CommandSpec } from '../../core/commands/launcher.ts';
import { Answer } from '../../kit/answer.ts';
import { stoppingMessage } from '../../http/route/stopping.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { route } from './app.ts';
import { absolutePath, sessionId } from './bash-inputs.ts';
import { environment, milliseconds, namedObject, seconds, systemText } from '../../operations/inputs.ts';
import { commandNamed, commandsOf } from './bash-lookup.ts';
import { BashExecResult, BashOutputResult, execResult, outputResult, startedResult } from './bash-views.ts';

const BashExecRequest = namedObject('BashExecRequest', {
  session_id: sessionId
    .nullish()
    .describe('Created if it does not exist. Left out, the code gets a session of its own.'),
  command: systemText.describe('Script for bash.'),
  exec_dir: absolutePath.nullish().describe('Directory of this command and of the next ones in the session.'),
  env: environment.nullish().describe('Environment of this command; null unsets.'),
  async_mode: z.boolean().default(false).describe('Answer at once.'),
  timeout: seconds.nullish().describe('Seconds to wait; then the answer is running and the command continues.'),
  // The keeper counts milliseconds in 32 bits.
  hard_timeout: z.number().min(0).max(4_294_967).nullish().describe('Seconds after which the command is ended.'),
  max_output_length: z.int().min(0).default(50_000).describe('Characters per stream; 0 means no limit.'),
});

/** JavaScript and Go clients repeat a call that ends with 429 or 5xx, so all such failures precede the start. */
export const exec = route({
  operation: 'bash.exec_v1',
  method: 'POST',
  path: '/v1/bash/exec',
  summary: 'Run a command in a session',
  body: BashExecRequest,
  data: BashExecResult,
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ commands, closing }, { body, context }) {
    const command = await commands.startInSession(body.session_id || null, commandSpec(body));
    context.note.account = command.note.user;
    context.about(command.id);
    if (body.async_mode) {
      const result = startedResult(command);
      return new Answer(result, describe(command, null, result));
    }
    using deadline = new Deadline(milliseconds(body.timeout), context.signal, closing);
    await command.finished(deadline.signal);
    const output = await summarize(command, body.max_output_length);
    const result = execResult(command, output);
    const answer = describe(command, output.unread, result);
    const isCut = closing.aborted && command.isRunning;
    return new Answer(result, isCut ? { ...answer, message: stoppingMessage('command') } : answer);
  },
});

export const output = route({
  operation: 'bash.output_v1',
  method: 'POST',
  path: '/v1/bash/output',
  summary: 'Read the output of a command, the latest one of its session by default',
  body: namedObject('BashOutputRequest', {
    session_id: sessionId,
    command_id: z.string().nullish().describe('The latest command of the session by default.'),
    offset: z.int().min(0).default(0).describe('In bytes of stdout: where to read from.'),
    stderr_offset: z.int().min(0).default(0).describe('As offset, for stderr.'),
    wait: z.boolean().default(false).describe('Wait for new output or the end.'),
    wait_timeout: seconds.default(30).describe('Seconds to wait at most.'),
  }),
  data: BashOutputResult,
  errors: ['session_not_found', 'command_not_found', 'unavailable'],
  async handle({ commands, closing }, { body, context }) {
    const all = commandsOf(commands, body.session_id);
    const command = body.command_id ? commandNamed(all, body.command_id) : all.at(-1);
    if (!command) return nothingYet(body.session_id);
    using deadline = new Deadline(null, context.signal, closing);
    const request = {
      offsets: { stdout: body.offset, stderr: body.stderr_offset },
      limitBytes: Number.MAX_SAFE_INTEGER,
      waitMs: body.wait ? body.wait_timeout * 1000 : 0,
      signal: deadline.signal,
    };
    let result = await commands.read(command, request);
    if (!command.isRunning && command.child.streamsOpen) {
      // The last output may arrive a moment after the end, and a client that has seen the end does not read again.
      await command.finished(deadline.signal);
      result = await commands.read(command, { ...request, waitMs: 0 });
    }
    return new Answer(outputResult(body.session_id, command, result), { hint: whatIsMissing(command, result) });
  },
});

export const write = route({
  operation: 'bash.write_v1',
  method: 'POST',
  path: '/v1/bash/write',
  summary: 'Write to the standard input of a command, the current one of its session by default',
  body: namedObject('BashWriteRequest', {
    session_id: sessionId,
    command_id: z.string().nullish().describe('The current command of the session by default.'),
    input: z.string().describe('Text to write, as it is.'),
    offset: z.int().min(0).optional().describe('Number of bytes sent before; makes a retry safe.'),
  }),
  fieldsToRepeat: ({ inputOffset }) => (inputOffset === undefined ? {} : { offset: inputOffset }),
  data: z.null(),
  errors: ['session_not_found', 'command_not_found', 'stdin_closed', 'bad_argument'],
  async handle({ commands }, { body, context }) {
    const all = commandsOf(commands, body.session_id);
    const command = body.command_id ? commandNamed(all, body.command_id) : (running(all) ?? all.at(-1));
    if (!command) throw noCommand(body.session_id);
    const bytes = Buffer.from(body.input);
    const request = { bytes, isEnd: false, offset: body.offset ?? null, signal: context.signal };
    const { acceptedBytes } = await commands.writeInput(command.id, request).catch((error: unknown) => {
      throw isWithoutInput(command, error) ? withoutInput(command) : error;
    });
    if (acceptedBytes === bytes.length) return null;
    return new Answer(null, {
      isFailure: true,
      message: `The command has taken ${acceptedBytes} of ${bytes.length} bytes`,
      hint: 'It does not read; send the rest when it does.',
    });
  },
});

export const kill = route({
  operation: 'bash.kill_v1',
  method: 'POST',
  path: '/v1/bash/kill',
  summary: 'Send a signal to the current command of a session and to its descendants',
  body: namedObject('BashKillRequest', { session_id: sessionId, signal: z.enum(signalNames).default('SIGTERM') }),
  data: z.null(),
  errors: ['session_not_found', 'not_implemented'],
  async handle({ commands }, { body }) {
    await commands.startedIn(body.session_id); // The command to be killed may be starting.
    const all = commandsOf(commands, body.session_id);
    // An ended command may have left processes that ignored an earlier signal.
    const command = running(all) ?? all.findLast(({ child }) => child.isAttached);
    const killed = command && (await commands.kill(command.id, body.signal, true));
    if (!killed) return new Answer(null, { message: 'No command runs in this session' });
    return new Answer(null, {
      message: `Sent ${body.signal} to ${killed.signalled} processes`,
      hint: killed.survivors.length > 0 ? 'Some still live; SIGKILL ends those who ignore other signals.' : null,
    });
  },
});

/** The running command that was started last. */
function running(all: readonly Command[]): Command | undefined {
  return all.findLast((command) => command.isRunning);
}

function commandSpec(body: z.output<typeof BashExecRequest>): Omit<CommandSpec, 'sessionId'> {
  const isAwaited = !body.async_mode;
  const hardTimeoutMs = milliseconds(body.hard_timeout);
  return {
    id: null,
    fingerprint: null,
    sessionKeeps: 'cwd',
    command: body.command,
    shell: 'auto',
    args: [],
    cwd: body.exec_dir ?? null,
    user: null,
    env: body.env ?? {},
    hardTimeoutMs: hardTimeoutMs === null ? null : Math.max(1, Math.round(hardTimeoutMs)),
    merge: false,
    isAwaited,
    limits: {},
    // A program that reads its input must not hang in a call that waits for its end, because no client could write to
    // it.
    stdin: { kind: isAwaited && typeof body.timeout !== 'number' ? 'null' : 'pipe' },
  };
}

function describe(
  { id, isRunning, state }: Command,
  unread: string | null,
  { offset, stderr_offset: end }: Pick<z.input<typeof BashExecResult>, 'offset' | 'stderr_offset'>,
): { message?: string; hint: string | null } {
  if (state.failure) return { message: `The command could not start: ${state.failure.message}`, hint: null };
  if (unread !== null) return { hint: `Its output could not be read (${unread}); POST /v1/bash/output reads it.` };
  if (!isRunning) return { hint: null };
  const body = `"command_id": "${id}", "offset": ${offset}, "stderr_offset": ${end}, "wait": true`;
  return { hint: `POST /v1/bash/output with ${body} reads on; POST /v1/bash/kill ends it.` };
}

function nothingYet(sessionId: string): z.input<typeof BashOutputResult> {
  return { session_id: sessionId, stdout: '', stderr: '', offset: 0, stderr_offset: 0, command: null };
}

function isWithoutInput({ isRunning }: Command, error: unknown): boolean {
  return isRunning && error instanceof CoreError && error.code === 'stdin_closed';
}

function withoutInput({ id }: Command): CoreError {
  return new CoreError('stdin_closed', `Nothing can be written to ${id}`, {
    hint: 'A command whose end is waited for has no input; POST /v1/bash/exec with async_mode or with a timeout starts one that has.',
  });
}

/** Output is missing when it exceeds the answer's limit or is no longer kept. */
function whatIsMissing({ isRunning, child }: Command, { stdout, stderr }: ReadResult): string | null {
  const gaps = [...stdout.gaps, ...stderr.gaps];
  if (gaps.length > 0) {
    return `${gaps.reduce((sum, { from, to }) => sum + to - from, 0)} bytes are no longer kept, and left out.`;
  }
  const isWhole = stdout.next === child.ends[0] && stderr.next === child.ends[1];
  return isRunning || isWhole ? null : 'There is more: read on from these offsets.';
}

function noCommand(sessionId: string): CoreError {
  return new CoreError('command_not_found', `No command was started in the session: ${sessionId}`, {
    hint: 'POST /v1/bash/exec starts one; with async_mode it can be written to.',
  });
}
