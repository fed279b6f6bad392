/** Parses the events that interpreters write, one per line (docs/protocols/interpreter.md). */
import { parseFields, type Fields } from '../../../kit/types/fields.ts';
import { bundleOf, count, readOutput, text, type MimeBundle, type NotebookOutput } from './notebook.ts';

export type CellEvent =
  | { readonly kind: 'begin' }
  | { readonly kind: 'output'; readonly output: NotebookOutput; readonly displayId: string | null }
  | { readonly kind: 'update'; readonly displayId: string; readonly data: MimeBundle; readonly metadata: MimeBundle }
  | { readonly kind: 'clear'; readonly isWaiting: boolean }
  /** Output was lost at this point. */
  | { readonly kind: 'gap' }
  /** The code of a program has run. The program waits for what the code started. */
  | { readonly kind: 'ending' }
  | {
      readonly kind: 'end';
      readonly status: 'ok' | 'error';
      readonly executionCount: number | null;
      readonly exitCode: number | null;
      /** Why the requested directory could not be entered, so that the code did not run. */
      readonly cwdError: string | null;
      /** True when the bridge was restarted meanwhile and outputs may be missing. */
      readonly isPartial: boolean;
      /** True when the interpreter ends after the cell, because the cell asked for that. */
      readonly isExiting: boolean;
      /** True when the end of the program still does something: threads, exit functions, files. */
      readonly isPending: boolean;
    };

export type InterpreterEvent =
  | { readonly about: 'log'; readonly kind: 'gap' }
  | { readonly about: 'interpreter'; readonly kind: 'ready'; readonly version: string }
  | { readonly about: 'cell'; readonly cell: string; readonly kernel: string | null; readonly event: CellEvent }
  | { readonly about: 'kernel'; readonly kernel: string; readonly kind: 'opened'; readonly version: string }
  | { readonly about: 'kernel'; readonly kernel: string; readonly kind: 'closed' }
  | { readonly about: 'kernel'; readonly kernel: string; readonly kind: 'failed'; readonly message: string };

export const gap = { about: 'log', kind: 'gap' } as const satisfies InterpreterEvent;

/** Null for a line that is not an event, and for an event that this daemon does not know. */
export function readEvent(line: string): InterpreterEvent | null {
  const value = parseFields(line);
  if (!value) return null; // The code of a cell may have written to the channel.
  const kernel = typeof value['kernel'] === 'string' ? value['kernel'] : null;
  switch (value['event']) {
    case 'ready':
      return { about: 'interpreter', kind: 'ready', version: text(value['version']) };
    case 'opened':
      return kernel === null ? null : { about: 'kernel', kernel, kind: 'opened', version: text(value['version']) };
    case 'closed':
      return kernel === null ? null : { about: 'kernel', kernel, kind: 'closed' };
    case 'failed':
      return kernel === null ? null : { about: 'kernel', kernel, kind: 'failed', message: text(value['message']) };
    default:
      return cellEvent(value, kernel);
  }
}

function cellEvent(value: Fields, kernel: string | null): InterpreterEvent | null {
  const { cell } = value;
  const event = typeof cell === 'string' ? readCellEvent(value) : null;
  return event === null ? null : { about: 'cell', cell: text(cell), kernel, event };
}

function readCellEvent(value: Fields): CellEvent | null {
  const displayId = typeof value['display_id'] === 'string' ? value['display_id'] : null;
  switch (value['event']) {
    case 'begin':
      return { kind: 'begin' };
    case 'output': {
      const output = readOutput(value['output']);
      return output && { kind: 'output', output, displayId };
    }
    case 'update':
      return displayId === null ? null : { kind: 'update', displayId, ...bundleOf(value) };
    case 'clear':
      return { kind: 'clear', isWaiting: value['wait'] === true };
    case 'ending':
      return { kind: 'ending' };
    case 'end':
      return {
        kind: 'end',
        status: value['status'] === 'ok' ? 'ok' : 'error',
        executionCount: count(value['execution_count']),
        exitCode: Number.isSafeInteger(value['exit_code']) ? (value['exit_code'] as number) : null,
        cwdError: typeof value['cwd_error'] === 'string' ? value['cwd_error'] : null,
        isPartial: value['is_partial'] === true,
        isExiting: value['is_exiting'] === true,
        isPending: value['is_pending'] === true,
      };
    default:
      return null;
  }
}
