/** The 1.x routes of commands in a shell session: start, view, wait, write and kill. */
import { z } from 'zod';
import { notTyped } from '../../core/terminals/attach/input.ts';
import type { ExecAnswer, ExecSpec } from '../../core/terminals/exec/record.ts';
import { shellNews } from '../../core/terminals/session/start-up.ts';
import type { Terminal } from '../../core/terminals/session/terminal.ts';
import { Answer } from '../../kit/answer.ts';
import { SseStream } from '../../http/stream/sse.ts';
import { stoppingMessage } from '../../http/route/stopping.ts';
import { Deadline } from '../../kit/deadline.ts';
import { route, type V1Deps } from './app.ts';
import { wireId } from './shell-ids.ts';
import { execDirectory, preserveSymlinks, seconds, sessionId, wholeSeconds } from './shell-inputs.ts';
import { milliseconds, namedObject, systemText } from '../../operations/inputs.ts';
import { openSession, sessionOf } from './shell-lookup.ts';
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

const ShellExecRequest = namedObject('ShellExecRequest', {
  id: sessionId.nullish().describe('Created if it does not exist; a new session when absent or empty.'),
  exec_dir: execDirectory,
  command: systemText.describe('As it would be typed, of any length and number of lines.'),
  async_mode: z.boolean().default(false).describe('Answer at once.'),
  timeout: seconds.nullish().describe('Seconds to wait; then the answer is running and the command continues.'),
  strict: z.boolean().nullish().describe('Fail if exec_dir does not exist.'),
  no_change_timeout: wholeSeconds
    .nullish()
    .describe('Seconds without new output after which the answer is no_change_timeout and the command continues.'),
  hard_timeout: seconds.nullish().describe('Seconds after which the command is stopped.'),
  preserve_symlinks: preserveSymlinks,
  truncate: z.boolean().default(true).describe('Cut the output to 30000 characters.'),
});

type ExecBody = z.output<typeof ShellExecRequest>;

export const exec = route({
  operation: 'shell.exec_v1',
  method: 'POST',
  path: '/v1/shell/exec',
  summary: 'Run a command in a shell session; Accept: text/event-stream streams its output',
  body: ShellExecRequest,
  fieldsToRepeat: ({ terminalId }) => (terminalId === undefined ? {} : { id: wireId(terminalId) }),
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
    using opened = await openSession(terminals, wantedSession(body), context.signal);
    const { terminal } = opened;
    const id = wireId(terminal.id);
    const spec = execSpec(deps, terminal, body);
    if (acceptsEvents(context.headers)) {
      const use = terminal.use();
      // If the client disconnects before the stream begins, the stream never runs and cannot dispose of the use.
      context.signal.addEventListener('abort', () => use[Symbol.dispose](), { once: true });
      if (context.signal.aborted) use[Symbol.dispose]();
      return new SseStream((signal) => execEvents(deps, use, spec, signal));
    }
    using waiting = new Deadline(null, context.signal, closing);
    const answer = await terminal.exec.run(spec, waiting.signal);
    return new Answer(commandResult(id, answer), withNews(terminal, describe(answer, spec, closing.aborted)));
  },
});

export const view = route({
  operation: 'shell.view_v1',
  method: 'POST',
  path: '/v1/shell/view',
  summary: 'Read the screen of a shell session; Accept: text/event-stream follows it until nothing runs',
  body: namedObject('ShellViewRequest', { id: sessionId }),
  data: ShellViewResult,
  events: ViewEvent,
  errors: ['terminal_not_found', 'capacity_reached'],
  async handle(deps, { body, context }) {
    const { terminals, screens } = deps;
    const terminal = sessionOf(terminals, body.id);
    if (acceptsEvents(context.headers)) return new SseStream((signal) => viewEvents(deps, terminal, signal));
    return viewResult(terminal, await screens.transcript(terminal), terminal.job.look());
  },
});

const waitSeconds = 30;

