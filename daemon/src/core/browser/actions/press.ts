/** Presses keys on an element that has the focus, and waits for what they begin. */
import { CdpClosed } from '../../../kit/cdp-errors.ts';
import type { PageCall } from '../browser.ts';
import { DocumentGone } from '../failures.ts';
import type { RefTarget } from '../page.ts';
import { subjectOf, type ElementName } from './element.ts';
import { PageKeyboard, type Chord } from './keyboard.ts';
import { ClosedByPress } from './outcome.ts';
import { refused, type Refusal } from './refusal.ts';
import { inTurn, untilReady, type Waiting } from './waiting.ts';

/** Gives the element the focus first. Throws `bad_argument` for an element that cannot have the focus. */
export async function pressKeys(
  call: PageCall,
  target: RefTarget,
  element: ElementName,
  chords: readonly Chord[],
): Promise<void> {
  const subject = subjectOf(element);
  const outcome = await untilReady<{ kind: 'done' } | Refusal>(call, subject, () =>
    inTurn(call, 'input', async () => {
      const focus = await call.page.callOn<{ kind: 'done' } | Refusal | Waiting>(target, 'takeFocus', {}, call.signal);
      if (focus.kind === 'done') await pressFocused(call, target, chords);
      return focus;
    }),
  );
  if (outcome.kind === 'refused') throw refused(subject, outcome);
}

/** Throws `ClosedByPress` when a key has closed the tab. */
export async function pressFocused(
  { page, signal }: PageCall,
  { frame }: RefTarget,
  chords: readonly Chord[],
): Promise<void> {
  const keyboard = new PageKeyboard(page.session);
  try {
    for (const chord of chords) await keyboard.press(chord, signal);
    // The browser reports what the keys have begun before this answer.
    await page.call(frame, 'landed', { isOver: true }, signal);
  } catch (error) {
    const isClosed = error instanceof CdpClosed && page.browser.isOpen;
    if (isClosed && !page.browser.hasTab(page.targetId)) throw new ClosedByPress(error.message);
    if (!(error instanceof DocumentGone) && !(isClosed && frame.parentId !== null)) throw error;
  }
}
