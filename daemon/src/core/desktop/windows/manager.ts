/** Speaks with a window manager through the properties of EWMH, or does without one. */
import { nullOn } from '../../../kit/errno.ts';
import { X11Refusal } from '../../../protocols/x11-errors.ts';
import type { Display } from '../../../platform/x11/display.ts';
import type { CallOptions } from '../desktop.ts';

export type WindowDisplay = Pick<Display, 'atoms' | 'properties' | 'windows' | 'root' | 'connection'>;

/** ICCCM 4.1.3.1. */
export const windowStates = { normal: 1, iconic: 3 } as const;

/** The names of what a manager supports; null when none runs. */
export async function supportedBy(display: WindowDisplay, { signal }: CallOptions): Promise<Set<number> | null> {
  const { properties, root } = display;
  const check = '_NET_SUPPORTING_WM_CHECK';
  const [marker = 0] = await properties.numbers(root, check, { signal });
  if (marker === 0) return null;
  // The property of a manager that has died stays, but the window that it names is gone.
  const [self] = (await whileItExists(properties.numbers(marker, check, { signal }))) ?? [];
  if (self !== marker) return null;
  return new Set(await properties.numbers(root, '_NET_SUPPORTED', { signal }));
}

/** The windows that a user can switch to, the lowest first. */
export async function listIds(display: WindowDisplay, isManaged: boolean, options: CallOptions): Promise<number[]> {
  if (!isManaged) return await listUnmanaged(display, options);
  const { properties, root } = display;
  const [stacking, clients] = await Promise.all([
    properties.numbers(root, '_NET_CLIENT_LIST_STACKING', options),
    properties.numbers(root, '_NET_CLIENT_LIST', options),
  ]);
  return stacking.length > 0 ? stacking : clients;
}

/** The active window; null for none. */
export async function activeId(
  display: WindowDisplay,
  isManaged: boolean,
  options: CallOptions,
): Promise<number | null> {
  const { properties, root, windows } = display;
  if (isManaged) return (await properties.numbers(root, '_NET_ACTIVE_WINDOW', options))[0] || null;
  const [focus, none] = [await windows.focus(options.signal), 1];
  return focus <= none || focus === root ? null : await topLevelOf(display, focus, options);
}

/** Null when the window has gone meanwhile, which can happen at any time. */
export async function whileItExists<T>(reading: Promise<T>): Promise<T | null> {
  return await nullOn(X11Refusal, reading);
}

async function listUnmanaged(display: WindowDisplay, options: CallOptions): Promise<number[]> {
  const children = await display.windows.children(display.root, options.signal);
  const isListed = await Promise.all(children.map((window) => whileItExists(isOfUser(display, window, options))));
  return children.filter((_window, index) => isListed[index]);
}

/** Without a manager, the worker marks the windows that it has minimized as a manager would. */
async function isOfUser(
  { windows, properties }: WindowDisplay,
  window: number,
  options: CallOptions,
): Promise<boolean> {
  const [attributes, state] = await Promise.all([
    windows.attributes(window, options.signal),
    properties.numbers(window, 'WM_STATE', options),
  ]);
  if (attributes.isUnmanaged || attributes.isInputOnly) return false;
  return attributes.isMapped || state[0] === windowStates.iconic;
}

/** Programs give the focus to windows within their top-level window. */
async function topLevelOf(
  { windows, root }: WindowDisplay,
  window: number,
  options: CallOptions,
): Promise<number | null> {
  for (let current = window; ;) {
    const parent = await whileItExists(windows.parent(current, options.signal));
    if (parent === root) return current;
    if (parent === null || parent === 0) return null;
    current = parent;
  }
}
