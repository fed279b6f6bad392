/** What a cell shows, as the lines of the protocol. */
import type { Cell } from '../../core/code/cells/cell.ts';
import type { MimeBundle } from '../../core/code/cells/notebook.ts';
import { follow } from '../../core/code/cells/follow.ts';
import type { CellChange } from '../../core/code/cells/outputs.ts';
import { adviceOf } from './failure.ts';

export type CodeLine = { readonly type: string; readonly [field: string]: unknown };

const keepaliveMs = 5000;

/** The last line is `end_of_execution`, unless the client has gone. */
export async function* codeLines(
  cell: Cell,
  signal: AbortSignal,
  closing: AbortSignal,
): AsyncGenerator<CodeLine | Uint8Array> {
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

function* linesOfChange(change: CellChange): Generator<CodeLine | Uint8Array> {
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
  }),
);

/** What `assets/formats.py` shows: JSON as text. */
const fieldOfText: ReadonlyMap<string, string> = new Map(
  Object.entries({ 'e2b/json': 'json', 'e2b/data': 'data', 'e2b/chart': 'chart' }),
);

/** Values that are JSON already go into the line as they are, because 1.0 would become 1 when it is parsed. */
function resultLine(bundle: MimeBundle, isMain: boolean): CodeLine | Uint8Array {
  const values: Record<string, unknown> = {};
  const texts: string[] = [];
  const extra: Record<string, unknown> = {};
  for (const [type, value] of Object.entries(bundle)) {
    const [field, fieldOfJson] = [fieldOfType.get(type), fieldOfText.get(type)];
    if (fieldOfJson !== undefined && isJson(value)) texts.push(`${JSON.stringify(fieldOfJson)}:${value}`);
    else if (field === undefined) extra[type] = value;
    else values[field] = field === 'text' ? withoutQuotes(value) : value;
  }
  const line = {
    type: 'result',
    is_main_result: isMain,
    ...values,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
  if (texts.length === 0) return line;
  return Buffer.from(`${JSON.stringify(line).slice(0, -1)},${texts.join(',')}}\n`);
}

/** Code can show any value under any media type. A line of the stream is one line of JSON. */
function isJson(value: unknown): value is string {
  if (typeof value !== 'string' || value.includes('\n')) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** The text of a string is the string, not its source. */
function withoutQuotes(text: unknown): unknown {
  return typeof text === 'string' ? text.replace(/^(['"])((?:\\.|(?!\1).)*)\1$/s, '$2') : text;
}
