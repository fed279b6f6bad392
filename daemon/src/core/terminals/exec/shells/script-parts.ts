/** What the script of each kind of shell is made of. */
import type { ExecDirectory } from '../record.ts';

export interface ScriptParts {
  readonly command: string;
  /** The command text to show. Contains no control characters other than line ends. */
  readonly shown: string;
  /** The file of the script, to which the script adds a line before the start mark, which may be lost. */
  readonly path: string;
  /** Token of the command's marks. */
  readonly token: string;
  /** Where the command runs; null means the shell's current directory. */
  readonly directory: ExecDirectory | null;
  /** Columns of the terminal, and of the line typed after the prompt. The line to erase may span several rows. */
  readonly cols: number;
  readonly typedCols: number;
}
