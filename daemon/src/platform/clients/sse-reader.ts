/** Reads the data of Server-Sent Events from bytes as they arrive, with a bound on each event. */
import { McpBroken } from '../../protocols/mcp-errors.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Yields the data of each event. Throws `McpBroken` for an event of more bytes. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const event = new EventBuffer(maxBytes);
  for await (const line of readLines(chunks, maxBytes)) {
    const data = event.add(line);
    if (data !== null) yield data;
  }
}

/** Collects the data lines of one event; an empty line ends it (HTML Standard, Server-sent events). */
class EventBuffer {
  #data: string[] = [];
  #length = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns the data of the event that this line ends, and null otherwise. */
  add(line: string): string | null {
    if (line === '') return this.#take();
    if (line !== 'data' && !line.startsWith('data:')) return null; // Other fields and comments carry no message.
    const data = line.slice(line[5] === ' ' ? 6 : 5);
    this.#length += data.length;
    if (this.#length > this.maxBytes) throw tooLong(this.maxBytes);
    this.#data.push(data);
    return null;
  }

  #take(): string | null {
    const data = this.#data;
    this.#data = [];
    this.#length = 0;
    return data.length === 0 ? null : data.join('\n');
  }
}

/** A line ends with LF, CR or both. Bytes behind the last line end belong to an event that was cut off. */
async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  let length = 0;
  let endedWithReturn = false;
  for await (const chunk of chunks) {
    let start = endedWithReturn && chunk[0] === lineFeed ? 1 : 0;
    for (let end = lineEnd(chunk, start); end !== -1; end = lineEnd(chunk, start)) {
      pending.push(chunk.subarray(start, end));
      yield decode(pending);
      [pending, length] = [[], 0];
      start = end + (chunk[end] === carriageReturn && chunk[end + 1] === lineFeed ? 2 : 1);
    }
    endedWithReturn = chunk.at(-1) === carriageReturn;
    length += chunk.length - start;
    if (length > maxBytes) throw tooLong(maxBytes);
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
}

function lineEnd(chunk: Uint8Array, from: number): number {
  const feed = chunk.indexOf(lineFeed, from);
  // Only as far as the line feed: nearly all servers end lines with one, and their lines are then searched once.
  const back = chunk.subarray(from, feed === -1 ? undefined : feed).indexOf(carriageReturn);
  return back === -1 ? feed : from + back;
}

function decode(parts: readonly Uint8Array[]): string {
  return new TextDecoder().decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
}

function tooLong(maxBytes: number): McpBroken {
  return new McpBroken(`it sent an event of more than ${maxBytes / 1024 / 1024} MiB`);
}
