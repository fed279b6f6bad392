/** Starts the threads in which the runtime makes HTTP requests and reads files. */
import { stat } from 'node:fs/promises';

/**
 * The runtime starts these threads with their first use. Later it may not be able to, for example while a fork bomb holds
 * every process that a container may have: then it aborts at an HTTP request, and a read of a file never ends.
 */
export async function startThreads(): Promise<void> {
  // No server listens at the path, so this request only starts the thread.
  fetch('http://localhost/', { unix: '/dev/null/none' }).catch(() => null);
  await stat('/');
}