export const wait = route({
  operation: 'shell.wait_v1',
  method: 'POST',
  path: '/v1/shell/wait',
  summary: 'Wait until nothing runs in a shell session',
  body: namedObject('ShellWaitRequest', {
    id: sessionId,
    seconds: wholeSeconds.nullish().describe('Maximum wait; 30 by default.'),
    max_wait_seconds: wholeSeconds.nullish().describe('An alias of seconds; the smaller value counts.'),
  }),
  data: ShellWaitResult,
  errors: ['terminal_not_found'],
  async handle({ terminals, closing }, { body, context }) {
    const { job } = sessionOf(terminals, body.id);
    const asked = [body.seconds, body.max_wait_seconds].filter((given) => typeof given === 'number');
    using deadline = new Deadline(
      Math.min(...(asked.length > 0 ? asked : [waitSeconds])) * 1000,
      context.signal,
      closing,
    );
    await job.over(deadline.signal);
    return { status: job.look().status };
  },
});

export const write = route({
  operation: 'shell.write_v1',
  method: 'POST',
  path: '/v1/shell/write',
  summary: 'Type into a shell session',
  body: namedObject('ShellWriteToProcessRequest', {
    id: sessionId,
    input: z.string().describe('As a keyboard would send it.'),
    press_enter: z.boolean().describe('Type Enter after the input.'),
  }),
  data: ShellWriteResult,
  errors: ['terminal_not_found', 'terminal_ended', 'terminal_busy'],
  async handle({ terminals }, { body, context }) {
    const terminal = sessionOf(terminals, body.id);
    const { job } = terminal;
    // A client may run a command and send input right after it.
    await job.begun(context.signal);
    const bytes = Buffer.from(body.press_enter ? `${body.input}\r` : body.input);
    const accepted = await terminal.input.type(bytes, context.signal);
    if (accepted < bytes.length) throw notTyped(terminal, bytes.length - accepted);
    return { status: job.look().status };
  },
});

export const kill = route({
  operation: 'shell.kill_v1',
  method: 'POST',
  path: '/v1/shell/kill',
  summary: 'End what runs in a shell session: SIGINT, then SIGTERM, then SIGKILL',
  body: namedObject('ShellKillProcessRequest', { id: sessionId }),
  data: ShellKillResult,
  errors: ['terminal_not_found', 'not_implemented'],
  async handle({ terminals }, { body }) {
    const { status, exitCode } = await sessionOf(terminals, body.id).job.terminate();
    return { status, exit_code: exitCode, returncode: exitCode };
  },
});

function wantedSession({ id, exec_dir: directory, strict, preserve_symlinks: isLogical }: ExecBody) {
  return { id, directory: directory ?? null, isLogical: isLogical === true, isOptional: strict !== true };
}

/** For a session without its own value, and a call without its own timeout. */
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
    maxQuietAheadMs: isAsync ? null : (ofSession ?? defaultQuietMs),
  };
}

/** A new shell, or one that skipped its start-up files, may lack what the command needs. */
function withNews<T extends { hint?: string }>(terminal: Terminal, answer: T): T {
  const news = shellNews(terminal);
  return news === null ? answer : { ...answer, hint: [news, answer.hint].filter(Boolean).join(' ') };
}

const continuesHint = 'The command continues: view shows it, write types into it, kill ends it.';

function describe({ status }: ExecAnswer, spec: ExecSpec, isStopping: boolean): { message?: string; hint?: string } {
  switch (status) {
    case 'running':
      if (isStopping) return { message: stoppingMessage('command') };
      return { message: 'The command runs', hint: continuesHint };
    case 'no_change_timeout': {
      const message = `The command has printed nothing for ${(spec.noChangeTimeoutMs ?? 0) / 1000} s, and continues`;
      return { message, hint: `${continuesHint} no_change_timeout, timeout or hard_timeout give it more time.` };
    }
    case 'hard_timeout':
      return { message: `The command was stopped after ${(spec.hardTimeoutMs ?? 0) / 1000} s` };
    case 'terminated':
      return { message: 'The command was ended, or its shell was' };
    case 'completed':
      return { message: 'Command executed' };
  }
}
