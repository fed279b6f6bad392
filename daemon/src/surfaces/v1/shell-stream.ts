/**
 * Streams the activity of a shell as Server-Sent Events.
 *
 * exec sends `start`, `output` with each new piece of text, and `result` with the data of the plain answer. view sends
 * `snapshot` with the data of the plain answer, `output` while a command runs, and `result` with the data of a new
 * plain answer. `error` with an envelope replaces a `result` that cannot be given.
 */
import { z } from 'zod';
import type { ExecSpec } from '../../core/terminals/exec/record.ts';
import type { Terminal, TerminalUse } from '../../core/terminals/session/terminal.ts';
import type { SseEvent } from '../../http/stream/sse.ts';
import { aborted, Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { V1Deps } from './app.ts';
import { wireId } from './shell-ids.ts';
import { commandResult, ShellCommandResult, ShellViewResult, viewResult } from './shell-views.ts';
import { refusalOfV1 } from './refusal.ts';

const Started = z.object({ session_id: z.string(), command: z.string() });
const Output = z.object({ output: z.string() });
const Failed = z.object({
  success: z.literal(false),
  message: z.string(),
  data: z.null(),
  hint: z.string().nullable(),
});

export const ExecEvent = z.union([Started, Output, ShellCommandResult, Failed]);
export const ViewEvent = z.union([ShellViewResult, Output, Failed]);

const heartbeatMs = 15_000;

export function acceptsEvents(headers: Headers): boolean {
  return headers.get('accept')?.includes('text/event-stream') === true;
}

export async function* execEvents(
  { closing }: V1Deps,
  use: TerminalUse,
  spec: ExecSpec,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  using _use = use;
  const { terminal } = use;
  const id = wireId(terminal.id);
  using waiting = new Deadline(null, signal, closing);
  yield { event: 'start', data: { session_id: id, command: spec.command } };
  try {
    const answer = yield* outputEvents(terminal.exec.stream(spec, waiting.signal));
    yield { event: 'result', data: commandResult(id, answer) };
  } catch (error) {
    yield { event: 'error', data: failed(error) };
  }
}

export async function* viewEvents(
  { screens, closing }: V1Deps,
  terminal: Terminal,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  const { job } = terminal;
  const look = async () => viewResult(terminal, await screens.transcript(terminal), job.look());
  using following = new Deadline(null, signal, closing);
  // Follows the output before the snapshot is taken, so that nothing between the two is missed.
  const texts = job.follow(following.signal);
  yield { event: 'snapshot', data: await look() };
  yield* outputEvents(texts);
  yield { event: 'result', data: await look() };
}

async function* outputEvents<R>(texts: AsyncGenerator<string, R>): AsyncGenerator<SseEvent, R> {
  for (let next = begin(texts); ;) {
    const came = await within(next, heartbeatMs);
    if (came === null) {
      yield { comment: 'heartbeat' };
      continue;
    }
    if (came.done) return came.value;
    yield { event: 'output', data: { output: came.value } };
    next = begin(texts);
  }
}

function begin<R>(texts: AsyncGenerator<string, R>): Promise<IteratorResult<string, R>> {
  const next = texts.next();
  next.catch(() => null); // A caller that awaits the promise sees the rejection. Without a client, no caller does.
  return next;
}

/** Null on timeout. */
async function within<T>(coming: Promise<T>, ms: number): Promise<T | null> {
  using silence = new Deadline(ms);
  return await Promise.race([coming, aborted(silence.signal).then(() => null)]);
}

function failed(error: unknown): z.input<typeof Failed> {
  if (error instanceof HandedOver) {
    const hint = 'The command did not begin; run it again.';
    return { success: false, message: 'the daemon is being replaced', data: null, hint };
  }
  if (!(error instanceof CoreError)) throw error;
  const { message, hint } = refusalOfV1(error, { path: '/v1/shell/exec' });
  return { success: false, message, data: null, hint };
}
