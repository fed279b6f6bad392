/** Exports what a session has shown as an asciicast version 2 recording. */
import { decodeUtf8, wholeUtf8Length } from '../../../kit/text/text.ts';
import type { Schedule } from './recording-times.ts';
import { sizeAt, sizesBehind, type SizeChange } from './sizes.ts';
import type { Terminal } from '../session/terminal.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export interface RecordingHeader {
  readonly size: TerminalSize;
  readonly startedMs: number;
  readonly title: string | null;
}

/** Output or a resize, with the time since the start in milliseconds. */
export type RecordingEvent =
  | { readonly kind: 'output'; readonly atMs: number; readonly text: string }
  | { readonly kind: 'resize'; readonly atMs: number; readonly size: TerminalSize };

export interface Recording {
  readonly header: RecordingHeader;
  /** All output that is kept now, in whole characters. Later output is not included. */
  readonly events: Iterable<RecordingEvent>;
}

const sliceBytes = 32 * 1024;
/** The time span of the output in one event. */
const pieceMs = 50;
const minPieceBytes = 256;

export function recordingOf(terminal: Terminal, nowMs: number): Recording {
  const { log, record } = terminal;
  const end = log.refresh();
  const begun = { offset: 0, ms: record.createdMs };
  const schedule = terminal.times.schedule(begun, { offset: end, ms: nowMs });
  const sizes = record.sizes ?? [];
  const startedMs = schedule.timeOf(log.head);
  const size = sizeAt(sizes, log.head);
  const changes = sizesBehind(sizes, size);
  return {
    header: { size: size ?? terminal.size, startedMs, title: terminal.title },
    events: eventsOf(terminal, { end, startedMs, schedule, changes }),
  };
}

interface Plan {
  readonly end: number;
  readonly startedMs: number;
  readonly schedule: Schedule;
  readonly changes: readonly SizeChange[];
}

function* eventsOf({ log }: Terminal, { end, startedMs, schedule, changes }: Plan): Iterable<RecordingEvent> {
  using _open = log.use();
  const buffer = Buffer.allocUnsafe(sliceBytes);
  const sizes = [...changes];
  const text = new Characters();
  let offset = log.head;
  text.beginAt(offset);
  const sinceStart = () => Math.max(0, schedule.timeOf(offset) - startedMs);
  while (offset < end) {
    for (; sizes[0] && sizes[0].offset <= offset; sizes.shift()) {
      yield { kind: 'resize', atMs: sinceStart(), size: sizes[0] };
    }
    const atMs = sinceStart();
    const room = Math.min(end, sizes[0]?.offset ?? end, schedule.nextKnown(offset)) - offset;
    const piece = log.readInto(buffer.subarray(0, Math.min(room, pieceBytes(schedule, offset))), offset);
    if (!piece) break;
    offset = piece.kind === 'gap' ? piece.to : offset + piece.bytes.length;
    const shown = piece.kind === 'gap' ? text.rest() : text.add(piece.bytes);
    if (piece.kind === 'gap') text.beginAt(offset);
    if (shown !== '') yield { kind: 'output', atMs, text: shown };
  }
  const rest = text.rest();
  if (rest !== '') yield { kind: 'output', atMs: sinceStart(), text: rest };
  for (const size of sizes) yield { kind: 'resize', atMs: sinceStart(), size };
}

function pieceBytes(schedule: Schedule, offset: number): number {
  const bytesPerMs = 1 / Math.max(1e-6, schedule.timeOf(offset + 1) - schedule.timeOf(offset));
  return Math.max(minPieceBytes, Math.min(sliceBytes, Math.ceil(bytesPerMs * pieceMs)));
}

/** Decodes bytes to text without splitting a character. */
class Characters {
  #held = Buffer.alloc(0);
  #isMidway = false;

  /** The kept output may begin in the middle of a character. */
  beginAt(offset: number): void {
    this.#isMidway = offset > 0;
  }

  add(bytes: Uint8Array): string {
    let from = 0;
    while (this.#isMidway && from < Math.min(3, bytes.length) && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
    this.#isMidway = false;
    const all = Buffer.concat([this.#held, bytes.subarray(from)]);
    const whole = wholeUtf8Length(all);
    this.#held = Buffer.from(all.subarray(whole));
    return decodeUtf8(all.subarray(0, whole));
  }

  rest(): string {
    const text = decodeUtf8(this.#held);
    this.#held = Buffer.alloc(0);
    return text;
  }
}
