/** The daemon's HTTP client of the computer-use worker: bounded calls with deadlines, and clear errors. */
import { CoreError } from '../../kit/errors.ts';
import { directFetch, isRefused, readBounded } from './direct-fetch.ts';

export interface WorkerCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The data of `GET /v2/computer/info`, unchecked. */
export interface WorkerInfo {
  readonly available?: boolean;
  readonly display?: string | null;
  readonly screen_resolution?: { readonly width: number; readonly height: number } | null;
  readonly capabilities?: Readonly<Partial<Record<WorkerAbility, boolean>>>;
  readonly warnings?: readonly string[];
}

export type WorkerAbility = 'screenshot' | 'actions' | 'clipboard' | 'recording' | 'accessibility';

/** One action may wait for 60 s, and a batch for 20 s; the rest is for the actions themselves. */
const answerWithinMs = 90_000;
/** How often a worker that owes an answer has to show that it runs, and how long it may take for that. */
const checkEveryMs = 3000;
const aliveWithinMs = 5000;
/** Calls wait for each other at the display, so more of them would only wait. */
const maxCalls = 64;
/** Several times the largest picture of a display with a side of 8192 pixels. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** Anything else comes from another program on the port, and a page must not get the daemon's origin. */
const answerTypes = /^(application\/json|image\/(png|jpeg|webp))(;|$)/;
const passedHeader = /^(content-type|retry-after|cache-control|x-(screen|image)-(width|height))$/;

export class DesktopWorker {
  #calls = 0;
  /** Calls without an answer. One check serves all of them, because calls may wait for each other for long. */
  readonly #unanswered = new Set<AbortController>();
  #checking: ReturnType<typeof setInterval> | null = null;

  constructor(readonly url: string) {}

  get calls(): number {
    return this.#calls;
  }

  /** Throws `unavailable` and `capacity_reached`; an answer that reports an error is an answer. */
  async send(call: WorkerCall): Promise<Response> {
    if (this.#calls >= maxCalls) {
      throw new CoreError('capacity_reached', `${maxCalls} desktop calls are open, which is the limit`, {
        hint: 'Wait for one of them, or send several actions as one batch.',
      });
    }
    this.#calls += 1;
    try {
      return await this.#send(call);
    } finally {
      this.#calls -= 1;
    }
  }

  /** The worker's description of itself. Throws `unavailable`. */
  async info(signal: AbortSignal): Promise<WorkerInfo> {
    const call = { method: 'GET', path: '/v2/computer/info', body: undefined, headers: {}, signal };
    const response = await this.#send(call);
    const { data } = (await response.json()) as { data?: WorkerInfo | null };
    if (response.status === 200 && data) return data;
    throw this.#unavailable(`it answers with status ${response.status}`);
  }

  async #send({ method, path, body, headers, signal }: WorkerCall): Promise<Response> {
    const deadline = AbortSignal.timeout(answerWithinMs);
    const stalled = new AbortController();
    this.#expect(stalled);
    try {
      const response = await directFetch(`${this.url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        keepalive: false, // A connection that the worker closes at its end would fail the next call.
        redirect: 'manual',
        signal: AbortSignal.any([signal, deadline, stalled.signal]),
      });
      return await passedOn(response);
    } catch (error) {
      if (error instanceof CoreError) throw error;
      if (stalled.signal.aborted) throw this.#stalled();
      throw this.#unavailable(deadline.aborted ? `no answer came within ${answerWithinMs / 1000} s` : reasonOf(error));
    } finally {
      this.#unanswered.delete(stalled);
      if (this.#unanswered.size === 0) this.#stopChecking();
    }
  }

  #expect(call: AbortController): void {
    this.#unanswered.add(call);
    this.#checking ??= setInterval(() => void this.#check(), checkEveryMs);
  }

  #stopChecking(): void {
    if (this.#checking) clearInterval(this.#checking);
    this.#checking = null;
  }

  /** Any answer shows that the worker runs. A process that was stopped accepts connections and answers nothing. */
  async #check(): Promise<void> {
    const owed = [...this.#unanswered];
    try {
      const signal = AbortSignal.timeout(aliveWithinMs);
      const { body } = await directFetch(`${this.url}/health`, { keepalive: false, redirect: 'manual', signal });
      await body?.cancel();
    } catch {
      // The calls report it: those that the worker owed an answer before the check.
      for (const call of owed) call.abort();
    }
  }

  #stalled(): CoreError {
    return new CoreError('unavailable', 'computer-use worker is not available', {
      hint: 'Its process is stopped, or hangs: continue it, or start it again.',
      next: { operation: 'capabilities.read' },
      facts: {
        url: this.url,
        reason: `it accepts connections and answers nothing, not even within ${aliveWithinMs / 1000} s`,
      },
    });
  }

  #unavailable(reason: string): CoreError {
    const port = URL.parse(this.url)?.port ?? ''; // Empty for the default of the scheme.
    const command = port === '' ? 'boxkeep computer-use' : `boxkeep computer-use --port ${port}`;
    return new CoreError('unavailable', 'computer-use worker is not available', {
      hint: `Run ${command} with DISPLAY set to the display, or set SVC_COMPUTER_USE_URL to where it listens.`,
      next: { operation: 'capabilities.read' },
      facts: { url: this.url, reason },
    });
  }
}

async function passedOn(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!answerTypes.test(type)) {
    await response.body?.cancel();
    throw new Error(`what listens there answers with ${type === '' ? 'no media type' : type}`);
  }
  const bytes = await readBounded(response.body, maxAnswerBytes);
  if (bytes === null) throw new Error(`its answer is over ${maxAnswerBytes} bytes`);
  const headers = [...response.headers].filter(([name]) => passedHeader.test(name));
  return new Response(bytes, {
    status: response.status,
    headers: [...headers, ['content-length', String(bytes.length)]],
  });
}

function reasonOf(error: unknown): string {
  // The message of the runtime for this error begins with its code, and asks about the URL.
  if (isRefused(error)) return 'nothing listens there';
  const { code, message } = error as { code?: string; message?: string };
  return [code, message].filter(Boolean).join(': ') || String(error);
}
