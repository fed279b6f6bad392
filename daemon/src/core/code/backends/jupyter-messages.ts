/** Reads and writes Jupyter messages (messaging protocol 5), as a Jupyter server forwards them. */
import { isFields, parseFields, type Fields } from '../../../kit/types/fields.ts';
import type { CellEvent } from '../cells/events.ts';
import { bundleOf, count, readOutput, text, type ErrorOutput } from '../cells/notebook.ts';
import type { CellRefusal } from '../cells/python-preparation.ts';

export interface KernelMessage {
  readonly channel: string;
  readonly type: string;
  /** The id of the request that the message answers. */
  readonly parent: string;
  readonly content: Fields;
}

/** Null for text that is not a message: the server may send anything, even text that is not from Jupyter. */
export function readMessage(line: string): KernelMessage | null {
  const value = parseFields(line);
  if (!value || !isFields(value['header']) || !isFields(value['content'])) return null;
  const parent = isFields(value['parent_header']) ? value['parent_header'] : {};
  return {
    channel: text(value['channel']),
    type: text(value['header']['msg_type']),
    parent: text(parent['msg_id']),
    content: value['content'],
  };
}

/** Builds a request to run code. With `isSilent`, the code does not count as a cell and shows no output. */
export function executeRequest(id: string, session: string, code: string, isSilent = false): string {
  return JSON.stringify({
    channel: 'shell',
    header: { msg_id: id, msg_type: 'execute_request', version: '5.3', username: 'boxkeep', session, date: '' },
    parent_header: {},
    metadata: {},
    content: {
      code,
      silent: isSilent,
      store_history: !isSilent,
      user_expressions: {},
      allow_stdin: false,
      stop_on_error: false,
    },
    buffers: [],
  });
}

/** True when the server reports that the kernel died. The server may restart the kernel, without its state. */
export function tellsOfDeath({ channel, type, content }: KernelMessage): boolean {
  const state = channel === 'iopub' && type === 'status' ? content['execution_state'] : null;
  return state === 'restarting' || state === 'dead';
}

/** Converts a message to an event of its cell. Null when the message has no event. */
export function cellEvent({ channel, type, content }: KernelMessage): CellEvent | null {
  if (channel !== 'iopub') return null;
  const transient = isFields(content['transient']) ? content['transient'] : {};
  const displayId = typeof transient['display_id'] === 'string' ? transient['display_id'] : null;
  switch (type) {
    case 'execute_input':
      return { kind: 'begin' };
    case 'update_display_data':
      return displayId === null ? null : { kind: 'update', displayId, ...bundleOf(content) };
    case 'clear_output':
      return { kind: 'clear', isWaiting: content['wait'] === true };
    case 'error':
      // sys.exit() with code 0 is a normal end of a program, not an error.
      return exitCodeOf({ ...content, status: 'error' }) === 0 ? null : shown(errorOutput(content));
    default: {
      const output = readOutput({ ...content, output_type: type });
      return output && { kind: 'output', output, displayId };
    }
  }
}

/** Converts the reply to a cell into events: outputs that only the reply contains, and the end. */
export function endEvents(reply: Fields, hasError: boolean, isPartial: boolean): CellEvent[] {
  const payloads = Array.isArray(reply['payload']) ? reply['payload'].filter(isFields) : [];
  const pages = payloads.filter(({ source }) => source === 'page');
  const exitCode = exitCodeOf(reply);
  return [
    ...pages.map((page) => shown({ output_type: 'display_data', ...bundleOf({ data: page['data'] }) })),
    ...(exitCode === 0 || hasError ? [] : [shown(errorOutput(reply))]),
    {
      kind: 'end',
      status: exitCode === 0 ? 'ok' : 'error',
      executionCount: count(reply['execution_count']),
      exitCode,
      cwdError: null,
      isPartial,
      isExiting: payloads.some(({ source, keepkernel }) => source === 'ask_exit' && keepkernel !== true),
      isPending: true,
    },
  ];
}

/** The end of a cell whose reply was never received. */
export function unheardEnd(): CellEvent[] {
  const output = errorOutput({
    ename: 'EndUnknown',
    evalue: 'the cell ended while no daemon listened to its kernel; the result is unknown',
  });
  return [shown(output), { ...errorEnd, exitCode: null, isPartial: true }];
}

/** The events of a cell that was refused before it ran. */
export function refusalEvents({ ename, evalue, cwdError }: CellRefusal): CellEvent[] {
  return [shown(errorOutput({ ename, evalue })), { ...errorEnd, cwdError: cwdError ?? null }];
}

const errorEnd = {
  kind: 'end',
  status: 'error',
  executionCount: null,
  exitCode: 1,
  cwdError: null,
  isPartial: false,
  isExiting: false,
  isPending: false,
} as const satisfies CellEvent;

const noInput = 'input() and getpass() cannot ask: a cell has no standard input';

function errorOutput(content: Fields): ErrorOutput {
  const ename = text(content['ename']) || 'Aborted';
  const evalue = text(content['evalue']);
  const reason = evalue || (ename === 'Aborted' ? 'the kernel has not run this cell' : '');
  const lines = Array.isArray(content['traceback']) ? content['traceback'].map(text) : [];
  const traceback = lines.length > 0 ? lines : [`${ename}: ${reason}`];
  if (ename !== 'StdinNotImplementedError') return { output_type: 'error', ename, evalue: reason, traceback };
  const last = traceback.at(-1) ?? '';
  return {
    output_type: 'error',
    ename,
    evalue: noInput,
    traceback: [...traceback.slice(0, -1), last.replace(evalue, noInput)],
  };
}

/** The argument of `sys.exit` is the text of its exception. */
function exitCodeOf(reply: Fields): number {
  if (reply['status'] === 'ok') return 0;
  if (reply['ename'] !== 'SystemExit') return 1;
  const given = text(reply['evalue']);
  if (given === '' || given === 'None') return 0;
  return /^-?\d+$/.test(given) ? Number(given) & 255 : 1;
}

function shown(output: Extract<CellEvent, { kind: 'output' }>['output']): CellEvent {
  return { kind: 'output', output, displayId: null };
}

/** Tracks open requests. One is over when its reply and the idle status have arrived, in any order. */
export class Requests {
  readonly #open = new Map<string, { reply: Fields | null; isIdle: boolean }>();

  begin(id: string): void {
    this.#open.set(id, { reply: null, isIdle: false });
  }

  /** Returns the reply of the request that this message completes. */
  take({ channel, type, parent, content }: KernelMessage): Fields | null {
    const request = this.#open.get(parent);
    if (!request) return null;
    if (channel === 'shell' && type === 'execute_reply') request.reply = content;
    else if (channel === 'iopub' && type === 'status') request.isIdle ||= content['execution_state'] === 'idle';
    if (request.reply === null || !request.isIdle) return null;
    this.#open.delete(parent);
    return request.reply;
  }

  /** Forgets a request and returns the parts of its end that have arrived. */
  drop(id: string): { readonly reply: Fields | null; readonly isIdle: boolean } {
    const request = this.#open.get(id) ?? { reply: null, isIdle: false };
    this.#open.delete(id);
    return request;
  }
}
