/** Reads the output of a command by offset, as a live stream, or as a summary. */
import { errnoOf } from '../../kit/errno.ts';
import { withoutDescriptors } from '../../kit/errors.ts';
import { LongText } from '../../kit/text/long-text.ts';
import { TimeSlices } from '../../kit/slices.ts';
import { countCharacters, cutMarker, decodeUtf8, takeCharacters, wholeUtf8Length } from '../../kit/text/text.ts';
import type { Child } from '../../platform/process/spawn.ts';
import type { Range } from '../../kit/byte-log.ts';
import { type StreamName, streamNames } from '../../kit/types/stream-name.ts';
import { joinBytes, readLog } from '../processes/read-log.ts';
import { ArrivalOrder, arrivalSegments, type Segment } from './arrival-order.ts';
import type { Command, CommandState } from './command.ts';
import { ChangeWaiter, type ChangeWaiterOptions } from './change-waiter.ts';
import { chunkBytes, OutputChunk, type OutputMemory, type Rendering } from './output-chunk.ts';
import { keptOf, lengthOf, partOf, piecesOf, type Segments } from './segments.ts';

export type Offsets = Readonly<Record<StreamName, number>>;

export type FollowEvent =
  | OutputChunk
  | { readonly kind: 'gap'; readonly stream: StreamName; readonly from: number; readonly to: number }
  | { readonly kind: 'silence'; readonly offsets: Offsets }
  | { readonly kind: 'exit'; readonly state: CommandState; readonly offsets: Offsets }
  | { readonly kind: 'closing'; readonly offsets: Offsets };

export interface FollowOptions extends ChangeWaiterOptions {
  readonly from: Offsets;
  readonly rendering: Rendering;
}

type OutputText = string | LongText;

export interface OutputSummary {
  readonly stdout: OutputText;
  readonly stderr: OutputText;
  /** Both streams in the order they were read. */
  readonly output: OutputText;
  readonly offsets: Offsets;
  readonly truncated: boolean;
  /** Why the output could not be read; null on success. */
  readonly unread: string | null;
}

export const noOutput: OutputSummary = {
  ...{ stdout: '', stderr: '', output: '' },
  ...{ offsets: { stdout: 0, stderr: 0 }, truncated: false, unread: null },
};

const longestSequence = 4;
/** A longer text is read from the log while the answer is written, so that no answer holds it. */
const shortBytes = 512 * 1024;
/** Above this limit a text is cut at bytes: finding the last characters would read all of them. */
const maxCutCharacters = 64 * 1024;

export interface OutputPart {
  readonly text: OutputText;
  /** The offset to continue from. */
  readonly next: number;
  /** Ranges that were skipped because they are no longer kept. */
  readonly gaps: readonly Range[];
}

/** Reads one stream from an offset: whole characters within `limitBytes`, or one character if none fits. */
export function readPart(child: Child, stream: StreamName, offset: number, limitBytes: number): OutputPart {
  using _open = child.directory.use();
  child.refresh();
  const end = endOf(child, stream);
  const from = Math.min(offset, end);
  if (Math.min(limitBytes, end - from) > shortBytes) return longPart(child, { stream, from, to: end }, limitBytes);
  const { bytes, next, gaps } = readLog(child.log(stream), from, end, Math.max(limitBytes, longestSequence));
  const isOver = !child.streamsOpen && next === end;
  const kept = firstCharacters(bytes, limitBytes) ?? (isOver ? bytes.length : wholeUtf8Length(bytes));
  return { text: decodeUtf8(bytes.subarray(0, kept)), next: next - (bytes.length - kept), gaps };
}

/** Like `readPart`, for a text that is read while the answer is written. */
function longPart(child: Child, segment: Segment, limitBytes: number): OutputPart {
  const { stream, from } = segment;
  const kept = Array.from(partOf(keptOf(child, [segment]), 0, limitBytes));
  const last = kept.at(-1) ?? { ...segment, from: segment.to };
  const isOver = !child.streamsOpen && last.to === segment.to;
  const { bytes } = readLog(child.log(stream), Math.max(last.from, last.to - longestSequence), last.to);
  const next = isOver ? last.to : last.to - (bytes.length - wholeUtf8Length(bytes));
  const whole = kept.map((part) => ({ ...part, to: Math.min(part.to, next) }));
  return { text: new LongText(() => piecesOf(child, whole)), next, gaps: child.log(stream).gaps({ from, to: next }) };
}

