/** Clicks an element, hovers over it or drags it, once the pointer reaches it, and waits for what that begins. */
import type { Point } from '../../../kit/types/geometry.ts';
import type { Browser, PageCall, PageCallOptions, PageResult } from '../browser.ts';
import type { RefTarget } from '../page.ts';
import { drag, type Spot } from './drag.ts';
import { findElement, subjectOf } from './element.ts';
import { chordNamed } from './keyboard.ts';
import { beginMs, judgePress, settled, within, type Place } from './outcome.ts';
import { pointNow, pointOf } from './point.ts';
import { Pointer, type ModifierKey, type MouseButton } from './pointer.ts';
import { pressFocused } from './press.ts';
import { inTurn, untilReady, type Waiting } from './waiting.ts';

export interface ClickSpec extends PageCallOptions, Spot {
  readonly button: MouseButton;
  /** 2 is a double click. */
  readonly count: number;
  readonly modifiers: readonly ModifierKey[];
  /** The pointer moves to the element and nothing is pressed. */
  readonly isHover: boolean;
  /** Keys and chords that are pressed afterwards. */
  readonly press: readonly string[];
  /** Where the element is dropped. */
  readonly dragTo: Spot | null;
}

/** What happened to the press of the pointer. */
interface Landing {
  readonly verdict: 'hit' | 'missed' | 'unseen';
  readonly by: string | null;
  /** Whether the press was on a link that downloads. */
  readonly isDownload: boolean;
  /** Whether the document has seen the pointer move. */
  readonly hasMoved: boolean;
}

/** A page may hide the moves of the pointer, so after these attempts the press happens anyway. */
const maxStrays = 10;

/** One click with the left button. */
export const plainClick = {
  button: 'left',
  count: 1,
  modifiers: [],
  position: null,
} as const satisfies Partial<ClickSpec>;

const defaultSeconds = 10;

export function actionOptions<T extends PageCallOptions>(options: T): T {
  return { ...options, timeout: options.timeout ?? defaultSeconds, runsScripts: true };
}

/** Throws `ref_stale`, `bad_argument`, and `page_timeout` with the reason. */
export async function click(browser: Browser, spec: ClickSpec): Promise<PageResult<Place>> {
  const chords = spec.press.map(chordNamed);
  return await browser.onPage(actionOptions(spec), async (call) => {
    const target = await findElement(call, spec.element);
    return await settled(call, async () => {
      await point(call, target, spec);
      if (chords.length > 0) await inTurn(call, 'input', () => pressFocused(call, target, chords));
    });
  });
}

async function point(call: PageCall, target: RefTarget, spec: ClickSpec): Promise<void> {
  const { dragTo } = spec;
  if (dragTo !== null) return await inTurn(call, 'input', () => drag(call, target, { ...spec, dragTo }));
  if (spec.isHover) return await hover(call, target, spec);
  await clickElement(call, target, spec);
}

async function hover(call: PageCall, target: RefTarget, { element, position, modifiers }: ClickSpec): Promise<void> {
  const at = await pointOf(call, target, subjectOf(element), { position, mustWatch: false });
  if (at !== null) await new Pointer(call.page.session, 'left', modifiers).move(at, false, call.signal);
}

/** Throws as `click`. */
export async function clickElement(
  call: PageCall,
  target: RefTarget,
  { element, button, count, modifiers, position }: Pick<ClickSpec, 'element' | keyof typeof plainClick>,
): Promise<void> {
  const { page, signal } = call;
  const pointer = new Pointer(page.session, button, modifiers);
  let strays = 0;
  const attempt = async (last: Waiting | null): Promise<Waiting | { kind: 'done' }> => {
    const at = await pointNow(call, target, { position, mustWatch: true }, last);
    if (at.kind === 'waiting') return at;
    if (at.kind === 'chosen') return { kind: 'done' };
    if (strays < maxStrays && !(await isRouted(call, target, pointer, at))) {
      strays += 1;
      return { kind: 'waiting', reason: 'moving' };
    }
    const { verdict, by, isDownload } = await pressed(call, target, () => pointer.click(at, count, signal));
    if (isDownload) await within(call, beginMs, () => !call.effects.hasDownloads && !call.effects.isNavigating);
    return verdict === 'missed'
      ? { kind: 'waiting', reason: 'covered', by: by ?? 'another element' }
      : { kind: 'done' };
  };
  await untilReady<{ kind: 'done' }>(call, subjectOf(element), (last) => inTurn(call, 'input', () => attempt(last)));
}

/**
 * Whether the browser sends the pointer to the process of the frame. After a scroll the browser still has the old
 * places of frames of other processes, until these have drawn.
 */
async function isRouted(
  { page, signal }: PageCall,
  { frame }: RefTarget,
  pointer: Pointer,
  at: Point,
): Promise<boolean> {
  if (frame.session === page.session) return true;
  // A pointer that stays where it is sends no event.
  await Promise.all([pointer.move({ x: at.x, y: at.y + 1 }, false, signal), pointer.move(at, false, signal)]);
  return (await page.call<Landing>(frame, 'landed', { isOver: false }, signal)).hasMoved;
}

async function pressed(call: PageCall, { frame }: RefTarget, press: () => Promise<void>): Promise<Landing> {
  try {
    await press();
    return await call.page.call<Landing>(frame, 'landed', { isOver: true }, call.signal);
  } catch (error) {
    await judgePress(call, frame, error);
    return { verdict: 'unseen', by: null, isDownload: false, hasMoved: true };
  }
}
