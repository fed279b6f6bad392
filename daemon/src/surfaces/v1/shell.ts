/** The 1.x routes of what runs in a shell session: started, looked at, waited for, typed into and ended. */
import { z } from 'zod';
import type { ExecSpec } from '../../core/terminals/exec-queue.ts';
import type { ExecAnswer } from '../../core/terminals/exec-record.ts';
import type { Terminal } from '../../core/terminals/terminal.ts';
import { Answer } from '../../http/route.ts';
import { SseStream } from '../../http/sse.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { route, type V1Deps } from './app.ts';
import { wireId } from './shell-ids.ts';
import { execDirectory, milliseconds, preserveSymlinks, seconds, sessionId, wholeSeconds } from './shell-inputs.ts';
import { systemText } from './system-text.ts';
import { openSession, sessionOf } from './shell-lookup.ts';
import { notTyped } from './shell-refusals.ts';
import { acceptsEvents, execEvents, ExecEvent, viewEvents, ViewEvent } from './shell-stream.ts';
import {
  commandResult,
  ShellCommandResult,
  ShellKillResult,
  ShellViewResult,
  ShellWaitResult,
  ShellWriteResult,
  viewResult,
} from './shell-views.ts';

const ShellExecRequest = z
  .object({
    id: sessionId.nullish().describe('Created when it is not there; one of its own when left out or empty.'),
    exec_dir: execDirectory,
    command: systemText.describe('As it would be typed, of any length and number of lines.'),
    async_mode: z.boolean().default(false).describe('Answer at once.'),
    timeout: seconds.nullish().describe('Seconds to wait; then the answer is running and the command goes on.'),
    strict: z.boolean().nullish().describe('An exec_dir that is not there is an error.'),
    no_change_timeout: wholeSeconds
      .nullish()
      .describe('Seconds without new output after which the answer is no_change_timeout and the command goes on.'),
    hard_timeout: seconds.nullish().describe('Seconds after which the command is stopped.'),
    preserve_symlinks: preserveSymlinks,
    truncate: z.boolean().default(true).describe('Cut the output to 30000 characters.'),
  })
  .meta({ id: 'ShellExecRequest' });

type ExecBody = z.output<typeof ShellExecRequest>;

export const exec = route({
  operation: 'shell.exec_v1',
  method: 'POST',
  path: '/v1/shell/exec',
  summary: 'Run a command in a shell session; Accept: text/event-stream has its output told as it comes',
  body: ShellExecRequest,
  data: ShellCommandResult,
  events: ExecEvent,
  errors: [
    'bad_argument',
    'terminal_ended',
    'terminal_busy',
    'capacity_reached',
    'unavailable',
    'no_space_left',
    'not_implemented',
  ],
  async handle(deps, { body, context }) {
    const { terminals, closing } = deps;
    const terminal = await openSession(terminals, wantedSession(body), context.signal);
    const id = wireId(terminal.id);
    const spec = execSpec(deps, terminal, body);
    if (acceptsEvents(context.headers)) return new SseStream((signal) => execEvents(deps, terminal, spec, signal));
    using waiting = new Deadline(null, context.signal, closing);
    try {
      const answer = await terminals.executions.exec(terminal, spec, waiting.signal);
      return new Answer(commandResult(id, answer), describe(answer, spec));
    } catch (error) {
      // Made again in the next daemon, the request is about the session that there is now.
      throw error instanceof HandedOver ? new HandedOver({ id }) : error;
    }
  },
});

export const view = route({
  operation: 'shell.view_v1',
  method: 'POST',
  path: '/v1/shell/view',
  summary: 'Read the screen of a shell session; Accept: text/event-stream follows it until nothing runs',
  body: z.object({ id: sessionId }).meta({ id: 'ShellViewRequest' }),
  data: ShellViewResult,
  events: ViewEvent,
  errors: ['terminal_not_found', 'capacity_reached'],
  async handle(deps, { body, context }) {
    const { terminals, screens } = deps;
    const terminal = sessionOf(terminals, body.id);
    if (acceptsEvents(context.headers)) return new SseStream((signal) => viewEvents(deps, terminal, signal));
    return viewResult(terminal, await screens.text(terminal), terminals.executions.jobOf(terminal).look());
  },
});

const waitSeconds = 30;

