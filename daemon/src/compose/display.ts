/** Constructs the desktop of the display that the environment names. */
import { openAccessibility } from './accessibility.ts';
import { keyTables } from '../assets/desktop.ts';
import type { ActiveWindow } from '../core/desktop/accessibility/foreground.ts';
import { Clipboard } from '../core/desktop/clipboard/clipboard.ts';
import { Paste } from '../core/desktop/clipboard/paste.ts';
import type { CallOptions } from '../core/desktop/desktop.ts';
import type { Chord } from '../protocols/chord.ts';
import { KeyNames } from '../core/desktop/input/key-names.ts';
import { Keyboard } from '../core/desktop/input/keyboard.ts';
import { DesktopPointer } from '../core/desktop/input/pointer.ts';
import { Typist } from '../core/desktop/input/typist.ts';
import { LiveDesktop, type DisplayParts } from '../core/desktop/live-desktop.ts';
import { Recorder } from '../core/desktop/recording/recorder.ts';
import { ScreenChanges } from '../core/desktop/screen/changes.ts';
import { Screen } from '../core/desktop/screen/screen.ts';
import { Windows } from '../core/desktop/windows/windows.ts';
import { Deadline } from '../kit/deadline.ts';
import { nullOn } from '../kit/errno.ts';
import { CoreError } from '../kit/errors.ts';
import type { Environment } from '../kit/types/environment.ts';
import { X11Closed, X11Refusal } from '../protocols/x11-errors.ts';
import { encoderOf } from '../platform/picture/encoder.ts';
import { openFilmFile } from '../platform/picture/film-file.ts';
import { encodePicture } from '../platform/picture/picture.ts';
import { findProgram } from '../platform/process/programs.ts';
import { Display } from '../platform/x11/display.ts';
import { SelectionOwner } from '../platform/x11/selection-owner.ts';
import { readSelection, readTargets } from '../platform/x11/selection-reader.ts';

const connectMs = 3000;
/** A server that does not answer keeps the worker no longer. */
const closeMs = 500;

export function openDesktop(environment: Environment): LiveDesktop {
  const find = (program: string) => findProgram(program, environment['PATH'] ?? '');
  const display = environment['DISPLAY'] || null;
  const xauthority = environment['XAUTHORITY'] || null;
  const desktop: LiveDesktop = new LiveDesktop({
    ...{ display, xauthority },
    connect: async () => partsOf(await Display.open({ name: display, authority: xauthority, withinMs: connectMs })),
    accessibility: openAccessibility(environment, (signal) => activeWindow(desktop, signal)),
    recorder: new Recorder({ startEncoder: encoderOf({ find, environment }), openFile: openFilmFile, now: Date.now }),
    hasEncoder: () => find('ffmpeg') !== null,
  });
  return desktop;
}

/** Null where the display does not know, so that the accessibility bus decides. */
async function activeWindow(desktop: LiveDesktop, signal: AbortSignal): Promise<ActiveWindow | null> {
  // Programs may be accessible on a display that is away.
  const list = await nullOn(CoreError, desktop.windows({ signal }));
  return list?.windows.find(({ isActive }) => isActive) ?? null;
}

function partsOf(display: Display): DisplayParts {
  const owner = new SelectionOwner(display);
  const clipboard = new Clipboard(owner, {
    read: (query) => readSelection(display, query),
    targets: (selection, signal) => readTargets(display, selection, signal),
  });
  const keyboard = new Keyboard(display, new KeyNames(keyTables));
  const press = (chord: Chord, options: CallOptions) => keyboard.press(chord, { ...options, holdMs: 0 });
  const screen = new Screen({ display, encode: encodePicture });
  return {
    get isOpen() {
      return display.isOpen;
    },
    ...{ clipboard, keyboard, screen },
    changes: new ScreenChanges(display),
    windows: new Windows(display),
    pointer: new DesktopPointer(display.input, (options) => screen.size(options)),
    typist: new Typist(keyboard, new Paste({ display, owner, clipboard, press })),
    close: () => closeParts(display, keyboard),
  };
}

/** The keys that typing has assigned belong to the display, and would stay when the worker has gone. */
async function closeParts(display: Display, keyboard: Keyboard): Promise<void> {
  using deadline = new Deadline(closeMs);
  try {
    if (display.isOpen) await keyboard.close({ signal: deadline.signal });
  } catch (error) {
    // The display has gone or does not answer, so the keys are beyond reach.
    if (!(error instanceof X11Closed || error instanceof X11Refusal || deadline.passed)) throw error;
  } finally {
    display.close();
  }
}
