/** Remembers what the model has seen: the numbers of elements, and the last snapshot of each tab. */
import type { ElementName } from '../../../core/browser/actions/element.ts';
import type { Look } from '../../../core/browser/snapshot/snapshot.ts';
import { CoreError } from '../../../kit/errors.ts';

/** Numbers that no daemon of this sandbox has given yet. */
export interface NumberBlocks {
  /** The first of this many numbers. */
  reserve(count: number): number;
}

/** An element that the model has seen. */
export interface ShownElement {
  readonly ref: string;
  /** Null for the active tab: an error has named the element, and no snapshot yet. */
  readonly tabId: string | null;
}

/** The last snapshot of a tab that the model has seen. */
export type SeenPage = Pick<Look, 'id' | 'document' | 'url'>;

const blockSize = 1000;
/** More than a model has in view. */
const maxElements = 50_000;
const maxTabs = 200;

/** A number names one element and is never given to another one, so that an old number cannot hit a new element. */
export class ShownPages {
  readonly #elements = new Map<number, ShownElement>();
  readonly #numbers = new Map<string, number>();
  readonly #seen = new Map<string, SeenPage>();
  #next = 0;
  #end = 0;

  constructor(private readonly blocks: NumberBlocks) {}

  /** The number of an element, which is given with the first use of the ref. */
  numberOf(element: ShownElement): number {
    const known = this.#numbers.get(element.ref);
    if (known !== undefined) {
      if (element.tabId !== null) this.#elements.set(known, element);
      return known;
    }
    if (this.#next === this.#end) {
      this.#next = this.blocks.reserve(blockSize);
      this.#end = this.#next + blockSize;
    }
    const number = this.#next++;
    this.#numbers.set(element.ref, number);
    this.#elements.set(number, element);
    const [oldest] = this.#elements;
    if (this.#elements.size > maxElements && oldest) this.#forget(...oldest);
    return number;
  }

  /** Throws `ref_stale` for a number that is not known. */
  elementOf(number: number): ShownElement {
    const element = this.#elements.get(number);
    if (element) return element;
    throw new CoreError('ref_stale', `no element has been shown with index ${number}`, {
      next: { operation: 'browser.snapshot' },
    });
  }

  /** What the model has seen of a tab; null for nothing. */
  seen(tabId: string): SeenPage | null {
    return this.#seen.get(tabId) ?? null;
  }

  see(tabId: string, { id, document, url }: SeenPage): void {
    this.#seen.delete(tabId);
    // Without the tree, which is large.
    this.#seen.set(tabId, { id, document, url });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > maxTabs && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** The same error with the number of each element in place of the ref, which the model has never seen. */
  worded(error: unknown): unknown {
    if (!(error instanceof CoreError) || error.code === 'invalid_input') return error;
    const { code, message, hint, advice, next, argument, isRetryable } = error;
    const words = (text: string) =>
      text.replaceAll(/\bref (e\d{1,9}-[0-9a-z]{5})\b/g, (_, ref: string) => {
        return `index ${this.numberOf({ ref, tabId: null })}`;
      });
    return new CoreError(code, words(message), {
      ...{ hint: hint === null ? null : ownWords(hint), advice, next, isRetryable },
      ...(argument !== null && { argument }),
    });
  }

  #forget(number: number, { ref }: ShownElement): void {
    this.#elements.delete(number);
    this.#numbers.delete(ref);
  }
}

/** A hint of core with the names of these tools. */
function ownWords(hint: string): string {
  return hint
    .replaceAll(/\b([Aa]) ref\b/g, '$1n index')
    .replaceAll(/\bref\b/g, 'index')
    .replace('the value of fill', 'the value of browser_fill')
    .replace('as an expression', 'as a script');
}

/** What a call names an element by. */
export interface NamedElement {
  readonly index?: number | undefined;
  readonly selector?: string | undefined;
  readonly role?: string | undefined;
  readonly name?: string | undefined;
}

/** The element and its tab; a tab of null is the active one. Null when the call names no element. */
export function targetOf(
  pages: ShownPages,
  { index, selector, role, name }: NamedElement,
): { readonly element: ElementName; readonly tabId: string | null } | null {
  if (index !== undefined) {
    const { ref, tabId } = pages.elementOf(index);
    return { element: { ref }, tabId };
  }
  if (selector !== undefined) return { element: { selector }, tabId: null };
  if (role === undefined && name === undefined) return null;
  const locator = { role: role ?? null, name: name ?? null, label: null, text: null };
  return { element: { locator }, tabId: null };
}
