/** Waits for a time that an action asks for, or until the caller gives up. */
import type { CallOptions } from '../desktop.ts';

/** Rejects with the reason of the signal when the signal aborts first. */
export async function pause(ms: number, { signal }: CallOptions): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
