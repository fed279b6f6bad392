/** Messages of Jupyter kernels, as a Jupyter server hands them on (Jupyter messaging, version 5). */
import type { CellEvent } from './events.ts';
import { bundleOf, count, isObject, readOutput, text } from './notebook.ts';

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
  const value: unknown = JSON.parse(line);
  if (!isObject(value) || !isObject(value['header']) || !isObject(value['content'])) return null;
  const parent = isObject(value['parent_header']) ? value['parent_header'] : {};
  return {
    channel: text(value['channel']),
    type: text(value['header']['msg_type']),
    parent: text(parent['msg_id']),
    content: value['content'],
  };
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

/** What a message tells of its cell; null for one that tells nothing. Ends come from `CellEnds`. */
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
    default: {
      const output = readOutput({ ...content, output_type: type });
      return output && { kind: 'output', output, displayId };
    }
  }
}

/** A cell has ended once its reply has come, and all outputs before the kernel went idle; in any order. */
export class CellEnds {
  readonly #replies = new Map<string, Fields>();
  readonly #idle = new Set<string>();

  /** The end of a cell that this message completes. */
  take({ channel, type, parent, content }: KernelMessage): Extract<CellEvent, { kind: 'end' }> | null {
    if (channel === 'shell' && type === 'execute_reply') this.#replies.set(parent, content);
    else if (channel === 'iopub' && type === 'status' && content['execution_state'] === 'idle') this.#idle.add(parent);
    const reply = this.#replies.get(parent);
    if (!reply || !this.#idle.has(parent)) return null;
    this.#replies.delete(parent);
    this.#idle.delete(parent);
    const status = reply['status'] === 'ok' ? 'ok' : 'error';
    return {
      kind: 'end',
      status,
      executionCount: count(reply['execution_count']),
      exitCode: status === 'ok' ? 0 : 1,
      isPartial: false,
      isExiting: false,
    };
  }
}
