/** Waits for a time that an action asks for, or until the caller gives up. */
import { setTimeout } from 'node:timers/promises';
import type { CallOptions } from '../desktop.ts';

/** Rejects with the reason of the signal when the signal aborts first. */
export async function pause(ms: number, { signal }: CallOptions): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
