/** Runs one request of the protocol, and answers it as JSON or as a stream of Server-Sent Events. */
import { jsonAnswer } from '../../http/stream/json-answer.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { SseStream, sseResponse, type SseEvent } from '../../http/stream/sse.ts';
import { Deadline } from '../../kit/deadline.ts';
import { nullOnNow } from '../../kit/errno.ts';
import { CoreError, firstFailure } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { McpDeps, ToolSet } from './app.ts';
import { FollowedOutput } from './followed-output.ts';
import { answerMethod } from './methods.ts';
import { codes, errorMessage, resultMessage, RpcError, type Message, type RequestId } from './protocol.ts';
import { clientOf, type RunningCalls } from './running-calls.ts';
import type { SavedOutputs } from './saved-outputs.ts';

/** A call that takes longer answers as a stream, where the client accepts one, so that no proxy sees silence. */
const answerWithinMs = 5000;
const heartbeatMs = 15_000;
/** A notification follows the one before it after this time at the earliest. */
const progressEveryMs = 100;

export interface CallContext {
  readonly deps: McpDeps;
  readonly set: ToolSet;
  readonly context: RequestContext;
  readonly calls: RunningCalls;
  readonly outputs: SavedOutputs;
}

/** One request that runs. Its answer is JSON when it comes soon or when the client accepts nothing else. */
export class Call {
  readonly #followed: FollowedOutput | null;
  readonly #gone = new AbortController();

  constructor(
    private readonly on: CallContext,
    private readonly message: Message,
    private readonly id: RequestId,
  ) {
    this.#followed = tokenOf(message) === null ? null : new FollowedOutput();
  }

  async respond(): Promise<Response> {
    const { calls, context } = this.on;
    const { headers, signal } = context;
    const wants = acceptedBy(headers);
    // Refused before the call starts when the limit on streams is reached.
    const stream = wants === 'stream' ? context.openStream() : null;
    const running = calls.begin({ id: this.id, client: clientOf(headers) });
    const cancelled = new Deadline(null, running.signal, signal, this.#gone.signal);
    const answer = this.#answer(cancelled.signal).finally(() => {
      cancelled[Symbol.dispose]();
      running[Symbol.dispose]();
    });
    answer.catch(() => null); // The stream, or the caller of this function, gets the error.
    const isLate = !stream && wants === 'either' && !(await this.#isSoon(answer));
    // The call runs already, so a client beyond the limit on streams gets its answer as JSON.
    const opened = isLate ? nullOnNow(CoreError, () => context.openStream()) : stream;
    if (opened) return sseResponse(new SseStream((gone) => this.#events(answer, gone)), opened);
    return jsonAnswer(await answer, 'POST', context);
  }

  /** The message that answers the call. Throws `HandedOver`, and errors that are bugs. */
  async #answer(cancelled: AbortSignal): Promise<object> {
    const { deps, set, context, outputs } = this.on;
    try {
      const environment = { deps, set, context, cancelled, outputs, followed: this.#followed };
      return resultMessage(this.id, await answerMethod(environment, this.message));
    } catch (thrown) {
      const error = firstFailure(thrown);
      if (error instanceof RpcError && error.status === undefined) return errorMessage(this.id, error);
      if (isAbort(error) && (cancelled.aborted || deps.closing.aborted)) {
        return errorMessage(
          this.id,
          new RpcError(codes.internalError, 'the call was cancelled', { reason: 'unavailable' }),
        );
      }
      throw error;
    }
  }

  /** Whether the answer comes before it is worth a stream: before any output that the client follows. */
  async #isSoon(answer: Promise<object>): Promise<boolean> {
    using deadline = new Deadline(answerWithinMs);
    const settled = answer.then(
      () => true,
      () => true,
    );
    const late = new Promise<boolean>((resolve) => {
      deadline.signal.addEventListener('abort', () => resolve(false), { once: true });
    });
    const followed = this.#followed?.changed(deadline.signal).then(() => deadline.passed || !this.#followed?.hasNews);
    return await Promise.race([settled, late, ...(followed ? [followed] : [])]);
  }

  async *#events(answer: Promise<object>, gone: AbortSignal): AsyncGenerator<SseEvent> {
    const stop = () => this.#gone.abort();
    gone.addEventListener('abort', stop, { once: true });
    try {
      yield* this.#progress(answer, gone);
      if (!gone.aborted) yield { event: 'message', data: await this.#lateAnswer(answer) };
    } finally {
      // The client may close the stream at any point; the call then stops waiting.
      if (gone.aborted) stop();
    }
  }

  async *#progress(answer: Promise<object>, gone: AbortSignal): AsyncGenerator<SseEvent> {
    using over = new Deadline(null, gone);
    const ended = answer.then(
      () => over[Symbol.dispose](),
      () => over[Symbol.dispose](),
    );
    while (!over.passed) {
      using quiet = new Deadline(heartbeatMs, over.signal);
      if (this.#followed) await this.#followed.changed(quiet.signal);
      else await aborted(quiet.signal);
      if (this.#followed?.hasNews === true) {
        yield* this.#news();
        using pause = new Deadline(progressEveryMs, over.signal);
        await aborted(pause.signal);
      } else if (!over.passed) {
        yield { comment: 'waiting' };
      }
    }
    if (!gone.aborted) await ended;
    yield* this.#news();
  }

  *#news(): Generator<SseEvent> {
    const progressToken = tokenOf(this.message);
    for (const progress of this.#followed?.take() ?? []) {
      yield { event: 'message', data: notification({ ...progress, progressToken }) };
    }
  }

  /** A stream has begun, so the request cannot be repeated at another daemon any more. */
  async #lateAnswer(answer: Promise<object>): Promise<object> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof HandedOver)) throw error;
      const text = 'The daemon was replaced before the call began. Nothing was started: send the call again.';
      return resultMessage(this.id, { content: [{ type: 'text', text }], isError: true });
    }
  }
}

function notification(params: object): object {
  return { jsonrpc: '2.0', method: 'notifications/progress', params };
}

function tokenOf({ meta }: Message): RequestId | null {
  const token = meta['progressToken'];
  return typeof token === 'string' || typeof token === 'number' ? token : null;
}

/** A header that names neither form gets JSON, as curl without a header does. */
function acceptedBy(headers: Headers): 'json' | 'stream' | 'either' {
  const accept = headers.get('accept') ?? '';
  const takesStream = accept.includes('text/event-stream');
  const takesJson = accept.includes('application/json') || accept.includes('*/*') || accept.includes('application/*');
  return takesStream ? (takesJson ? 'either' : 'stream') : 'json';
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
