/** Reads the output of a command: by offset, as it comes, or in short for an answer. */
import { joinRanges, type Range } from '../../kit/byte-log.ts';
import { Deadline } from '../../kit/deadline.ts';
import { countCharacters, cutMarker, decodeUtf8, takeCharacters, wholeUtf8Length } from '../../kit/text.ts';
import type { Child, StreamName } from '../../platform/spawn.ts';
import { ArrivalOrder, arrivalSegments, type Segment } from './arrival-order.ts';
import type { Command, CommandState } from './command.ts';
import { chunkBytes, OutputChunk, type OutputMemory, type Rendering } from './output-chunk.ts';
import { readLogs } from './refusal.ts';

export type Offsets = Readonly<Record<StreamName, number>>;

export interface StreamPart {
  readonly bytes: Uint8Array;
  /** The offset to go on from. */
  readonly next: number;
  /** Ranges passed over because they are no longer kept. */
  readonly gaps: readonly Range[];
}

export type FollowEvent =
  | OutputChunk
  | { readonly kind: 'gap'; readonly stream: StreamName; readonly from: number; readonly to: number }
  | { readonly kind: 'silence'; readonly offsets: Offsets }
  | { readonly kind: 'exit'; readonly state: CommandState; readonly offsets: Offsets }
  | { readonly kind: 'closing'; readonly offsets: Offsets };

export interface FollowOptions {
  readonly from: Offsets;
  readonly rendering: Rendering;
  /** After how long without output a `silence` event comes. */
  readonly silenceMs: number;
  /** The reader has gone. */
  readonly signal: AbortSignal;
  /** The daemon is going: the stream ends with `closing`. */
  readonly closing: AbortSignal;
}

export interface OutputSummary {
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams in the order they were read. */
  readonly output: string;
  readonly offsets: Offsets;
  readonly truncated: boolean;
}

const longestSequence = 4;
/** Of each text in one answer: more would stand in the memory of the daemon several times over. */
const mostCharacters = 32 * 1024 * 1024;

/** What one stream holds past an offset, at most `limitBytes` of it, whole characters only. */
export function readPart(child: Child, stream: StreamName, offset: number, limitBytes: number): StreamPart {
  using _open = child.directory.use();
  child.refresh();
  const end = endOf(child, stream);
  const limit = Math.max(limitBytes, longestSequence);
  const parts: Uint8Array[] = [];
  const gaps: Range[] = [];
  let length = 0;
  let next = Math.min(offset, end);
  while (next < end && length < limit) {
    const piece = child.log(stream).read(next, Math.min(limit - length, end - next));
    if (!piece) break;
    if (piece.kind === 'gap') {
      gaps.push({ from: next, to: Math.min(piece.to, end) });
      next = Math.min(piece.to, end);
    } else {
      parts.push(piece.bytes);
      length += piece.bytes.length;
      next += piece.bytes.length;
    }
  }
  const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  const isOver = !child.streamsOpen && next === end;
  const held = isOver ? 0 : bytes.length - wholeUtf8Length(bytes);
  return { bytes: bytes.subarray(0, bytes.length - held), next: next - held, gaps: joinRanges(gaps) };
}

/**
 * Everything from the given offsets on, then live, up to exactly one last event: `exit` or `closing`. A piece of
 * output holds until the next event is asked for.
 */
export async function* follow(
  command: Command,
  memory: OutputMemory,
  options: FollowOptions,
): AsyncGenerator<FollowEvent> {
  const { child } = command;
  using _open = child.directory.use();
  child.refresh();
  const order = new ArrivalOrder(child);
  const offsets = {
    stdout: Math.min(options.from.stdout, child.ends[0]),
    stderr: Math.min(options.from.stderr, child.ends[1]),
  };
  let settled: Promise<void> | null = null;
  let isSettled = !command.isRunning && !child.streamsOpen;
  for (;;) {
    if (options.closing.aborted) {
      yield { kind: 'closing', offsets: { ...offsets } };
      return;
    }
    // Looked at before the output is: what came before the end is then told before the end.
    const isLast = isSettled;
    const reading = { memory, rendering: options.rendering, isOver: isLast && !child.streamsOpen };
    const event = nextOutput(command, order, offsets, reading);
    if (event) {
      offsets[event.stream] = event.kind === 'gap' ? event.to : event.next;
      using _used = event.kind === 'bytes' ? event.use() : null;
      yield event;
      if (options.signal.aborted) return;
      continue;
    }
    if (isLast) {
      yield* unreadable(child, offsets);
      yield { kind: 'exit', state: command.state, offsets: { ...offsets } };
      return;
    }
    if (!command.isRunning) {
      settled ??= command.finished().then(() => {
        isSettled = true;
      });
    }
    const isSilent = await waitForChange(child, settled, options);
    if (options.signal.aborted) return;
    if (isSilent) yield { kind: 'silence', offsets: { ...offsets } };
  }
}

