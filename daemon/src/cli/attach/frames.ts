/** Parses the messages that the daemon sends over the WebSocket of a terminal session. */
import { number, numberOrNull, record, text, textOrNull } from './fields.ts';

export type Frame =
  | { readonly kind: 'output'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'ready';
      /** The offset in the session's output where the following output starts. */
      readonly offset: number;
      /** Bytes ever typed into the session; null where the daemon does not report the count. */
      readonly inputOffset: number | null;
    }
  /** Output that is no longer retained. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  | { readonly kind: 'restore'; readonly bytes: Uint8Array }
  | { readonly kind: 'exit'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'ping' | 'pong'; readonly timestamp: number }
  /** A frame that this client does not use, or a type of a newer daemon. */
  | { readonly kind: 'unknown' };

/** Throws for a message that is not a frame of the protocol. */
export function readFrame(message: string | Uint8Array): Frame {
  if (typeof message !== 'string') return { kind: 'output', bytes: message };
  const frame = record(JSON.parse(message));
  switch (frame['type']) {
    case 'ready':
      return { kind: 'ready', offset: number(frame['offset']), inputOffset: numberOrNull(frame['input_offset']) };
    case 'gap':
      return { kind: 'gap', from: number(frame['from']), to: number(frame['to']) };
    case 'restore_output':
      return { kind: 'restore', bytes: Buffer.from(text(frame['data'])) };
    case 'exit':
      return { kind: 'exit', exitCode: numberOrNull(frame['exit_code']), signal: textOrNull(frame['signal']) };
    case 'error':
      return { kind: 'error', message: text(frame['data']) };
    case 'ping':
    case 'pong':
      return { kind: frame['type'], timestamp: Number(frame['timestamp']) };
    default:
      return { kind: 'unknown' };
  }
}
