/** Defines the size of a terminal in columns and rows. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A program may buffer the whole screen, so a larger size is treated as a caller's mistake. */
export const maxCols = 1000;
export const maxRows = 1000;
