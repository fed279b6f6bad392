/** Tries an action on an element again until the element is ready for it, or the time of the call is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreError } from '../../../kit/errors.ts';
import type { PageCall } from '../browser.ts';

/** Why the page script reports an element as not usable now. */
export interface Waiting {
  readonly kind: 'waiting';
  readonly reason: 'covered' | 'detached' | 'disabled' | 'inert' | 'invisible' | 'moving' | 'outside' | 'unfocused';
  /** The element that takes the pointer, as in `<div id="overlay">`. */
  readonly by?: string;
  /** The element itself, in the same form. */
  readonly element?: string;
}

/** An element may become ready with the next frame, or after a request of the page. */
const delaysMs = [20, 50, 100, 200];

/** `subject` names the element in the error. Throws `page_timeout` with the last reason. */
export async function untilReady<T extends { readonly kind: string }>(
  { signal, timeoutMs }: PageCall,
  subject: string,
  attempt: (last: Waiting | null) => Promise<T | Waiting>,
): Promise<Exclude<T, Waiting>> {
  let last: Waiting | null = null;
  for (let count = 0; ; count++) {
    try {
      const outcome = await attempt(last);
      if (!isWaiting(outcome)) return outcome as Exclude<T, Waiting>;
      last = outcome;
    } catch (error) {
      // The press can close the tab, which fires the signal too.
      const isOver = signal.aborted && (error as Error).name === 'AbortError';
      if (isOver && last) throw neverReady(subject, last, timeoutMs);
      throw error;
    }
    await pause(delaysMs[Math.min(count, delaysMs.length - 1)] ?? 0, signal);
    if (signal.aborted) throw neverReady(subject, last, timeoutMs);
  }
}

function isWaiting(outcome: { readonly kind: string }): outcome is Waiting {
  return outcome.kind === 'waiting';
}

/** Runs work that uses a part of the page which all calls share. */
export async function inTurn<T>(
  { page, signal }: PageCall,
  part: 'input' | 'chooser' | 'view',
  work: () => Promise<T>,
): Promise<T> {
  const mutex = page[part];
  if (!(await mutex.acquire(signal))) throw new DOMException('The wait is over', 'AbortError');
  try {
    return await work();
  } finally {
    mutex.release();
  }
}

/** Also ends when the signal fires, without an error. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal });
  } catch {
    // The caller looks at the signal.
  }
}

function neverReady(subject: string, waiting: Waiting, timeoutMs: number): CoreError {
  const { reason, by = 'another element', element } = waiting;
  const [state, hint] = states[reason];
  const name = element === undefined ? subject : `${subject} (${element})`;
  return new CoreError('page_timeout', `${name} ${state.replace('%', by)} after ${timeoutMs / 1000} s`, {
    hint,
    next: { operation: 'browser.snapshot' },
    facts: { reason, ...(reason === 'covered' && { coveredBy: by }) },
  });
}

const states: Readonly<Record<Waiting['reason'], readonly [state: string, hint: string]>> = {
  covered: ['is still covered by %', 'Close or move the covering element first.'],
  detached: ['still leaves the page again', 'Wait until the page has settled.'],
  disabled: ['is still disabled', 'Fill in what the page requires before it enables the element.'],
  inert: ['is still inert, as everything outside an open dialog is', 'Close the dialog first.'],
  invisible: ['is still not visible', 'Open the part of the page that shows the element first.'],
  moving: ['still moves', 'Wait until the animation ends, or run a script that clicks the element.'],
  outside: ['is still outside the visible part of the page', 'Open or scroll the part that shows the element first.'],
  unfocused: ['still does not keep the focus', 'Click the element first, then fill what the page shows.'],
};
