/** Changes of files, as they happen. */
import { Handle, succeeded, type Result } from './result.ts';
import type { Body, CallOptions, Transport } from './transport.ts';
import type { WatchEvent } from './wire.ts';

/**
 * `lost`: changes may have been missed, because they came too fast or the daemon was replaced. What was known of the
 * tree is void: list it again. Later events are whole.
 */
export type FileChange = WatchEvent | { readonly type: 'lost' };

/** How long the daemon holds one request open, in seconds. */
const pollSeconds = 25;

/** A path that is being watched. Leaving a `for await` over it stops that. */
export class Watch extends Handle {
  #id = '';
  #cursor = 0;
  #isStopped = false;

  private constructor(
    private readonly transport: Transport,
    private readonly body: Body<'watch.create'>,
    private readonly options: CallOptions,
  ) {
    super();
  }

  /** Returns when no later change can be missed. */
  static async start(transport: Transport, body: Body<'watch.create'>, options: CallOptions): Promise<Result<Watch>> {
    const watch = new Watch(transport, body, options);
    const started = await watch.#start();
    return started.ok ? succeeded(watch) : started;
  }

  /** Ends when the path is gone, and after `stop`. Throws a BoxError. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FileChange> {
    try {
      while (!this.#isStopped) {
        const query = { cursor: this.#cursor, timeout: pollSeconds };
        const polled = await this.transport.call('watch.poll', { path: { id: this.#id }, query }, this.options);
        if (polled.ok) {
          const { events, cursor, overflow, status } = polled.body.data;
          this.#cursor = cursor;
          if (overflow) yield { type: 'lost' };
          yield* events;
          if (status === 'gone' && events.length === 0) return;
        } else if (polled.error.code !== 'watcher_not_found') throw polled.error;
        else if (!this.#isStopped) {
          // A watcher ends with its daemon. The path is watched again before the caller hears of the loss.
          const started = await this.#start();
          if (!started.ok) throw started.error;
          yield { type: 'lost' };
        }
      }
    } finally {
      await this.stop();
    }
  }

  /** A daemon that is away has stopped it. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.transport.call('watch.stop', { path: { id: this.#id } }, { retryMs: 0 });
  }

  async #start(): Promise<Result<unknown>> {
    const made = await this.transport.call('watch.create', { body: this.body }, this.options);
    if (made.ok) ({ watcher_id: this.#id, initial_cursor: this.#cursor } = made.body.data);
    return made;
  }
}
