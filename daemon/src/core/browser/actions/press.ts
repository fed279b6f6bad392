/** Presses keys on an element that has the focus, and waits for what they begin. */
import type { PageCall } from '../browser.ts';
import type { RefTarget } from '../page.ts';
import { subjectOf, type ElementName } from './element.ts';
import { PageKeyboard, type Chord } from './keyboard.ts';
import { judgePress } from './outcome.ts';
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
export async function pressFocused(call: PageCall, { frame }: RefTarget, chords: readonly Chord[]): Promise<void> {
  const { page, signal } = call;
  const keyboard = new PageKeyboard(page.session);
  try {
    for (const chord of chords) await keyboard.press(chord, signal);
    // The browser reports what the keys have begun before this answer.
    await page.call(frame, 'landed', { isOver: true }, signal);
  } catch (error) {
    await judgePress(call, frame, error);
  }
}
