/** The messages of a terminal's socket in both directions. */
import { z } from 'zod';
import { signalNames } from '../../../core/commands/kill.ts';
import { backendNames } from '../../../core/terminals/backends/names.ts';
import type { Terminal } from '../../../core/terminals/session/terminal.ts';
import { validate } from '../../../http/route/validate.ts';
import { CoreError, errorCodes } from '../../../kit/errors.ts';
import { signalName } from '../../../kit/signal-name.ts';
import { isFields, parseFields } from '../../../kit/types/fields.ts';
import { refusalOfV2 } from '../refusal.ts';
import { cols, rows } from '../../../operations/inputs.ts';

export const transports = ['json', 'binary'] as const;

const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const time = z.unknown().describe('A number of milliseconds, or what the ping had.');
const timed = { timestamp: time, data: z.object({ timestamp: time }) };

/** Descriptions of terminal frames are those of docs/protocols/terminal.md. */
export const TerminalServerFrame = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('ready'),
      session_id: z.string(),
      transport: z.enum(transports),
      backend: z.enum(backendNames),
      resumed: z.boolean().describe('A durable socket was attached before.'),
      offset: offset.describe('The position of the first byte that follows.'),
      input_offset: offset.nullable().describe('Bytes ever typed into the session, or waiting to be.'),
      cols,
      rows,
    }),
    z.object({
      type: z.literal('restore_output'),
      data: z.string().describe('Draws the screen in a terminal of this size that was reset.'),
      offset,
    }),
    z.object({ type: z.literal('relay_resumed'), offset }),
    z.object({
      type: z.literal('output'),
      data: z.string().describe('Whole characters.'),
      offset: offset.describe('The end of data, from which to resume.'),
    }),
    z.object({ type: z.literal('gap'), from: offset, to: offset }).describe('These bytes are no longer kept.'),
    z.object({ type: z.literal('title'), title: z.string(), data: z.string() }),
    z.object({ type: z.literal('resize'), cols, rows }),
    z.object({ type: z.literal('ping'), ...timed }),
    z.object({ type: z.literal('pong'), ...timed }),
    z.object({
      type: z.literal('error'),
      data: z.string().describe('What was dropped. The socket stays open.'),
      code: z.enum(errorCodes),
      retryable: z.boolean(),
      hint: z.string().nullable(),
    }),
    z.object({
      type: z.literal('exit'),
      exit_code: z.int().nullable(),
      signal: z.string().nullable(),
      offset,
    }),
  ])
  .meta({ id: 'TerminalServerFrame' });

export type ServerMessage = z.input<typeof TerminalServerFrame>;

const messages = {
  input: z.object({ type: z.literal('input'), data: z.string() }),
  resize: z
    .object({ type: z.literal('resize'), cols: cols.optional(), rows: rows.optional() })
    .refine(({ cols: wide, rows: high }) => wide !== undefined || high !== undefined, 'needs cols or rows'),
  signal: z.object({ type: z.literal('signal'), signal: z.enum(signalNames).default('SIGINT') }),
  ack: z.object({ type: z.literal('ack'), offset }),
  ping: z.object({ type: z.literal('ping'), timestamp: z.unknown() }),
  pong: z.object({ type: z.literal('pong') }),
} as const;

export const TerminalClientFrame = z
  .discriminatedUnion('type', Object.values(messages) as [...(typeof messages)[Name][]] & [(typeof messages)['input']])
  .meta({ id: 'TerminalClientFrame' });

type Name = keyof typeof messages;
export type ClientMessage = z.output<(typeof messages)[Name]>;

/** Null for text that is not a JSON object, which is typed input. Throws `malformed_request`. */
export function readMessage(text: string): ClientMessage | null {
  const message = /^\s*\{/.test(text) ? parseFields(text) : null;
  if (message === null) return null;
  const { type, data } = message;
  if (typeof type !== 'string' || !isName(type)) throw unknownMessage(type);
  const fields = type === 'input' ? message : { ...(isFields(data) ? data : null), ...message };
  const checked = validate(messages[type], fields, 'body');
  if ('value' in checked) return checked.value;
  const wrong = checked.errors.map(({ location, message: what }) => `${location.replace('body.', '')} ${what}`);
  throw new CoreError('malformed_request', `${type}: ${wrong.join(', ')}`, {
    hint: 'Nothing of the frame was used. Correct it and send it again.',
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

export function exitMessage(end: Terminal['end'], at: number): ServerMessage {
  const exited = end?.kind === 'exited' ? end : null;
  return {
    type: 'exit',
    exit_code: exited?.exitCode ?? null,
    signal: exited && exited.signal > 0 ? signalName(exited.signal) : null,
    offset: at,
  };
}

export function errorMessage(error: CoreError): ServerMessage {
  const { message, code, hint, isRetryable: retryable } = refusalOfV2(error);
  return { type: 'error', data: message, code, retryable, hint };
}

/** Clients of different ages read the time from different fields. */
export function timedMessage(type: 'ping' | 'pong', timestamp: unknown): ServerMessage {
  return { type, timestamp, data: { timestamp } };
}
