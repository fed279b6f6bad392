/** The screens of terminal sessions: what a person would see, as text and as state for another terminal. */
import type { Terminal } from './terminal.ts';

/** What a terminal has to be given to show the same as the session. */
export interface ScreenRestore {
  /** Brings a terminal of the session's size that was reset to its screen, scrollback and modes. */
  readonly data: string;
  /** What the log has from here on goes on where `data` ends: exactly, and never inside a control sequence. */
  readonly offset: number;
}

export class Screens {
  /** `data` takes at most `maxBytes`; the oldest rows of scrollback are left out first. */
  restore(_terminal: Terminal, _maxBytes: number): Promise<ScreenRestore> {
    return Promise.reject(new Error('not built'));
  }
}
