/** The messages of a terminal's socket in both directions. */
import { z } from 'zod';
import { signalNames } from '../../../core/commands/kill.ts';
import type { Terminal } from '../../../core/terminals/session/terminal.ts';
import { validate } from '../../../http/route/validate.ts';
import { CoreError } from '../../../kit/errors.ts';
import { signalName } from '../../../kit/signal-name.ts';
import { isFields, parseFields } from '../../../kit/types/fields.ts';
import { refusalOfV2 } from '../refusal.ts';
import { cols, rows } from './views.ts';

const offset = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const messages = {
  input: z.object({ data: z.string() }),
  resize: z.object({ cols: cols.optional(), rows: rows.optional() }),
  signal: z.object({ signal: z.enum(signalNames).default('SIGINT') }),
  ack: z.object({ offset }),
  ping: z.object({ timestamp: z.unknown() }),
  pong: z.object({}),
} as const;

type Messages = typeof messages;
type Name = keyof Messages;
export type ClientMessage = { [N in Name]: { readonly type: N } & z.output<Messages[N]> }[Name];

/** Null for text that is not a JSON object, which is typed input. Throws `malformed_request`. */
export function readMessage(text: string): ClientMessage | null {
  const message = /^\s*\{/.test(text) ? parseFields(text) : null;
  if (message === null) return null;
  const { type, data } = message;
  if (typeof type !== 'string' || !isName(type)) throw unknownMessage(type);
  const fields = type === 'input' ? message : { ...(isFields(data) ? data : null), ...message };
  const checked = validate(messages[type], fields, 'body');
  if ('value' in checked) return { type, ...checked.value } as ClientMessage;
  const wrong = checked.errors.map(({ location, message: what }) => `${location.replace('body.', '')} ${what}`);
  throw new CoreError('malformed_request', `${type}: ${wrong.join(', ')}`, {
    hint: 'The daemon ignored the part; send it again.',
  });
}

function isName(type: string): type is Name {
  return Object.hasOwn(messages, type);
}

function unknownMessage(type: unknown): CoreError {
  const what = typeof type === 'string' ? `no message is called ${type.slice(0, 64)}` : 'a message has a type';
  return new CoreError('malformed_request', what, {
    hint: `Send ${Object.keys(messages).join(', ')}; text that looks like a message is typed with {"type":"input","data":"…"}.`,
  });
}

export function exitMessage(end: Terminal['end'], at: number): object {
  const exited = end?.kind === 'exited' ? end : null;
  return {
    type: 'exit',
    exit_code: exited?.exitCode ?? null,
    signal: exited && exited.signal > 0 ? signalName(exited.signal) : null,
    offset: at,
  };
}

export function errorMessage(error: CoreError): object {
  const { message, code, hint, isRetryable: retryable } = refusalOfV2(error);
  return { type: 'error', data: message, code, retryable, hint };
}

/** Clients of different ages read the time from different fields. */
export function timedMessage(type: 'ping' | 'pong', timestamp: unknown): object {
  return { type, timestamp, data: { timestamp } };
}