export const wait = route({
  operation: 'shell.wait_v1',
  method: 'POST',
  path: '/v1/shell/wait',
  summary: 'Wait until nothing runs in a shell session',
  body: z
    .object({
      id: sessionId,
      seconds: wholeSeconds.nullish().describe('To wait at most; 30 unless told otherwise.'),
      max_wait_seconds: wholeSeconds.nullish().describe('The same; the shorter one counts.'),
    })
    .meta({ id: 'ShellWaitRequest' }),
  data: ShellWaitResult,
  errors: ['terminal_not_found'],
  async handle({ terminals, closing }, { body, context }) {
    const job = terminals.executions.jobOf(sessionOf(terminals, body.id));
    const asked = [body.seconds, body.max_wait_seconds].filter((given) => typeof given === 'number');
    using patience = new Deadline(
      Math.min(...(asked.length > 0 ? asked : [waitSeconds])) * 1000,
      context.signal,
      closing,
    );
    await job.over(patience.signal);
    return { status: job.look().status };
  },
});

export const write = route({
  operation: 'shell.write_v1',
  method: 'POST',
  path: '/v1/shell/write',
  summary: 'Type into a shell session',
  body: z
    .object({
      id: sessionId,
      input: z.string().describe('As a keyboard would send it.'),
      press_enter: z.boolean().describe('Type Enter behind it.'),
    })
    .meta({ id: 'ShellWriteToProcessRequest' }),
  data: ShellWriteResult,
  errors: ['terminal_not_found', 'terminal_ended', 'terminal_busy'],
  async handle({ terminals }, { body, context }) {
    const terminal = sessionOf(terminals, body.id);
    const job = terminals.executions.jobOf(terminal);
    // A client runs a command and types into it at once.
    await job.begun(context.signal);
    const bytes = Buffer.from(body.press_enter ? `${body.input}\r` : body.input);
    const accepted = await terminal.type(bytes, context.signal);
    if (accepted < bytes.length) throw notTyped(bytes.length - accepted);
    return { status: job.look().status };
  },
});

export const kill = route({
  operation: 'shell.kill_v1',
  method: 'POST',
  path: '/v1/shell/kill',
  summary: 'End what runs in a shell session: SIGINT, then SIGTERM, then SIGKILL',
  body: z.object({ id: sessionId }).meta({ id: 'ShellKillProcessRequest' }),
  data: ShellKillResult,
  errors: ['terminal_not_found', 'not_implemented'],
  async handle({ terminals }, { body }) {
    const { status, exitCode } = await terminals.executions.jobOf(sessionOf(terminals, body.id)).terminate();
    return { status, exit_code: exitCode, returncode: exitCode };
  },
});

function wantedSession({ id, exec_dir: directory, strict, preserve_symlinks: isLogical }: ExecBody) {
  return { id, directory: directory ?? null, isLogical: isLogical === true, isOptional: strict !== true };
}

/** Of a session that nobody has told otherwise, and of a call that says itself how long it may take. */
const defaultQuietMs = 120_000;

function execSpec({ terminals }: V1Deps, terminal: Terminal, body: ExecBody): ExecSpec {
  const { exec_dir: path, strict, preserve_symlinks: isLogical } = body;
  const ofSession = terminal.record.noChangeTimeoutMs;
  const [timeoutMs, hardTimeoutMs] = [milliseconds(body.timeout), milliseconds(body.hard_timeout)];
  const byDefault = timeoutMs === null && hardTimeoutMs === null ? defaultQuietMs : null;
  const isAsync = body.async_mode || timeoutMs === 0;
  return {
    command: body.command,
    timeoutMs,
    hardTimeoutMs,
    noChangeTimeoutMs: milliseconds(body.no_change_timeout) ?? ofSession ?? byDefault,
    isAsync,
    isTruncated: body.truncate,
    onBusy: 'wait',
    directory: path
      ? terminals.execDirectory(terminal, { path, isLogical: isLogical === true, isRequired: strict === true })
      : null,
    patienceMs: isAsync ? null : (ofSession ?? defaultQuietMs),
  };
}

const goesOn = 'It goes on: view shows it, write types into it, kill ends it.';

function describe({ status }: ExecAnswer, spec: ExecSpec): { message?: string; hint?: string } {
  switch (status) {
    case 'running':
      return { message: 'The command runs', hint: goesOn };
    case 'no_change_timeout': {
      const message = `The command has printed nothing for ${(spec.noChangeTimeoutMs ?? 0) / 1000} s, and goes on`;
      return { message, hint: `${goesOn} no_change_timeout, timeout or hard_timeout give it more time.` };
    }
    case 'hard_timeout':
      return { message: `The command was stopped after ${(spec.hardTimeoutMs ?? 0) / 1000} s` };
    case 'terminated':
      return { message: 'The command was ended, or its shell was' };
    case 'completed':
      return { message: 'Command executed' };
  }
}
