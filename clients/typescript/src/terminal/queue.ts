/** Events of a terminal between the connection and the reader, and how far the reader has come. */
import { StreamText } from '../lines.ts';
import type { TerminalEvent, TerminalOutput } from './events.ts';

/** Text is made when an event is taken, because a character may begin in the event before. */
type Received = Exclude<TerminalEvent, TerminalOutput> | Omit<TerminalOutput, 'text'>;

export class TerminalQueue {
  /** Where the output goes on after what the reader has taken; null while the screen has to be restored. */
  position: number | null;
  #events: Received[] = [];
  /** The end of the output that has come. */
  #received = 0;
  #text = new StreamText();

  constructor(offset: number | null) {
    this.position = offset;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** A connection begins, whose first byte has this offset. */
  begin(offset: number): void {
    this.#received = offset;
    if (this.position === null) return;
    if (offset > this.position) this.push({ type: 'gap', from: this.position, to: offset });
    else this.position = offset; // The caller has asked for an offset past the end.
  }

  output(bytes: Uint8Array): void {
    this.push({ type: 'output', offset: this.#received, bytes });
    this.#received += bytes.length;
  }

  push(event: Received): void {
    if (event.type === 'gap') this.#received = event.to;
    this.#events.push(event);
  }

  take(): TerminalEvent | null {
    const event = this.#events.shift();
    if (!event) return null;
    if (event.type === 'output') {
      this.position = event.offset + event.bytes.length;
      return { ...event, text: this.#text.decode(event.bytes) };
    }
    if (event.type === 'gap' || event.type === 'restore') {
      this.position = event.type === 'gap' ? event.to : event.offset;
      this.#text = new StreamText();
    }
    return event;
  }

  /** The screen is drawn again, as it is after all that came. */
  restore(): void {
    this.position = null;
    this.dropOutput();
  }

  /** Before a connection that sends again what was not taken. An error or a title may not come again. */
  dropOutput(): void {
    this.#events = this.#events.filter(({ type }) => type === 'error' || type === 'title');
  }

  clear(): void {
    this.#events = [];
  }
}