/** The number of bytes to return if the limit cuts the output; null if the limit does not apply. */
function firstCharacters(bytes: Uint8Array, limitBytes: number): number | null {
  for (let length = limitBytes; length < bytes.length; length++) {
    const whole = wholeUtf8Length(bytes.subarray(0, length));
    if (whole > 0) return whole;
  }
  return null;
}

/**
 * Streams everything from the given offsets, then live output, then exactly one last event: `exit` or `closing`. The
 * bytes of an output event are valid until the caller asks for the next event.
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
  using changes = new ChangeWaiter(child, options);
  let isSettling = false;
  let isSettled = !command.isRunning && !child.streamsOpen;
  for (;;) {
    if (options.closing.aborted) {
      yield { kind: 'closing', offsets: { ...offsets } };
      return;
    }
    // Checked before the output is read, so that all output written before the end is sent before the end.
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
    if (!command.isRunning && !isSettling) {
      isSettling = true;
      void command.finished().then(() => {
        isSettled = true;
        changes.wake();
      });
    }
    child.follow();
    const isSilent = await changes.next();
    if (options.signal.aborted) return;
    if (isSilent) yield { kind: 'silence', offsets: { ...offsets } };
  }
}

/**
 * Returns the output so far, cut in the middle if it is longer than `maxCharacters`; 0 means no limit. Without
 * `isMerged`, `output` is empty. The system may not let it be read, which must not fail the answer: many clients repeat
 * a call that ends with 5xx, and the command would run twice.
 */
export async function summarize(command: Command, maxCharacters: number, isMerged = true): Promise<OutputSummary> {
  try {
    return await summaryOf(command, maxCharacters === 0 ? Infinity : maxCharacters, isMerged);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return { ...noOutput, truncated: true, unread: (withoutDescriptors(error) as Error).message };
  }
}

async function summaryOf({ child }: Command, maxCharacters: number, isMerged: boolean): Promise<OutputSummary> {
  using _open = child.directory.use();
  child.refresh();
  const ends = { stdout: wholeEnd(child, 'stdout'), stderr: wholeEnd(child, 'stderr') };
  const streamText = (stream: StreamName) =>
    clip(child, () => [{ stream, from: 0, to: ends[stream] }], ends[stream], maxCharacters);
  const [stdout, stderr] = [await streamText('stdout'), await streamText('stderr')];
  const both = () => clip(child, () => arrivalSegments(child, ends), ends.stdout + ends.stderr, maxCharacters);
  const merged = async () => (ends.stdout > 0 && ends.stderr > 0 ? both() : ends.stdout > 0 ? stdout : stderr);
  const output = isMerged ? await merged() : { text: '', isCut: false };
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    output: output.text,
    offsets: ends,
    truncated: stdout.isCut || stderr.isCut || output.isCut,
    unread: null,
  };
}

/** The end of a stream. Excludes an incomplete character at the end while more output can follow. */
function wholeEnd(child: Child, stream: StreamName): number {
  const end = endOf(child, stream);
  return child.streamsOpen ? readPart(child, stream, Math.max(0, end - longestSequence), longestSequence).next : end;
}

/**
 * Yields a gap for output that is lost because the command was deleted meanwhile. An incomplete last character does not
 * count.
 */
function* unreadable(child: Child, offsets: Record<StreamName, number>): Generator<FollowEvent> {
  for (const stream of streamNames) {
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
  /** No more output can come. */
  readonly isOver: boolean;
}

/** The next piece of either stream, in arrival order; null when there is no new output. */
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

/** Shares rendered chunks, because followers of one command usually read at the same offset. */
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
  const log = stream === 'stdout' ? child : child.log(stream);
  const piece = log.readInto(memory.reading.subarray(0, limit), from);
  if (!piece) return null;
  if (piece.kind === 'gap') return { kind: 'gap', stream, from, to: Math.min(piece.to, to) };
  const { bytes } = piece;
  // Wait for the rest of a split character, unless the stream ends here or a gap follows.
  const isAllThereIs = bytes.length < limit || (isOver && from + bytes.length === endOf(child, stream));
  const length = rendering.wholeCharacters && !isAllThereIs ? wholeUtf8Length(bytes) : bytes.length;
  if (length === 0) return null;
  const buffer = memory.take();
  const rendered = rendering.render({ stream, offset: from, bytes: bytes.subarray(0, length) }, buffer);
  return new OutputChunk(stream, from, from + length, buffer.subarray(0, rendered), () => memory.giveBack(buffer));
}

