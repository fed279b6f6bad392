/** Turns what the page script refuses into an error. */
import { CoreError } from '../../../kit/errors.ts';

/** A value that an element does not take, in the words of the page script. */
export interface Refusal {
  readonly kind: 'refused';
  /** A predicate, as in `is read-only`. */
  readonly why: string;
  /** The element, as in `<input id="name">`. */
  readonly element: string;
}

export function refused(subject: string, { why, element }: Refusal): CoreError {
  return new CoreError('bad_argument', `${subject} (${element}) ${why}`, { next: { operation: 'browser.snapshot' } });
}
