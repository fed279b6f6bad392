/** Validates data from the daemon, because the address may lead to another version or another program. */
import { isFields, type Fields } from '../../kit/types/fields.ts';
import type { StreamName } from '../../kit/types/stream-name.ts';

export type Offsets = Record<StreamName, number>;

export interface CommandView {
  readonly id: string;
  readonly status: string;
  /** null while the command runs, and when the exit code is unknown. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly command: string;
  /** Empty for a script, and from a daemon that does not send them. */
  readonly args: readonly string[];
  readonly user: string;
  readonly startedAt: string | null;
  /** Why the command could not start. */
  readonly startError: { readonly errnoName: string; readonly message: string } | null;
}

export type Line =
  | { readonly kind: 'bytes'; readonly stream: StreamName; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gap'; readonly stream: StreamName; readonly from: number; readonly to: number }
  | { readonly kind: 'exit'; readonly status: string; readonly exitCode: number | null }
  | { readonly kind: 'start' | 'heartbeat' | 'closing' }
  /** A line type of a newer daemon. */
  | { readonly kind: 'unknown' };

/** Throws a TypeError for a value that is not a line of the protocol. */
export function readLine(value: unknown): Line {
  const line = record(value);
  switch (line['type']) {
    case 'stdout':
    case 'stderr': {
      const bytes = Buffer.from(text(line['data_base64']), 'base64');
      return { kind: 'bytes', stream: line['type'], offset: number(line['offset']), bytes };
    }
    case 'gap':
      return { kind: 'gap', stream: stream(line['stream']), from: number(line['from']), to: number(line['to']) };
    case 'exit':
      return { kind: 'exit', status: text(line['status']), exitCode: numberOrNull(line['exit_code']) };
    case 'start':
    case 'heartbeat':
    case 'closing':
      return { kind: line['type'] };
    default:
      return { kind: 'unknown' };
  }
}

export function readCommand(value: unknown): CommandView {
  const given = record(value);
  const error = given['error'];
  return {
    id: text(given['command_id']),
    status: text(given['status']),
    exitCode: numberOrNull(given['exit_code']),
    signal: textOrNull(given['signal']),
    command: text(given['command']),
    args: list(given['args'] ?? []).map(text),
    user: text(given['user']),
    startedAt: textOrNull(given['started_at']),
    startError: isFields(error) ? { errnoName: text(error['errno_name']), message: text(error['message']) } : null,
  };
}

export function record(value: unknown): Fields {
  if (!isFields(value)) throw new TypeError('an object was expected');
  return value;
}

export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('a list was expected');
  return value;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text was expected');
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('a number was expected');
  return value;
}

export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : text(value);
}

export function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : number(value);
}

function stream(value: unknown): StreamName {
  if (value !== 'stdout' && value !== 'stderr') throw new TypeError('the name of a stream was expected');
  return value;
}
