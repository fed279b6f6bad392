/** What a client of a terminal learns, in order. */
import type { BoxError } from '../result.ts';

export type TerminalEvent =
  | TerminalOutput
  /** Draws the current screen in a terminal of its size that was reset; the output from `offset` on follows. */
  | { readonly type: 'restore'; readonly offset: number; readonly text: string }
  /** The daemon does not keep the bytes from `from` to before `to` any more. `restore()` makes up for them. */
  | { readonly type: 'gap'; readonly from: number; readonly to: number }
  /** The connection is open, at first and after `away`. */
  | { readonly type: 'attached'; readonly cols: number; readonly rows: number }
  /** The connection is lost, and is being opened again. Input is kept meanwhile. */
  | { readonly type: 'away' }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  /** Something was dropped, such as input that no program reads. The terminal goes on. */
  | { readonly type: 'error'; readonly error: BoxError }
  | TerminalExit;

export interface TerminalOutput {
  readonly type: 'output';
  /** Of the first byte. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** The bytes as UTF-8. A character that two events share is whole in the second one. */
  readonly text: string;
}

/** The shell has ended, and all its output has come. The field that does not apply is null. */
export interface TerminalExit {
  readonly type: 'exit';
  readonly exitCode: number | null;
  readonly signal: string | null;
}
