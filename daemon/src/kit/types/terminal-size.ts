/** Defines the size of a terminal in columns and rows. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A program may buffer the whole screen, so a larger size is treated as a caller's mistake. */
export const maxCols = 1000;
export const maxRows = 1000;

const usualSize: TerminalSize = { cols: 80, rows: 24 };

/** A size that a terminal cannot have becomes one that it can. */
export function possibleSize({ cols, rows }: TerminalSize = usualSize): TerminalSize {
  return { cols: Math.min(maxCols, cols || usualSize.cols), rows: Math.min(maxRows, rows || usualSize.rows) };
}
