/** Waits until a pattern appears on a screen, until the screen stops changing, or both. */
import { aborted, Deadline } from '../../../kit/deadline.ts';
import type { OpenWorker } from '../../../platform/host/workers.ts';
import { PatternSearch } from './pattern.ts';
import type { Terminal } from '../session/terminal.ts';

export interface ScreenCondition {
  /** A regular expression; null skips this wait. */
  readonly pattern: string | null;
  /** How long no output may arrive after the match; null skips this wait. */
  readonly stableMs: number | null;
  readonly timeoutMs: number;
}

export interface ScreenWait {
  /** null if no pattern was requested. */
  readonly isMatched: boolean | null;
  readonly isStable: boolean | null;
}

/** The shortest time between two reads of a screen that changes all the time. */
const lookEveryMs = 50;

/** Reads the current text of scrollback and screen. */
interface ScreenReader {
  text(terminal: Terminal): Promise<string>;
}

export interface ScreenWaitDeps {
  readonly screens: ScreenReader;
  readonly openWorker: OpenWorker;
}

/** Throws `bad_argument`. */
export async function waitForScreen(
  { screens, openWorker }: ScreenWaitDeps,
  terminal: Terminal,
  { pattern, stableMs, timeoutMs }: ScreenCondition,
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
  screens: ScreenReader,
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
    await aborted(pause.signal);
    await changedPast(terminal, seen, signal);
  }
}

/** Returns true if there was a period without output or resize before the signal aborted. */
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

/** Resolves when there is output past this offset, a resize, the end of the shell, or an abort. */
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
    if (!isAsBefore()) return; // The change arrived before the watch started.
    await changed;
  }
}
