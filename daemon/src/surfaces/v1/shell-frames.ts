/** The frames of a 1.x shell socket in both directions: `{type, data}`. */
import { z } from 'zod';
import { maxCols, maxRows } from '../../kit/types/terminal-size.ts';
import { CoreError } from '../../kit/errors.ts';
import { parseFields } from '../../kit/types/fields.ts';

const cols = z.int().min(1).max(maxCols);
const rows = z.int().min(1).max(maxRows);
const size = z.object({ cols, rows });

/** Fields stand under `data`, or beside `type` in frames of older clients. The content of a pong is ignored. */
const frames = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input'), data: z.string() }),
  z.object({ type: z.literal('resize'), data: size }),
  z.object({ type: z.literal('ping'), data: z.unknown().optional(), timestamp: z.unknown().optional() }),
  z.object({ type: z.literal('pong') }),
]);

/** Throws `malformed_request` for an invalid frame. */
export function readFrame(frame: string | Uint8Array): z.output<typeof frames> {
  const message = typeof frame === 'string' ? parseFields(frame) : null;
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

function notUnderstood(what: string): CoreError {
  return new CoreError('malformed_request', what, {
    hint: 'Send {"type":"input","data":"ls\\n"}, {"type":"resize","data":{"cols":80,"rows":24}} or {"type":"pong"}.',
  });
}

export function frame(type: 'session_id' | 'ready' | 'output' | 'error', data: string): string {
  return JSON.stringify({ type, data });
}

/** Clients of different ages read the time from different fields. */
export function timedFrame(type: 'ping' | 'pong', timestamp: unknown): string {
  return JSON.stringify({ type, timestamp, data: timestamp });
}
