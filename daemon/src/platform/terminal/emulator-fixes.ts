/** Fixes for bugs in the pinned version of the emulator. A test checks each fix against that version. */
import type { Terminal } from '@xterm/headless';
import { coreOf, type CountedMethod } from './emulator-state.ts';

export function fixEmulator(terminal: Terminal): void {
  const core = coreOf(terminal);
  // A full reset shows the cursor.
  terminal.parser.registerEscHandler({ final: 'c' }, () => {
    core.coreService.isCursorHidden = false;
    return false;
  });
  // For an erase up to the last cell of the screen, the emulator accesses the row below and throws where none exists.
  terminal.parser.registerCsiHandler({ final: 'J' }, ([part]) => {
    const isAll = part === 1 && core.buffer.y === terminal.rows - 1 && core.buffer.x >= terminal.cols - 1;
    if (isAll) core._inputHandler.eraseInDisplay({ params: [2] });
    return isAll;
  });
  // A restored cursor returns to its place on the screen, even when the text has scrolled since.
  const [save, restore] = [core._inputHandler.saveCursor, core._inputHandler.restoreCursor];
  core._inputHandler.saveCursor = function (...args) {
    core.buffer.savedRow = core.buffer.y;
    return save.apply(this, args);
  };
  core._inputHandler.restoreCursor = function (...args) {
    core.buffer.savedY = (core.buffer.savedRow ?? 0) + core.buffer.ybase;
    return restore.apply(this, args);
  };
  // In origin mode, the emulator counts the rows above the margin twice when the cursor moves relative to its position.
  const { _inputHandler: handler } = core;
  handler._moveCursor = (x, y) => {
    handler._restrictCursor();
    const top = terminal.modes.originMode ? core.buffer.scrollTop : 0;
    handler._setCursor(core.buffer.x + x, core.buffer.y + y - top);
  };
  for (const final of ['G', '`']) {
    terminal.parser.registerCsiHandler({ final }, ([column]) => {
      if (!terminal.modes.originMode) return false;
      core.buffer.x = Math.min(terminal.cols, Math.max(1, Number(column))) - 1;
      return true;
    });
  }
  // Without wrapping, the emulator writes over the second cell of a wide character and keeps the character.
  const { print } = handler;
  handler.print = (...args) => {
    print.apply(handler, args);
    if (core.coreService.decPrivateModes.wraparound) return;
    const row = core.buffer.lines.get(core.buffer.ybase + core.buffer.y);
    const x = terminal.cols - 2;
    const isCut = row?.getWidth(x) === 2 && row.getWidth(x + 1) !== 0;
    if (isCut) row.setCellFromCodepoint(x, 0, 1, handler._curAttrData);
  };
  boundCounts(terminal);
}

/** A row that continued a row which is gone begins a line. The emulator would join it to a row inserted above it. */
export function beginFirstRow(terminal: Terminal): void {
  const row = coreOf(terminal).buffer.lines.get(0);
  if (row) row.isWrapped = false;
}

/** Does at once the cleanup that a smaller emulator postpones, because it warns on the console otherwise. */
export function cleanUp(terminal: Terminal): void {
  const { normal, alt } = coreOf(terminal).buffers;
  for (const buffer of [normal, alt]) buffer._memoryCleanupQueue.flush();
}

/** Bounds counts, because the emulator loops over a count and a program may send two billion. */
function boundCounts(terminal: Terminal): void {
  const handler = coreOf(terminal)._inputHandler;
  const bounds: Readonly<Record<CountedMethod, () => number>> = {
    insertLines: () => terminal.rows,
    deleteLines: () => terminal.rows,
    scrollUp: () => terminal.rows,
    scrollDown: () => terminal.rows,
    cursorForwardTab: () => terminal.cols,
    cursorBackwardTab: () => terminal.cols,
    repeatPrecedingCharacter: () => terminal.cols * terminal.rows,
  };
  for (const name of Object.keys(bounds) as CountedMethod[]) {
    const work = handler[name];
    handler[name] = (counted) => {
      counted.params[0] = Math.min(counted.params[0] ?? 0, bounds[name]());
      return work.call(handler, counted);
    };
  }
}