/**
 * The output of a command that is over, or so far: cut in the middle where it is longer than asked for.
 * 0 is no cut, but for what no answer can hold.
 */
export function summarize(command: Command, wantedCharacters: number): OutputSummary {
  return readLogs(command.id, () => summaryOf(command, wantedCharacters));
}

function summaryOf({ child }: Command, wantedCharacters: number): OutputSummary {
  const maxCharacters = wantedCharacters === 0 ? mostCharacters : Math.min(wantedCharacters, mostCharacters);
  using _open = child.directory.use();
  child.refresh();
  const [out, err] = [wholeEnd(child, 'stdout'), wholeEnd(child, 'stderr')];
  const stdout = clip(child, [{ stream: 'stdout', from: 0, to: out }], maxCharacters);
  const stderr = clip(child, [{ stream: 'stderr', from: 0, to: err }], maxCharacters);
  const both = out > 0 && err > 0;
  const ends = { stdout: out, stderr: err };
  const arrived = arrivalSegments(child).map((segment) => ({
    ...segment,
    to: Math.min(segment.to, ends[segment.stream]),
  }));
  const output = both ? clip(child, arrived, maxCharacters) : out > 0 ? stdout : stderr;
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    output: output.text,
    offsets: ends,
    truncated: stdout.isCut || stderr.isCut || output.isCut,
  };
}

/** Where a stream ends; the start of a character whose rest is still to come is left to the next reader. */
function wholeEnd(child: Child, stream: StreamName): number {
  const end = endOf(child, stream);
  return child.streamsOpen ? readPart(child, stream, Math.max(0, end - longestSequence), longestSequence).next : end;
}

/** What cannot be read although it was there: the command was deleted meanwhile. A cut character does not count. */
function* unreadable(child: Child, offsets: Record<StreamName, number>): Generator<FollowEvent> {
  for (const stream of ['stdout', 'stderr'] as const) {
    const [from, to] = [offsets[stream], endOf(child, stream)];
    if (to - from < longestSequence) continue;
    offsets[stream] = to;
    yield { kind: 'gap', stream, from, to };
  }
}

function endOf(child: Child, stream: StreamName): number {
  return child.ends[stream === 'stdout' ? 0 : 1];
}

interface Reading {
  readonly memory: OutputMemory;
  readonly rendering: Rendering;
  /** Nothing will be written any more. */
  readonly isOver: boolean;
}

/** The next piece of either stream, in the order they were read; null when there is nothing to tell yet. */
function nextOutput(
  command: Command,
  order: ArrivalOrder,
  offsets: Offsets,
  reading: Reading,
): Extract<FollowEvent, { kind: 'bytes' | 'gap' }> | null {
  const { child } = command;
  const first = order.next(offsets);
  const others: Segment[] = [
    { stream: 'stdout', from: offsets.stdout, to: child.ends[0] },
    { stream: 'stderr', from: offsets.stderr, to: child.ends[1] },
  ];
  for (const segment of first ? [first, ...others] : others) {
    const event = readShared(command, segment, reading);
    if (event) return event;
  }
  return null;
}

/** Followers of one command are mostly at the same place. */
function readShared(
  { child, recent }: Command,
  segment: Segment,
  reading: Reading,
): Extract<FollowEvent, { kind: 'bytes' | 'gap' }> | null {
  const { stream, from, to } = segment;
  const key = [stream, from, Math.min(to, from + chunkBytes), reading.rendering.name, reading.isOver].join(' ');
  const known = recent.find(key);
  if (known) return known;
  const event = readSegment(child, segment, reading);
  if (event?.kind === 'bytes') recent.add(key, event);
  return event;
}

