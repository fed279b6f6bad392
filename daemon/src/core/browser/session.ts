/** A CDP session: commands to one target, and its events. */
import { CdpClosed } from '../../protocols/cdp-errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import type {
  CdpCommands,
  CdpConnection,
  CdpEvent,
  CdpEvents,
  CdpMethod,
  CdpParams,
  CdpResult,
  CdpSendOptions,
} from '../../platform/clients/cdp-connection.ts';

type Listener = (params: unknown) => void;

/** Parameters may be left out where all of them are optional. */
type Arguments<M extends CdpMethod> = CdpCommands[M]['paramsType'] extends [infer P]
  ? [params: P, signal?: AbortSignal]
  : [params?: CdpParams<M>, signal?: AbortSignal];

/** Answers with the URLs and names that a page has chosen. The beginnings of long ones suffice. */
const shortenedAnswers = new Set<CdpMethod>([
  ...(['Page.getFrameTree', 'Page.getNavigationHistory', 'DOM.describeNode'] as const),
  'Target.getTargets',
]);

export class Session {
  readonly #listeners = new Map<string, Listener[]>();
  readonly #waits = new Set<(reason: CdpClosed) => void>();
  #ended: CdpClosed | null = null;

  /** `id` is null for the session of the browser itself. */
  constructor(
    readonly id: string | null,
    private readonly connection: CdpConnection,
  ) {}

  get isEnded(): boolean {
    return this.#ended !== null || !this.connection.isOpen;
  }

  /** Rejects with `CdpRefusal`, with `CdpClosed`, or with an `AbortError` when the signal fires first. */
  async send<M extends CdpMethod>(method: M, ...[params, signal]: Arguments<M>): Promise<CdpResult<M>> {
    const isShortened = shortenedAnswers.has(method);
    return (await this.#send(method, params ?? {}, { signal, isShortened })) as CdpResult<M>;
  }

  async sendUntyped(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    return await this.#send(method, params, { signal });
  }

  /** The value of an expression in the page's own world. */
  async valueOf<T>(expression: string, signal: AbortSignal): Promise<T> {
    const { result } = await this.send('Runtime.evaluate', { expression, returnByValue: true }, signal);
    return result.value as T;
  }

  /** The value of a function that is called with a remote object as `this`. */
  async valueOn<T>(objectId: string, functionDeclaration: string, values: unknown[], signal: AbortSignal): Promise<T> {
    const params = { objectId, functionDeclaration, arguments: values.map((value) => ({ value })) };
    const { result } = await this.send('Runtime.callFunctionOn', { ...params, returnByValue: true }, signal);
    return result.value as T;
  }

  /** Sends without waiting for the answer. */
  tell<M extends CdpMethod>(method: M, ...[params]: Arguments<M>): void {
    this.#send(method, params ?? {}).catch(() => {
      // The caller does not need the answer. A page that has gone shows in the next command.
    });
  }

  /** Returns a function that removes the listener. */
  on<E extends keyof CdpEvents>(event: E, listener: (params: CdpEvents[E][0]) => void): () => void {
    const listeners = this.#listeners.getOrInsert(event, []);
    listeners.push(listener as Listener);
    return () => void listeners.splice(listeners.indexOf(listener as Listener), 1);
  }

  emit(event: string, params: unknown): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(params);
  }

  /** Throws `CdpClosed` when the target has gone. */
  assertOpen(): void {
    if (this.#ended !== null) throw this.#ended;
  }

  isHeard(event: string): boolean {
    return (this.#listeners.get(event)?.length ?? 0) > 0;
  }

  /** Calls the listener when the target has gone or crashed, so that its answers and events do not come. */
  onGone(listener: (reason: CdpClosed) => void): Disposable {
    this.#waits.add(listener);
    return { [Symbol.dispose]: () => this.#waits.delete(listener) };
  }

  /** Ends what waits for the target now. A crashed page is loaded again in the same session. */
  interrupt(reason: CdpClosed): void {
    if (this.id !== null) this.connection.endSession(this.id, reason.message);
    for (const gone of [...this.#waits]) gone(reason);
  }

  end(reason: CdpClosed): void {
    this.#ended ??= reason;
    this.interrupt(reason);
  }

  async #send(method: string, params: object, options: Omit<CdpSendOptions, 'sessionId'> = {}): Promise<unknown> {
    if (this.#ended !== null) throw this.#ended;
    return await this.connection.send(method, params, { ...options, sessionId: this.id ?? undefined });
  }
}

/** All sessions of one connection. */
export class CdpSessions {
  /** The session of the browser itself. */
  readonly root: Session;
  readonly #targets = new Map<string, Session>();

  constructor(private readonly connection: CdpConnection) {
    this.root = new Session(null, connection);
  }

  /** The object for a session that the browser has opened. */
  open(id: string): Session {
    const session = new Session(id, this.connection);
    this.#targets.set(id, session);
    return session;
  }

  close(id: string, reason: string): void {
    this.#targets.get(id)?.end(new CdpClosed(reason));
    this.#targets.delete(id);
  }

  receive({ method, params, sessionId }: CdpEvent): void {
    const session = sessionId === undefined ? this.root : this.#targets.get(sessionId);
    session?.emit(method, params);
  }

  isHeard(method: string): boolean {
    return this.root.isHeard(method) || this.#targets.values().some((session) => session.isHeard(method));
  }

  end(reason: CdpClosed): void {
    this.root.end(reason);
    for (const session of this.#targets.values()) session.end(reason);
    this.#targets.clear();
  }
}

/** A signal that fires with another one, and when the target of a session has gone or crashed. */
export class SessionWait implements Disposable {
  readonly #wait: Deadline;
  readonly #listener: Disposable;
  #gone: CdpClosed | null = null;

  constructor(session: Session, signal: AbortSignal) {
    this.#wait = new Deadline(null, signal);
    this.#listener = session.onGone((reason) => {
      this.#gone ??= reason;
      this.#wait[Symbol.dispose]();
    });
  }

  get signal(): AbortSignal {
    return this.#wait.signal;
  }

  /** Why the target does not answer any more; null while it does. */
  get gone(): CdpClosed | null {
    return this.#gone;
  }

  [Symbol.dispose](): void {
    this.#listener[Symbol.dispose]();
    this.#wait[Symbol.dispose]();
  }
}
