/** Waits for operations in progress, whatever their outcome, until a signal aborts. */
import { untilAborted } from './shared-work.ts';

export async function settled(operations: Iterable<Promise<unknown>>, signal: AbortSignal): Promise<void> {
  await untilAborted(Promise.allSettled(operations), signal).catch(() => null);
}
