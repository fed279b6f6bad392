/** Puts a value into a field of a page, as a user would, and reports what the field holds afterwards. */
import type { Held } from './edit.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Browser, PageCall, PageCallOptions, PageResult } from '../browser.ts';
import { DocumentGone } from '../failures.ts';
import type { RefTarget } from '../page.ts';
import { actionOptions, clickElement, plainClick } from './click.ts';
import { edit, erase, type Edit } from './edit.ts';
import { findElement, subjectOf, type ElementName } from './element.ts';
import { chordNamed, PageKeyboard } from './keyboard.ts';
import { pressKeys } from './press.ts';
import { settled, type Place } from './outcome.ts';
import { refused, type Refusal } from './refusal.ts';
import { stepTo } from './step.ts';
import { inTurn, untilReady, type Waiting } from './waiting.ts';

export type FieldValue = string | number | boolean | readonly string[];

export interface FillSpec extends PageCallOptions {
  readonly element: ElementName;
  /** Null to press keys only. */
  readonly value: FieldValue | null;
  /** Keys and chords that are pressed afterwards. */
  readonly press: readonly string[];
}

export interface Filled {
  readonly place: Place;
  /** Null when the page has replaced the field, and for keys without a value. */
  readonly held: Held | null;
}

type Outcome =
  | { readonly kind: 'done'; readonly held: Held | null }
  /** `number` names another element to click, such as one radio button of a group. */
  | { readonly kind: 'click'; readonly number?: number }
  | { readonly kind: 'step'; readonly wanted: number }
  | { readonly kind: 'type'; readonly text: string }
  | Edit
  | Refusal
  | Waiting;

/** Each character of a text of this length is typed; of a longer text only the last one, because keys take time. */
const maxTypedLength = 200;

/** Throws `ref_stale`, `bad_argument` with the format that the field takes, and `page_timeout` with the reason. */
export async function fill(browser: Browser, spec: FillSpec): Promise<PageResult<Filled>> {
  const chords = spec.press.map(chordNamed);
  return await browser.onPage(actionOptions(spec), async (call) => {
    const target = await findElement(call, spec.element);
    let held: Held | null = null;
    const place = await settled(call, async () => {
      const { value } = spec;
      if (value !== null) held = await put(call, target, { ...spec, value });
      if (chords.length > 0) await pressKeys(call, target, spec.element, chords);
    });
    return { place, held };
  });
}

/** Returns what the field holds afterwards. */
async function put(
  call: PageCall,
  target: RefTarget,
  { element, value }: FillSpec & { value: FieldValue },
): Promise<Held | null> {
  const subject = subjectOf(element);
  const outcome = await untilReady<Exclude<Outcome, Waiting | Edit>>(call, subject, () =>
    inTurn(call, 'input', () => attempt(call, target, value)),
  );
  if (outcome.kind === 'refused') throw refused(subject, outcome);
  if (outcome.kind === 'click') {
    const { number = target.number } = outcome;
    await clickElement(call, { ...target, number }, { element, ...plainClick });
  }
  return outcome.kind === 'done' ? outcome.held : await heldAfter(call, target, value);
}

/** Types and edits at once, because another call may move the focus afterwards. */
async function attempt(call: PageCall, target: RefTarget, value: FieldValue): Promise<Exclude<Outcome, Edit>> {
  const outcome = await call.page.callOn<Outcome>(target, 'fill', { value }, call.signal);
  if (outcome.kind === 'edit') return { kind: 'done', held: await unlessGone(() => edit(call, target, outcome)) };
  if (outcome.kind === 'type') await typeOver(call, outcome.text);
  if (outcome.kind === 'step') await stepTo(call, target, outcome.wanted);
  return outcome;
}

async function typeOver({ page, signal }: PageCall, text: string): Promise<void> {
  const keyboard = new PageKeyboard(page.session);
  if (text === '') return await keyboard.press(erase, signal);
  const last = Array.from(text).at(-1) ?? '';
  const typed = text.length <= maxTypedLength ? text : last;
  const inserted = text.slice(0, text.length - typed.length);
  if (inserted !== '') await keyboard.insert(inserted, signal);
  await keyboard.type(typed, signal);
}

async function heldAfter({ page, signal }: PageCall, target: RefTarget, value: FieldValue): Promise<Held | null> {
  return await unlessGone(() => page.callOn<Held>(target, 'filled', { value }, signal));
}

/** Null when the page has replaced the field or itself because of the value. */
async function unlessGone<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    const isGone = error instanceof DocumentGone || (error instanceof CoreError && error.code === 'ref_stale');
    if (isGone) return null;
    throw error;
  }
}
