/** Describes one window of the display: title, process, place and state. */
import type { Area } from '../actions/action.ts';
import type { CallOptions, DesktopWindow } from '../desktop.ts';
import { windowStates, type WindowDisplay } from './manager.ts';

const maxTitleBytes = 4096;

export async function describeWindow(
  display: WindowDisplay,
  window: number,
  options: CallOptions,
): Promise<Omit<DesktopWindow, 'isActive'>> {
  const { properties } = display;
  const text = (name: string) => properties.text(window, name, { ...options, maxBytes: maxTitleBytes });
  const [title, oldTitle, [processId], bounds, isMinimized] = await Promise.all([
    text('_NET_WM_NAME'),
    text('WM_NAME'),
    properties.numbers(window, '_NET_WM_PID', options),
    boundsOf(display, window, options),
    isMinimizedWindow(display, window, options),
  ]);
  return { id: nameOf(window), title: title ?? oldTitle ?? '', processId: processId ?? null, bounds, isMinimized };
}

export async function isMinimizedWindow(
  { properties, atoms }: WindowDisplay,
  window: number,
  options: CallOptions,
): Promise<boolean> {
  const [state, flags, hidden] = await Promise.all([
    properties.numbers(window, 'WM_STATE', options),
    properties.numbers(window, '_NET_WM_STATE', options),
    atoms.of('_NET_WM_STATE_HIDDEN'),
  ]);
  return state[0] === windowStates.iconic || flags.includes(hidden);
}

/** Formats a window id as X programs print it. */
export function nameOf(window: number): string {
  return `0x${window.toString(16).padStart(8, '0')}`;
}

/** Null for a text that is not an id. */
export function idOf(name: string): number | null {
  const id = /^(?:0x[\da-f]{1,8}|\d{1,10})$/i.test(name) ? Number(name) : 0;
  return id > 0 && id <= 0xffffffff ? id : null;
}

/** With the border or the frame of the window manager, and without the shadow that some programs draw around themselves. */
async function boundsOf({ windows, properties }: WindowDisplay, window: number, options: CallOptions): Promise<Area> {
  const [geometry, origin, frame, shadow] = await Promise.all([
    windows.geometry(window, options.signal),
    windows.origin(window, options.signal),
    properties.numbers(window, '_NET_FRAME_EXTENTS', options),
    properties.numbers(window, '_GTK_FRAME_EXTENTS', options),
  ]);
  const [left, right, top, bottom] = [0, 1, 2, 3].map(
    (side) => geometry.border + (frame[side] ?? 0) - (shadow[side] ?? 0),
  );
  return {
    x: origin.x - left!,
    y: origin.y - top!,
    width: Math.max(1, geometry.width + left! + right!),
    height: Math.max(1, geometry.height + top! + bottom!),
  };
}
