/**
 * What runs in a shell as Server-Sent Events. Of exec: `start`, `output` with each new piece of text, and `result` with
 * the data of the plain answer. Of view: `snapshot` with the data of the plain answer, `output` while something runs,
 * and `result` with that data once more. `error` with an envelope comes in place of a `result` that there is none of.
 */
import { z } from 'zod';
import type { ExecSpec } from '../../core/terminals/exec-queue.ts';
import type { Terminal } from '../../core/terminals/terminal.ts';
import type { SseEvent } from '../../http/sse.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { V1Deps } from './app.ts';
import { wireId } from './shell-ids.ts';
import { commandResult, ShellCommandResult, ShellViewResult, viewResult } from './shell-views.ts';
import { refusalOfV1 } from './wording.ts';

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
  { terminals, closing }: V1Deps,
  terminal: Terminal,
  spec: ExecSpec,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  const id = wireId(terminal.id);
  using waiting = new Deadline(null, signal, closing);
  yield { event: 'start', data: { session_id: id, command: spec.command } };
  try {
    const answer = yield* outputEvents(terminals.executions.stream(terminal, spec, waiting.signal));
    yield { event: 'result', data: commandResult(id, answer) };
  } catch (error) {
    yield { event: 'error', data: failed(error) };
  }
}

export async function* viewEvents(
  { terminals, screens, closing }: V1Deps,
  terminal: Terminal,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  const job = terminals.executions.jobOf(terminal);
  const look = async () => viewResult(terminal, await screens.text(terminal), job.look());
  using following = new Deadline(null, signal, closing);
  // From here on, so that nothing is missed between the two.
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
  next.catch(() => null); // Whoever waits for it is told; a client that has gone is not.
  return next;
}

/** null when it takes longer. */
async function within<T>(coming: Promise<T>, ms: number): Promise<T | null> {
  using silence = new Deadline(ms);
  const late = new Promise<null>((resolve) => silence.signal.addEventListener('abort', () => resolve(null)));
  return await Promise.race([coming, late]);
}

function failed(error: unknown): z.input<typeof Failed> {
  if (error instanceof HandedOver) {
    const hint = 'The command did not begin; run it again.';
    return { success: false, message: 'the daemon is being replaced', data: null, hint };
  }
  if (!(error instanceof CoreError)) throw error;
  const { message, hint } = refusalOfV1(error, { namesExecDir: true });
  return { success: false, message, data: null, hint };
}
