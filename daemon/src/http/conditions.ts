/** Conditional requests (RFC 9110, section 13), for what has an entity tag and a time of its last change. */

export interface State {
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Since 1970. */
  readonly modifiedMs: number;
}

/** A cache that asks has what there is: 304. */
export function isKnown(headers: Headers, state: State): boolean {
  const tags = headers.get('if-none-match');
  if (tags !== null) return names(tags, state.etag, true);
  const since = timeOf(headers.get('if-modified-since'));
  return since !== null && wholeSeconds(state.modifiedMs) <= since;
}

/** False where the caller names a state that is not the one there is. */
export function meetsCondition(headers: Headers, state: State): boolean {
  const tags = headers.get('if-match');
  if (tags !== null) return names(tags, state.etag, false);
  const since = timeOf(headers.get('if-unmodified-since'));
  return since === null || wholeSeconds(state.modifiedMs) <= since;
}

/** Whether a part is wanted of what there is now: else the whole is sent. */
export function wantsPartOf(headers: Headers, state: State): boolean {
  const condition = headers.get('if-range');
  if (condition === null) return true;
  return condition.includes('"')
    ? condition.trim() === state.etag
    : timeOf(condition) === wholeSeconds(state.modifiedMs);
}

/** An entity tag of the same state in another coding: `"x"` and `"x-gzip"`. */
export function codedTag(etag: string, coding: string): string {
  return `${etag.slice(0, -1)}-${coding}"`;
}

/** Weakly, a coded form counts as the same: the state is the same. */
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

/** A date of HTTP has no more. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
