/** Puts a value into a field of a page, as a user would, and reports what the field holds afterwards. */
import { CoreError } from '../../../kit/errors.ts';
import type { Browser, CallEffects, PageCall, PageCallOptions } from '../browser.ts';
import { DocumentGone } from '../failures.ts';
import type { RefTarget } from '../page.ts';
import { actionOptions, clickElement, plainClick } from './click.ts';
import { findElement, subjectOf, type ElementName } from './element.ts';
import { settled, type Place } from './outcome.ts';
import { refused, type Refusal } from './refusal.ts';
import { inTurn, untilReady, type Waiting } from './waiting.ts';

export type FieldValue = string | number | boolean | readonly string[];

export interface FillSpec extends PageCallOptions {
  readonly element: ElementName;
  readonly value: FieldValue;
}

/** What the field holds. A password has neither value nor length, and a long text only a length. */
export interface Held {
  readonly value?: string | boolean | readonly string[];
  readonly length?: number;
  /** False when the page has changed or refused the value. */
  readonly matches: boolean;
}

type Outcome =
  | { readonly kind: 'done'; readonly held: Held }
  | { readonly kind: 'click' }
  | { readonly kind: 'type'; readonly text: string }
  | Refusal
  | Waiting;

/** Throws `ref_stale`, `bad_argument` with the format that the field takes, and `page_timeout` with the reason. */
export async function fill(
  browser: Browser,
  spec: FillSpec,
): Promise<{ value: { readonly place: Place; readonly held: Held | null }; effects: CallEffects }> {
  return await browser.onPage(actionOptions(spec), async (call) => {
    const target = await findElement(call, spec.element);
    let held: Held | null = null;
    const place = await settled(call, async () => {
      held = (await put(call, target, spec)) ?? (await heldAfter(call, target, spec.value));
    });
    return { place, held };
  });
}

/** Returns what the field holds, when the page script knows already. */
async function put(call: PageCall, target: RefTarget, { element, value }: FillSpec): Promise<Held | null> {
  const subject = subjectOf(element);
  const outcome = await untilReady<Exclude<Outcome, Waiting>>(call, subject, () =>
    inTurn(call, 'input', () => attempt(call, target, value)),
  );
  if (outcome.kind === 'refused') throw refused(subject, outcome);
  if (outcome.kind === 'click') await clickElement(call, target, { element, ...plainClick });
  return outcome.kind === 'done' ? outcome.held : null;
}

async function attempt({ page, signal }: PageCall, target: RefTarget, value: FieldValue): Promise<Outcome> {
  const outcome = await page.callOn<Outcome>(target, 'fill', { value }, signal);
  if (outcome.kind === 'type') await page.session.send('Input.insertText', { text: outcome.text }, signal);
  return outcome;
}

/** Null when the page has replaced the field or itself because of the value. */
async function heldAfter({ page, signal }: PageCall, target: RefTarget, value: FieldValue): Promise<Held | null> {
  try {
    return await page.callOn<Held>(target, 'filled', { value }, signal);
  } catch (error) {
    const isGone = error instanceof DocumentGone || (error instanceof CoreError && error.code === 'ref_stale');
    if (isGone) return null;
    throw error;
  }
}
