/** Reads the events of an X server that this program acts on. */
import type { Message } from './message.ts';

export type XEvent =
  | { readonly kind: 'propertyNotify'; readonly window: number; readonly atom: number; readonly isDeleted: boolean }
  | { readonly kind: 'selectionClear'; readonly owner: number; readonly selection: number }
  | SelectionRequestEvent
  | (Conversion & { readonly kind: 'selectionNotify' })
  | { readonly kind: 'mappingNotify' }
  | { readonly kind: 'destroyNotify'; readonly window: number }
  | { readonly kind: 'configureNotify'; readonly window: number; readonly width: number; readonly height: number }
  | { readonly kind: 'screenChange'; readonly width: number; readonly height: number }
  | { readonly kind: 'selectionOwner'; readonly selection: number; readonly owner: number; readonly time: number }
  | { readonly kind: 'damage' }
  | { readonly kind: 'pointerMotion' }
  | { readonly kind: 'other'; readonly code: number; readonly message: Message };

/** The content of a selection, wanted as a target and put into a property of the requestor. */
export interface Conversion {
  readonly requestor: number;
  readonly selection: number;
  readonly target: number;
  /** 0 in an answer that refuses. */
  readonly property: number;
  readonly time: number;
}

export interface SelectionRequestEvent extends Conversion {
  readonly kind: 'selectionRequest';
  readonly owner: number;
}

/** The first event code of each extension; null when the server lacks the extension. */
export interface EventBases {
  readonly randr: number | null;
  readonly xfixes: number | null;
  readonly damage: number | null;
  /** All events of the input extension have the code of generic events, and differ by the opcode of the extension. */
  readonly xinputOpcode: number | null;
}

const genericEvent = 35;

export function readEvent(message: Message, { randr, xfixes, damage, xinputOpcode }: EventBases): XEvent {
  const code = message.u8(0) & 0x7f;
  if (code === damage) return { kind: 'damage' };
  // Raw motion is the only one of these that this program selects.
  if (code === genericEvent && message.u8(1) === xinputOpcode) return { kind: 'pointerMotion' };
  if (code === randr) return screenChange(message);
  if (code === xfixes) {
    return { kind: 'selectionOwner', selection: message.u32(12), owner: message.u32(8), time: message.u32(16) };
  }
  return readers[code]?.(message) ?? { kind: 'other', code, message };
}

const readers: Readonly<Record<number, (message: Message) => XEvent>> = {
  17: (m) => ({ kind: 'destroyNotify', window: m.u32(8) }),
  22: (m) => ({ kind: 'configureNotify', window: m.u32(8), width: m.u16(20), height: m.u16(22) }),
  28: (m) => ({ kind: 'propertyNotify', window: m.u32(4), atom: m.u32(8), isDeleted: m.u8(16) === 1 }),
  29: (m) => ({ kind: 'selectionClear', owner: m.u32(8), selection: m.u32(12) }),
  30: (m) => ({
    kind: 'selectionRequest',
    time: m.u32(4),
    ...{ owner: m.u32(8), requestor: m.u32(12), selection: m.u32(16), target: m.u32(20), property: m.u32(24) },
  }),
  31: (m) => ({
    kind: 'selectionNotify',
    time: m.u32(4),
    ...{ requestor: m.u32(8), selection: m.u32(12), target: m.u32(16), property: m.u32(20) },
  }),
  34: () => ({ kind: 'mappingNotify' }),
};

/** The sizes are those before a rotation, which virtual displays do not have. */
function screenChange(message: Message): XEvent {
  return { kind: 'screenChange', width: message.u16(24), height: message.u16(26) };
}
