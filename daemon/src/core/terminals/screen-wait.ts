/** Waits for what a screen is to show: something that is found on it, or that nothing changes any more. */
import { Deadline } from '../../kit/deadline.ts';
import type { OpenWorker } from '../../platform/workers.ts';
import type { Screens } from './screen.ts';
import { PatternSearch } from './screen-pattern.ts';
import type { Terminal } from './terminal.ts';

export interface ScreenWish {
  /** A regular expression; null waits for none. */
  readonly pattern: string | null;
  /** Once it is found, nothing has come for so long; null does not wait. */
  readonly stableMs: number | null;
  readonly timeoutMs: number;
}

export interface ScreenWait {
  /** null where it was not asked for. */
  readonly isMatched: boolean | null;
  readonly isStable: boolean | null;
}

/** A screen that changes all the time is not looked at more often. */
const lookEveryMs = 50;

export interface ScreenWaitDeps {
  readonly screens: Screens;
  readonly openWorker: OpenWorker;
}

/** Throws `bad_argument`. */
export async function waitForScreen(
  { screens, openWorker }: ScreenWaitDeps,
  terminal: Terminal,
  { pattern, stableMs, timeoutMs }: ScreenWish,
  ...ends: readonly AbortSignal[]
): Promise<ScreenWait> {
  using deadline = new Deadline(timeoutMs, ...ends);
  let isMatched: boolean | null = null;
  if (pattern !== null) {
    using search = new PatternSearch(pattern, openWorker);
    isMatched = await isFound(screens, terminal, search, deadline.signal);
  }
  const isStable = stableMs === null ? null : await isQuiet(terminal, stableMs, deadline.signal);
  return { isMatched, isStable };
}

async function isFound(
  screens: Screens,
  terminal: Terminal,
  search: PatternSearch,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const { isTerminated } = terminal;
    const seen = terminal.log.refresh();
    if (await search.isIn(await screens.text(terminal))) return true;
    if (signal.aborted || isTerminated) return false;
    using pause = new Deadline(lookEveryMs, signal);
    await untilAborted(pause.signal);
    await changedPast(terminal, seen, signal);
  }
}

/** Whether there was a time without output or another size before the signal. */
async function isQuiet(terminal: Terminal, stableMs: number, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const seen = terminal.log.refresh();
    using quiet = new Deadline(stableMs, signal);
    if (terminal.isTerminated) return true;
    await changedPast(terminal, seen, quiet.signal);
    if (signal.aborted) return false;
    if (terminal.log.refresh() === seen && quiet.passed) return true;
  }
}

/** Resolves when there is output past this offset, another size, the end of the shell, or an abort. */
async function changedPast(terminal: Terminal, seen: number, signal: AbortSignal): Promise<void> {
  const { cols, rows } = terminal.size;
  const isAsBefore = () =>
    terminal.log.refresh() === seen &&
    !terminal.isTerminated &&
    terminal.size.cols === cols &&
    terminal.size.rows === rows;
  while (!signal.aborted && isAsBefore()) {
    const changed = terminal.log.changed(signal);
    terminal.log.watch();
    if (!isAsBefore()) return; // It came before it was watched for.
    await changed;
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
