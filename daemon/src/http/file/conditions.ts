/** Evaluates conditional requests (RFC 9110, section 13) against an entity tag and a modification time. */

export interface State {
  /** A strong entity tag, including its quotes. */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** True when the client's cached copy is current, so that the answer is 304. */
export function isKnown(headers: Headers, state: State): boolean {
  const tags = headers.get('if-none-match');
  if (tags !== null) return names(tags, state.etag, true);
  const since = timeOf(headers.get('if-modified-since'));
  return since !== null && wholeSeconds(state.modifiedMs) <= since;
}

/** False when the caller's condition names a different state. */
export function meetsCondition(headers: Headers, state: State): boolean {
  const tags = headers.get('if-match');
  if (tags !== null) return names(tags, state.etag, false);
  const since = timeOf(headers.get('if-unmodified-since'));
  return since === null || wholeSeconds(state.modifiedMs) <= since;
}

/** Whether a requested range applies to the current state; otherwise the whole is sent. */
export function wantsPartOf(headers: Headers, state: State): boolean {
  const condition = headers.get('if-range');
  if (condition === null) return true;
  return condition.includes('"')
    ? condition.trim() === state.etag
    : timeOf(condition) === wholeSeconds(state.modifiedMs);
}

/** The entity tag of the same state in another coding: `"x"` becomes `"x-gzip"`. */
export function codedTag(etag: string, coding: string): string {
  return `${etag.slice(0, -1)}-${coding}"`;
}

/** Whether a list of entity tags contains this one. The compressed form of the same state counts as a match. */
function names(list: string, etag: string, isWeak: boolean): boolean {
  if (list.trim() === '*') return true;
  const tags = [...list.matchAll(/(W\/)?("[^"]*")/g)].filter(([, weak]) => isWeak || weak === undefined);
  return tags.some(([, , tag]) => tag === etag || (tag !== undefined && isCodedForm(tag, etag)));
}

function isCodedForm(tag: string, etag: string): boolean {
  return tag === codedTag(etag, 'gzip') || tag === codedTag(etag, 'zstd');
}

function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

/** HTTP dates have whole seconds only. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
