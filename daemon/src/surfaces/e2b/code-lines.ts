/** What a cell shows, as the lines of the protocol. */
import type { Cell } from '../../core/code/cells/cell.ts';
import type { MimeBundle } from '../../core/code/cells/notebook.ts';
import { follow } from '../../core/code/cells/follow.ts';
import type { CellChange } from '../../core/code/cells/outputs.ts';
import { adviceOf } from './failure.ts';

export type CodeLine = { readonly type: string; readonly [field: string]: unknown };

const keepaliveMs = 5000;

/** The last line is `end_of_execution`, unless the client has gone. */
export async function* codeLines(cell: Cell, signal: AbortSignal, closing: AbortSignal): AsyncGenerator<CodeLine> {
  // The runtime sends the headers with the first line, and a silent cell has none for a while.
  yield { type: 'keepalive' };
  for await (const message of follow(cell, { silenceMs: keepaliveMs, signal, closing })) {
    if (message.kind === 'change') yield* linesOfChange(message.change);
    else if (message.kind === 'silence') yield { type: 'keepalive' };
    else yield* lastLines(cell, message.reason === 'closing');
  }
}

function* lastLines({ end, failure }: Cell, isClosing: boolean): Generator<CodeLine> {
  if (isClosing) yield errorLine('DaemonStopped', 'the daemon stops; the code goes on');
  else if (failure) yield errorLine('ExecutionError', adviceOf(failure));
  const count = end?.executionCount ?? null;
  if (count !== null) yield { type: 'number_of_executions', execution_count: count };
  yield { type: 'end_of_execution' };
}

function errorLine(name: string, value: string): CodeLine {
  return { type: 'error', name, value, traceback: `${name}: ${value}` };
}

function* linesOfChange(change: CellChange): Generator<CodeLine> {
  if (change.kind === 'clear') return; // The clients have no way to take an output back.
  if (change.kind === 'update') {
    yield resultLine(change.data, false);
    return;
  }
  const { output } = change;
  switch (output.output_type) {
    case 'stream':
      yield { type: output.name, text: output.text, timestamp: new Date().toISOString() };
      return;
    case 'error':
      yield { type: 'error', name: output.ename, value: output.evalue, traceback: output.traceback.join('\n') };
      return;
    case 'execute_result':
    case 'display_data':
      yield resultLine(output.data, output.output_type === 'execute_result');
  }
}

const fieldOfType: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'text/plain': 'text',
    'text/html': 'html',
    'text/markdown': 'markdown',
    'image/svg+xml': 'svg',
    'image/png': 'png',
    'image/jpeg': 'jpeg',
    'application/pdf': 'pdf',
    'text/latex': 'latex',
    'application/json': 'json',
    'application/javascript': 'javascript',
    'e2b/data': 'data',
    'e2b/chart': 'chart',
  }),
);

function resultLine(bundle: MimeBundle, isMain: boolean): CodeLine {
  const known = Object.entries(bundle).flatMap(([type, value]) => {
    const field = fieldOfType.get(type);
    return field === undefined ? [] : [[field, field === 'text' ? withoutQuotes(value) : value] as const];
  });
  const extra = Object.entries(bundle).filter(([type]) => !fieldOfType.has(type));
  return {
    type: 'result',
    is_main_result: isMain,
    ...Object.fromEntries(known),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

/** The text of a string is the string, not its source. */
function withoutQuotes(text: unknown): unknown {
  return typeof text === 'string' ? text.replace(/^(['"])((?:\\.|(?!\1).)*)\1$/s, '$2') : text;
}
