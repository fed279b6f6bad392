/** Performs one action of the desktop with the part of the display that it is about. */
import { CoreError } from '../../../kit/errors.ts';
import type { Size } from '../../../kit/types/geometry.ts';
import type { Clipboard } from '../clipboard/clipboard.ts';
import type { ActionOutput, CallOptions, Performed, PerformOptions, Picture, ScreenshotRequest } from '../desktop.ts';
import type { Keyboard } from '../input/keyboard.ts';
import { pause } from '../input/pause.ts';
import type { DesktopPointer } from '../input/pointer.ts';
import type { Typist } from '../input/typist.ts';
import type {
  Area,
  DesktopAction,
  KeyboardAction,
  NodeAction,
  PointerAction,
  ReadingAction,
  WindowAction,
} from './action.ts';
import { positionIn, scaleAction } from './scale.ts';

/** Everything that an action may act on. */
export interface ActionDevices {
  readonly pointer: DesktopPointer;
  readonly keyboard: Keyboard;
  readonly typist: Typist;
  readonly clipboard: Clipboard;
  readonly screen: {
    size(options: CallOptions): Promise<Size>;
    screenshot(request: ScreenshotRequest, options: CallOptions): Promise<Picture>;
  };
  readonly windows: {
    activate(windowId: string, options: CallOptions): Promise<void>;
    minimize(windowId: string, options: CallOptions): Promise<void>;
  };
  readonly nodes: {
    focus(nodeId: string, options: CallOptions): Promise<void>;
    /** Null for the first action of the node. */
    invoke(nodeId: string, action: string | null, options: CallOptions): Promise<unknown>;
    /** False when the node has the keyboard instead, and takes the value as typed text. */
    setValue(nodeId: string, value: string, options: CallOptions): Promise<boolean>;
  };
}

/** The result of an action that reads; null for other actions. */
export async function perform(
  devices: ActionDevices,
  action: DesktopAction,
  options: PerformOptions,
): Promise<ActionOutput | null> {
  const { coordinates } = options;
  const screen = coordinates && (await devices.screen.size(options));
  const scaled = coordinates && screen ? scaleAction(action, coordinates, screen) : action;
  switch (scaled.type) {
    case 'screenshot':
    case 'cursor':
      return await read(devices, scaled, options);
    case 'wait':
      await pause(scaled.seconds * 1000, options);
      return null;
    case 'setClipboard':
      await devices.clipboard.setText(scaled.text, options);
      return null;
    case 'type':
    case 'press':
    case 'keyDown':
    case 'keyUp':
      await performKeys(devices, scaled, options);
      return null;
    case 'activateWindow':
    case 'minimizeWindow':
      await performWindow(devices, scaled, options);
      return null;
    case 'focusNode':
    case 'invokeNode':
    case 'setNodeValue':
      await performNode(devices, scaled, options);
      return null;
    default:
      await performPointer(devices, scaled, options);
      return null;
  }
}

/** The picture after the last action. Its failure does not undo the action, so it is reported beside the outcome. */
export async function pictureAfter(
  { screen }: ActionDevices,
  { screenshot, ...options }: PerformOptions,
): Promise<Pick<Performed, 'picture' | 'pictureError'>> {
  if (!screenshot) return { picture: null, pictureError: null };
  try {
    return { picture: await screen.screenshot(screenshot, options), pictureError: null };
  } catch (error) {
    if (error instanceof CoreError) return { picture: null, pictureError: error.message };
    throw error;
  }
}

async function performPointer({ pointer, keyboard }: ActionDevices, action: PointerAction, options: CallOptions) {
  switch (action.type) {
    case 'move':
      return await keyboard.holding(action.holding, options, () => pointer.moveTo(action.to, options));
    case 'moveBy':
      return await pointer.moveBy(action.by, options);
    case 'click': {
      const { at, button, count, holding } = action;
      return await keyboard.holding(holding, options, () => pointer.click(at, button, { ...options, count }));
    }
    case 'mouseDown':
      return await pointer.press(action.at, action.button, options);
    case 'mouseUp':
      return await pointer.release(action.at, action.button, options);
    case 'drag':
      return await keyboard.holding(action.holding, options, () => pointer.drag(action.path, options));
    case 'dragBy':
      return await pointer.dragBy(action.by, options);
    case 'scroll':
      return await keyboard.holding(action.holding, options, () => pointer.scroll(action.at, action, options));
  }
}

async function performKeys({ keyboard, typist }: ActionDevices, action: KeyboardAction, options: CallOptions) {
  switch (action.type) {
    case 'type':
      return await typist.type(action.text, { ...options, usesClipboard: action.usesClipboard });
    case 'press': {
      const holdMs = action.holdSeconds * 1000;
      for (const chord of action.chords) await keyboard.press(chord, { ...options, holdMs });
      return;
    }
    case 'keyDown':
      return await keyboard.down(action.chord, options);
    case 'keyUp':
      return await keyboard.up(action.chord, options);
  }
}

async function performWindow({ windows }: ActionDevices, action: WindowAction, options: CallOptions): Promise<void> {
  if (action.type === 'activateWindow') await windows.activate(action.windowId, options);
  else await windows.minimize(action.windowId, options);
}

async function performNode(devices: ActionDevices, action: NodeAction, options: CallOptions): Promise<void> {
  const { nodes } = devices;
  if (action.type === 'focusNode') await nodes.focus(action.nodeId, options);
  else if (action.type === 'invokeNode') await nodes.invoke(action.nodeId, action.action, options);
  else if (!(await nodes.setValue(action.nodeId, action.value, options))) {
    await replaceText(devices, action.value, options);
  }
}

/** Replaces the text of the field that has the keyboard, as a user does. */
async function replaceText({ keyboard, typist }: ActionDevices, text: string, options: CallOptions): Promise<void> {
  const once = { ...options, holdMs: 0 };
  await keyboard.press(['Control_L', 'a'], once);
  if (text === '') await keyboard.press(['BackSpace'], once);
  else await typist.type(text, { ...options, usesClipboard: true });
}

const plainPicture: ScreenshotRequest = { format: 'png', quality: null, area: null, scaleTo: null, hasCursor: true };

async function read(
  { pointer, screen }: ActionDevices,
  action: ReadingAction,
  options: PerformOptions,
): Promise<ActionOutput> {
  const { coordinates, screenshot } = options;
  if (action.type === 'cursor') {
    const position = await pointer.position(options);
    return {
      kind: 'cursor',
      position: coordinates ? positionIn(coordinates, await screen.size(options), position) : position,
    };
  }
  const area = action.area && wholePixels(action.area, await screen.size(options));
  const request = { ...(screenshot ?? plainPicture), scaleTo: screenshot?.scaleTo ?? coordinates, area };
  return { kind: 'picture', picture: await screen.screenshot(request, options) };
}

/** The part of the area that is on the screen. */
function wholePixels({ x, y, width, height }: Area, screen: Size): Area {
  const [left, top] = [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y))];
  const right = Math.min(screen.width, Math.ceil(x + width));
  const bottom = Math.min(screen.height, Math.ceil(y + height));
  if (right > left && bottom > top) return { x: left, y: top, width: right - left, height: bottom - top };
  throw new CoreError(
    'bad_argument',
    `the region has no part on the screen of ${screen.width}x${screen.height} pixels`,
    {
      hint: 'Pass the left, top, right and bottom edge of a region on the screen.',
    },
  );
}
