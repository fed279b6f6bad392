/** What is said over the socket of a 1.x shell, both ways: `{type, data}`. */
import { z } from 'zod';
import { mostCols, mostRows } from '../../core/terminals/terminal-size.ts';
import { CoreError } from '../../kit/errors.ts';

const cols = z.number().int().min(1).max(mostCols);
const rows = z.number().int().min(1).max(mostRows);
const size = z.object({ cols, rows });

/** Fields stand under `data`, or beside `type`, as older clients have them. What a pong says is of no interest. */
const frames = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input'), data: z.string() }),
  z.object({ type: z.literal('resize'), data: size }),
  z.object({ type: z.literal('ping'), data: z.unknown().optional(), timestamp: z.unknown().optional() }),
  z.object({ type: z.literal('pong') }),
]);

export type ClientFrame = z.output<typeof frames>;

/** Throws `malformed_request` for what nobody can mean. */
export function readFrame(frame: string | Uint8Array): ClientFrame {
  const message = typeof frame === 'string' ? readObject(frame) : null;
  if (message === null) throw notUnderstood('a frame is a JSON object in text');
  const { data, ...beside } = message;
  const read = frames.safeParse(
    message['type'] === 'resize' ? { type: 'resize', data: { ...beside, ...Object(data) } } : message,
  );
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const isKnown = issue?.code !== 'invalid_union';
  throw notUnderstood(
    isKnown ? `${String(message['type'])}: ${issue?.path.join('.')} is not valid` : 'no frame is of that type',
  );
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null; // It is no JSON at all.
  }
}

function notUnderstood(what: string): CoreError {
  return new CoreError('malformed_request', what, {
    hint: 'Send {"type":"input","data":"ls\\n"}, {"type":"resize","data":{"cols":80,"rows":24}} or {"type":"pong"}.',
  });
}

export function frame(type: 'session_id' | 'ready' | 'output' | 'error', data: string): string {
  return JSON.stringify({ type, data });
}

/** Where a client looks for the time depends on its age. */
export function timedFrame(type: 'ping' | 'pong', timestamp: unknown): string {
  return JSON.stringify({ type, timestamp, data: timestamp });
}
