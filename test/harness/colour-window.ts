/** A window that covers a display with one colour, which a test changes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDisplay } from './display.ts';
import { needPrograms } from './programs.ts';

export class ColourWindow {
  private constructor(private readonly pipe: string) {}

  static open(display: TestDisplay, colour: string): ColourWindow {
    needPrograms('xterm', 'mkfifo');
    const pipe = join(display.directory, 'colours');
    Bun.spawnSync(['mkfifo', pipe]);
    // xterm reads the colour of its background from its program; no cursor is drawn.
    const program = `printf '\\033[?25l'; while read colour; do printf '\\033]11;%s\\007' "$colour"; done <> ${pipe}`;
    display.spawn(['xterm', '-bg', colour, '-geometry', '300x100+0+0', '-e', 'sh', '-c', program]);
    return new ColourWindow(pipe);
  }

  /** Returns when it has asked for the colour, in ms since 1970. */
  show(colour: string): number {
    const askedMs = Date.now();
    writeFileSync(this.pipe, `${colour}\n`);
    return askedMs;
  }
}
