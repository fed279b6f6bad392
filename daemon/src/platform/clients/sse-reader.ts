/** Reads the data of Server-Sent Events from bytes as they arrive, with a bound on each event. */
import { createParser } from 'eventsource-parser';
import { McpBroken } from '../../protocols/mcp-errors.ts';

/** Yields the data of each event. Throws `McpBroken` for an event of more characters. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  const events: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ data }) => void events.push(data),
    onError: ({ type }) => void (isTooLong ||= type === 'max-buffer-size-exceeded'),
  });
  const decoder = new TextDecoder();
  let isAfterReturn = false;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    // After CR alone, the parser would wait for a further line to end the event, so it gets LF for every line end.
    const rest = isAfterReturn && text.startsWith('\n') ? text.slice(1) : text;
    parser.feed(rest.replaceAll(/\r\n?/g, '\n'));
    isAfterReturn = text.endsWith('\r');
    yield* events.splice(0);
    if (isTooLong) throw new McpBroken(`it sent an event of more than ${maxLength / 1024 / 1024} MiB`);
  }
}