interface Clipped {
  readonly text: OutputText;
  readonly isCut: boolean;
}

/** Decodes segments of this many bytes to text, cut in the middle if they are too long. */
async function clip(child: Child, segments: () => Segments, total: number, maxCharacters: number): Promise<Clipped> {
  if (total === 0) return { text: '', isCut: false };
  if (total > shortBytes && maxCharacters > maxCutCharacters) {
    return await clipLong(child, segments, total, maxCharacters);
  }
  const half = Math.ceil(maxCharacters / 2);
  // A character has at most four bytes, and the tail may start in the middle of a character.
  const window = half * longestSequence + longestSequence;
  if (total <= window * 2) {
    const { bytes, hasGap } = collect(child, segments());
    const text = decodeUtf8(bytes);
    if (countCharacters(text) <= maxCharacters) return { text, isCut: hasGap };
    return cutMiddle(text, text, total, maxCharacters);
  }
  const head = collect(child, partOf(segments(), 0, window));
  const tail = collect(child, partOf(segments(), total - window, total));
  return cutMiddle(decodeUtf8(head.bytes), decodeUtf8(tail.bytes), total, maxCharacters);
}

/** Like `clip`, for a text that is not held. A text that is too long keeps as many bytes as it may have characters. */
async function clipLong(
  child: Child,
  segments: () => Segments,
  total: number,
  maxCharacters: number,
): Promise<Clipped> {
  const kept = () => keptOf(child, segments());
  const bytes = lengthOf(kept());
  if (bytes <= maxCharacters || (await hasAtMost(maxCharacters, piecesOf(child, kept())))) {
    return { text: new LongText(() => piecesOf(child, kept())), isCut: bytes < total };
  }
  const half = Math.floor(maxCharacters / 2);
  const [end, start] = [half, bytes - half].map((at) => characterAt(child, kept(), at)) as [number, number];
  const text = new LongText(function* () {
    yield* piecesOf(child, partOf(kept(), 0, end));
    yield Buffer.from(cutMarker(total - bytes + start - end));
    yield* piecesOf(child, partOf(kept(), start, bytes));
  });
  return { text, isCut: true };
}

/** The position of the first byte at or after `at` that may begin a character. */
function characterAt(child: Child, segments: Segments, at: number): number {
  const { bytes } = collect(child, partOf(segments, at, at + longestSequence - 1));
  const first = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return at + (first === -1 ? bytes.length : first);
}

async function hasAtMost(maxCharacters: number, pieces: Iterable<Uint8Array>): Promise<boolean> {
  const slices = new TimeSlices();
  let characters = 0;
  for (const piece of pieces) {
    characters += countCharacters(decodeUtf8(piece));
    if (characters > maxCharacters) return false;
    await slices.next();
  }
  return true;
}

function cutMiddle(headText: string, tailText: string, totalBytes: number, maxCharacters: number): Clipped {
  const head = takeCharacters(headText, Math.ceil(maxCharacters / 2), 'start');
  const tail = takeCharacters(tailText, Math.floor(maxCharacters / 2), 'end');
  const omitted = Math.max(0, totalBytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
  return { text: `${head}${cutMarker(omitted)}${tail}`, isCut: true };
}

function collect(child: Child, segments: Segments): { bytes: Uint8Array; hasGap: boolean } {
  const parts = Array.from(segments, ({ stream, from, to }) => readLog(child.log(stream), from, to));
  return { bytes: joinBytes(parts.map(({ bytes }) => bytes)), hasGap: parts.some(({ gaps }) => gaps.length > 0) };
}
