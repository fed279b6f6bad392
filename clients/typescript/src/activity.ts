/** What happens in the sandbox, as it happens. */
import type { CallOptions, Transport } from './transport.ts';
import type { ActivityEntry } from './wire.ts';

/** `lost`: entries before the next one are no longer known, because they were too many or the daemon was replaced. */
export type ActivityEvent = ActivityEntry | { readonly kind: 'lost' };

export interface ActivityOptions extends CallOptions {
  /** Begin after the entry with this `seq`; without it, with the newest hundred. */
  readonly cursor?: number | undefined;
}

/** How long the daemon holds one request open, in seconds. */
const pollSeconds = 25;

/** Goes on until the caller leaves or the signal aborts. Throws a BoxError. */
export async function* followActivity(
  transport: Transport,
  { cursor: from, ...options }: ActivityOptions,
): AsyncGenerator<ActivityEvent> {
  for (let cursor = from; ;) {
    const query = { timeout: pollSeconds, ...(cursor === undefined ? {} : { cursor }) };
    const read = await transport.call('operations.activity', { query }, options);
    if (!read.ok) throw read.error;
    const { entries, gap } = read.body.data;
    if (gap) yield { kind: 'lost' };
    yield* entries;
    ({ cursor } = read.body.data);
  }
}
