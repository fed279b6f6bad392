/** Repeats an action while a person can see the page. */

/** Begins at once, waits `pauseMs` after each end, and pauses while the page is hidden. The action throws nothing. Returns what ends it. */
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