function readSegment(
  child: Child,
  { stream, from, to }: Segment,
  { memory, rendering, isOver }: Reading,
): Extract<FollowEvent, { kind: 'bytes' | 'gap' }> | null {
  if (to <= from) return null;
  const limit = Math.min(chunkBytes, to - from);
  const piece = child.log(stream).readInto(memory.reading.subarray(0, limit), from);
  if (!piece) return null;
  if (piece.kind === 'gap') return { kind: 'gap', stream, from, to: Math.min(piece.to, to) };
  const { bytes } = piece;
  // The rest of a cut character is still to come, unless this is the very end, or a gap is what follows.
  const isAllThereIs = bytes.length < limit || (isOver && from + bytes.length === endOf(child, stream));
  const length = rendering.wholeCharacters && !isAllThereIs ? wholeUtf8Length(bytes) : bytes.length;
  if (length === 0) return null;
  const buffer = memory.take();
  const rendered = rendering.render({ stream, offset: from, bytes: bytes.subarray(0, length) }, buffer);
  return new OutputChunk(stream, from, from + length, buffer.subarray(0, rendered), () => memory.giveBack(buffer));
}

/** True when nothing changed for the time of a heartbeat. */
async function waitForChange(child: Child, settled: Promise<void> | null, options: FollowOptions): Promise<boolean> {
  using wait = new Deadline(options.silenceMs, options.signal, options.closing);
  child.watch();
  const changed = child.changed(wait.signal);
  await (settled ? Promise.race([changed, settled]) : changed);
  return wait.passed && !options.signal.aborted && !options.closing.aborted;
}

interface Clipped {
  readonly text: string;
  readonly isCut: boolean;
}

/** The text of some segments. */
function clip(child: Child, segments: readonly Segment[], maxCharacters: number): Clipped {
  const total = segments.reduce((sum, { from, to }) => sum + to - from, 0);
  const half = Math.ceil(maxCharacters / 2);
  // A character has at most four bytes, and the first one of the tail may be cut by its start.
  const window = half * longestSequence + longestSequence;
  if (total <= window * 2) {
    const { bytes, hasGap } = collect(child, segments);
    const text = decodeUtf8(bytes);
    if (countCharacters(text) <= maxCharacters) return { text, isCut: hasGap };
    return cutMiddle(text, text, total, maxCharacters);
  }
  const head = collect(child, firstBytes(segments, window));
  const tail = collect(child, lastBytes(segments, window));
  return cutMiddle(decodeUtf8(head.bytes), decodeUtf8(tail.bytes), total, maxCharacters);
}

function cutMiddle(headText: string, tailText: string, totalBytes: number, maxCharacters: number): Clipped {
  const head = takeCharacters(headText, Math.ceil(maxCharacters / 2), 'start');
  const tail = takeCharacters(tailText, Math.floor(maxCharacters / 2), 'end');
  const omitted = Math.max(0, totalBytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
  return { text: `${head}${cutMarker(omitted)}${tail}`, isCut: true };
}

function collect(child: Child, segments: readonly Segment[]): { bytes: Uint8Array; hasGap: boolean } {
  const parts: Uint8Array[] = [];
  let hasGap = false;
  for (const { stream, from, to } of segments) {
    for (let at = from; at < to;) {
      const piece = child.log(stream).read(at, to - at);
      if (!piece) break;
      if (piece.kind === 'gap') hasGap = true;
      else parts.push(piece.bytes);
      at = piece.kind === 'gap' ? piece.to : at + piece.bytes.length;
    }
  }
  return { bytes: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts), hasGap };
}

function firstBytes(segments: readonly Segment[], count: number): Segment[] {
  const taken: Segment[] = [];
  let left = count;
  for (const segment of segments) {
    if (left <= 0) break;
    const to = Math.min(segment.to, segment.from + left);
    taken.push({ ...segment, to });
    left -= to - segment.from;
  }
  return taken;
}

function lastBytes(segments: readonly Segment[], count: number): Segment[] {
  const taken: Segment[] = [];
  let left = count;
  for (const segment of segments.toReversed()) {
    if (left <= 0) break;
    const from = Math.max(segment.from, segment.to - left);
    taken.unshift({ ...segment, from });
    left -= segment.to - from;
  }
  return taken;
}
