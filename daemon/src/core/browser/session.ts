/** A CDP session: commands to one target, and its events. */
import { CdpClosed } from '../../kit/cdp-errors.ts';
import type {
  CdpCommands,
  CdpConnection,
  CdpEvents,
  CdpMethod,
  CdpParams,
  CdpResult,
} from '../../platform/cdp-connection.ts';

type Listener = (params: unknown) => void;

/** Parameters may be left out where all of them are optional. */
type Arguments<M extends CdpMethod> = CdpCommands[M]['paramsType'] extends [infer P]
  ? [params: P, signal?: AbortSignal]
  : [params?: CdpParams<M>, signal?: AbortSignal];

export class Session {
  readonly #listeners = new Map<string, Listener[]>();
  #ended: string | null = null;

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
    return (await this.sendUntyped(method, params ?? {}, signal)) as CdpResult<M>;
  }

  async sendUntyped(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (this.#ended !== null) throw new CdpClosed(this.#ended);
    return await this.connection.send(method, params, { sessionId: this.id ?? undefined, signal });
  }

  /** The value of an expression in the page's own world. */
  async valueOf<T>(expression: string, signal: AbortSignal): Promise<T> {
    const { result } = await this.send('Runtime.evaluate', { expression, returnByValue: true }, signal);
    return result.value as T;
  }

  /** Sends without waiting for the answer. */
  tell<M extends CdpMethod>(method: M, ...[params]: Arguments<M>): void {
    this.sendUntyped(method, params ?? {}).catch(() => {
      // The caller does not need the answer. A page that has gone shows in the next command.
    });
  }

  /** Returns a function that removes the listener. */
  on<E extends keyof CdpEvents>(event: E, listener: (params: CdpEvents[E][0]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? [];
    this.#listeners.set(event, listeners);
    listeners.push(listener as Listener);
    return () => void listeners.splice(listeners.indexOf(listener as Listener), 1);
  }

  emit(event: string, params: unknown): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(params);
  }

  end(reason: string): void {
    this.#ended ??= reason;
    if (this.id !== null) this.connection.endSession(this.id, reason);
  }
}
