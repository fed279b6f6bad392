/** The time that a call on the browser may take. */

const defaultMs = 30_000;

/** In milliseconds, from the seconds that the caller grants; null for the default. */
export function timeLimitMs(timeout: number | null): number {
  return timeout === null ? defaultMs : timeout * 1000;
}
