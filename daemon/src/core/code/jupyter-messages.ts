/** Messages of Jupyter kernels, as a Jupyter server hands them on (Jupyter messaging, version 5). */
import type { CellEvent } from './events.ts';
import { bundleOf, count, isObject, readOutput, text, type ErrorOutput } from './notebook.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface KernelMessage {
  readonly channel: string;
  readonly type: string;
  /** The id of the request that it is about. */
  readonly parent: string;
  readonly content: Fields;
}

/** Null for what is no message. */
export function readMessage(line: string): KernelMessage | null {
  const value = parse(line);
  if (!isObject(value) || !isObject(value['header']) || !isObject(value['content'])) return null;
  const parent = isObject(value['parent_header']) ? value['parent_header'] : {};
  return {
    channel: text(value['channel']),
    type: text(value['header']['msg_type']),
    parent: text(parent['msg_id']),
    content: value['content'],
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // A server may say what it wants, also one that is none of Jupyter.
  }
}

/** Asks for the run of code. `isSilent`: it counts as no cell, and shows nothing. */
export function executeRequest(id: string, session: string, code: string, isSilent = false): string {
  return JSON.stringify({
    channel: 'shell',
    header: { msg_id: id, msg_type: 'execute_request', version: '5.3', username: 'sandboxd', session, date: '' },
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

/** What the server says of the kernel itself: it has died, and is perhaps started again, without its state. */
export function tellsOfDeath({ channel, type, content }: KernelMessage): boolean {
  const state = channel === 'iopub' && type === 'status' ? content['execution_state'] : null;
  return state === 'restarting' || state === 'dead';
}

/** What a message tells of its cell; null for one that tells nothing. */
export function cellEvent({ channel, type, content }: KernelMessage): CellEvent | null {
  if (channel !== 'iopub') return null;
  const transient = isObject(content['transient']) ? content['transient'] : {};
  const displayId = typeof transient['display_id'] === 'string' ? transient['display_id'] : null;
  switch (type) {
    case 'execute_input':
      return { kind: 'begin' };
    case 'update_display_data':
      return displayId === null ? null : { kind: 'update', displayId, ...bundleOf(content) };
    case 'clear_output':
      return { kind: 'clear', isWaiting: content['wait'] === true };
    case 'error':
      // sys.exit() is how a program says that all went well.
      return exitCodeOf({ ...content, status: 'error' }) === 0 ? null : shown(errorOutput(content));
    default: {
      const output = readOutput({ ...content, output_type: type });
      return output && { kind: 'output', output, displayId };
    }
  }
}

/** What comes of the reply to a cell: what it has to show beside its outputs, and the end. */
export function endEvents(reply: Fields, hasError: boolean, isPartial: boolean): CellEvent[] {
  const payloads = Array.isArray(reply['payload']) ? reply['payload'].filter(isObject) : [];
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
      isPartial,
      isExiting: payloads.some(({ source, keepkernel }) => source === 'ask_exit' && keepkernel !== true),
    },
  ];
}

/** The end of a cell whose reply nobody has heard. */
export function unheardEnd(): CellEvent[] {
  const output = errorOutput({
    ename: 'EndUnknown',
    evalue: 'the cell has ended while nobody listened to its kernel; whether it went well is not known',
  });
  const end = { status: 'error', executionCount: null, exitCode: null, isPartial: true, isExiting: false } as const;
  return [shown(output), { kind: 'end', ...end }];
}

/** A cell that was refused before it has run. */
export function refusalEvents({ ename, evalue }: { readonly ename: string; readonly evalue: string }): CellEvent[] {
  return endEvents({ status: 'error', ename, evalue }, false, false);
}

const noInput = 'input() and getpass() have nobody to ask: a cell has no standard input';

function errorOutput(content: Fields): ErrorOutput {
  const ename = text(content['ename']) || 'Aborted';
  const evalue = text(content['evalue']);
  const told = evalue || (ename === 'Aborted' ? 'the kernel has not run this cell' : '');
  const lines = Array.isArray(content['traceback']) ? content['traceback'].map(text) : [];
  const traceback = lines.length > 0 ? lines : [`${ename}: ${told}`];
  if (ename !== 'StdinNotImplementedError') return { output_type: 'error', ename, evalue: told, traceback };
  const last = traceback.at(-1) ?? '';
  return {
    output_type: 'error',
    ename,
    evalue: noInput,
    traceback: [...traceback.slice(0, -1), last.replace(evalue, noInput)],
  };
}

/** What `sys.exit` was given is the text of its exception. */
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

/** A request is over once its reply has come, and all outputs before the kernel went idle; in any order. */
export class Requests {
  readonly #open = new Map<string, { reply: Fields | null; isIdle: boolean }>();

  begin(id: string): void {
    this.#open.set(id, { reply: null, isIdle: false });
  }

  /** The reply of the request that this message completes. */
  take({ channel, type, parent, content }: KernelMessage): Fields | null {
    const request = this.#open.get(parent);
    if (!request) return null;
    if (channel === 'shell' && type === 'execute_reply') request.reply = content;
    else if (channel === 'iopub' && type === 'status') request.isIdle ||= content['execution_state'] === 'idle';
    if (request.reply === null || !request.isIdle) return null;
    this.#open.delete(parent);
    return request.reply;
  }

  /** Forgets one of which nothing more will come; answers what was heard of its end. */
  drop(id: string): { readonly reply: Fields | null; readonly isIdle: boolean } {
    const request = this.#open.get(id) ?? { reply: null, isIdle: false };
    this.#open.delete(id);
    return request;
  }
}
