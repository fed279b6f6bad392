/** Columns and rows of a terminal. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A program may keep a buffer of the whole screen: what is larger is a mistake of the caller. */
export const mostCols = 1000;
export const mostRows = 1000;
