/** Asks the daemon only while a person can see the page. */
import type { Fetch } from '../../../clients/typescript/src/index.ts';

/** A request waits while the page is hidden. */
export const fetchWhenSeen: Fetch = async (url, init) => {
  await untilSeen(init.signal);
  return await fetch(url, init);
};

async function untilSeen(signal: AbortSignal | null | undefined): Promise<void> {
  while (document.hidden && !signal?.aborted) {
    await new Promise<void>((resolve) => {
      document.addEventListener('visibilitychange', () => resolve(), { once: true });
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

/** Repeats an action: begins at once, waits `pauseMs` after each end, and pauses while the page is hidden. The action throws nothing. Returns what ends it. */
export function whileSeen(pauseMs: number, action: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;
  let isBusy = false;
  const turn = async () => {
    if (isBusy || isStopped || document.hidden) return;
    isBusy = true;
    clearTimeout(timer ?? undefined);
    await action();
    isBusy = false;
    if (!isStopped) timer = setTimeout(() => void turn(), pauseMs);
  };
  const onSeen = () => void turn();
  document.addEventListener('visibilitychange', onSeen);
  void turn();
  return () => {
    isStopped = true;
    clearTimeout(timer ?? undefined);
    document.removeEventListener('visibilitychange', onSeen);
  };
}
