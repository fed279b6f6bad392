/** Waits for operations in progress, whatever their outcome, until a signal aborts. */

export async function settled(operations: Iterable<Promise<unknown>>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const abort = () => resolve();
  signal.addEventListener('abort', abort, { once: true });
  await Promise.race([Promise.allSettled(operations), aborted]);
  signal.removeEventListener('abort', abort);
}
