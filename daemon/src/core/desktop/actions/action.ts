/** The actions of the desktop in one form, whatever vocabulary a client used for them. */
import type { Point } from '../../../kit/types/geometry.ts';
import type { Chord } from '../../../protocols/chord.ts';

export type Button = 'left' | 'middle' | 'right' | 'back' | 'forward';

/** Null keeps the coordinate of the pointer. */
export interface Target {
  readonly x: number | null;
  readonly y: number | null;
}

export interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

/** Names of keys that are down during an action of the pointer. */
interface Holding {
  readonly holding: Chord;
}

export type PointerAction =
  | ({ readonly type: 'move'; readonly to: Point } & Holding)
  | { readonly type: 'moveBy'; readonly by: Point }
  | ({ readonly type: 'click'; readonly at: Target; readonly button: Button; readonly count: number } & Holding)
  | { readonly type: 'mouseDown'; readonly at: Target; readonly button: Button }
  | { readonly type: 'mouseUp'; readonly at: Target; readonly button: Button }
  /** With the left button, from the first point, or from the pointer when there is one point. */
  | ({ readonly type: 'drag'; readonly path: readonly Point[] } & Holding)
  | { readonly type: 'dragBy'; readonly by: Point }
  /** In notches; positive is right and down. */
  | ({ readonly type: 'scroll'; readonly at: Target; readonly dx: number; readonly dy: number } & Holding);

export type KeyboardAction =
  | { readonly type: 'type'; readonly text: string; readonly usesClipboard: boolean }
  /** The keys of a chord go down in order, stay down for the time, and go up in reverse order. */
  | { readonly type: 'press'; readonly chords: readonly Chord[]; readonly holdSeconds: number }
  | { readonly type: 'keyDown'; readonly chord: Chord }
  | { readonly type: 'keyUp'; readonly chord: Chord };

export type WindowAction =
  | { readonly type: 'activateWindow'; readonly windowId: string }
  | { readonly type: 'minimizeWindow'; readonly windowId: string };

export type NodeAction =
  | { readonly type: 'focusNode'; readonly nodeId: string }
  /** Null for the first action of the node. */
  | { readonly type: 'invokeNode'; readonly nodeId: string; readonly action: string | null }
  | { readonly type: 'setNodeValue'; readonly nodeId: string; readonly value: string };

/** Actions that change nothing and answer with what they read. */
export type ReadingAction =
  /** Null for the whole screen. */
  { readonly type: 'screenshot'; readonly area: Area | null } | { readonly type: 'cursor' };

export type DesktopAction =
  | PointerAction
  | KeyboardAction
  | WindowAction
  | NodeAction
  | ReadingAction
  | { readonly type: 'wait'; readonly seconds: number }
  | { readonly type: 'setClipboard'; readonly text: string };

/** The time that the action spends waiting, because the caller asked for that. */
export function waitSeconds(action: DesktopAction): number {
  if (action.type === 'wait') return action.seconds;
  return action.type === 'press' ? action.holdSeconds * action.chords.length : 0;
}
