/** Passes local standard input to a command, by offset to avoid duplicates, at the speed of the command. */
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { Refusal, Unreachable } from './failure.ts';
import { readInput } from './standard-streams.ts';
import { number } from './wire.ts';

const pieceBytes = 256 * 1024;
/** Too many requests, or temporarily unavailable. */
const transientStatuses: readonly number[] = [429, 503];

/** Ends at the end of the input, when the command accepts no more, or when `over` is aborted. */
export async function passInput(client: Client, id: string, over: AbortSignal): Promise<void> {
  const sink = new Sink(client, id, over);
  while (!over.aborted && !sink.isClosed) {
    const bytes = await readInput(pieceBytes);
    if (bytes === null) {
      await sink.end();
      return;
    }
    await sink.write(bytes);
  }
}

class Sink {
  /** True when the command has ended or its standard input is closed. */
  isClosed = false;
  #offset = 0;
  readonly #backoff = new Backoff();

  constructor(
    private readonly client: Client,
    private readonly id: string,
    private readonly over: AbortSignal,
  ) {}

  /** Writes bytes. A command that does not read accepts only a part; the rest is sent again while it runs. */
  async write(bytes: Uint8Array): Promise<void> {
    const end = this.#offset + bytes.length;
    while (this.#offset < end && !this.isClosed && !this.over.aborted) {
      await this.#send({
        input_base64: Buffer.from(bytes.subarray(bytes.length - (end - this.#offset))).toString('base64'),
      });
    }
  }

  async end(): Promise<void> {
    let isSent = false;
    while (!isSent && !this.isClosed && !this.over.aborted) isSent = await this.#send({ eof: true });
  }

  /** False when the request has to be repeated. */
  async #send(body: { input_base64: string } | { eof: true }): Promise<boolean> {
    try {
      const path = `/v2/commands/${encodeURIComponent(this.id)}/stdin`;
      const answer = await this.client.call('POST', path, { ...body, offset: this.#offset }, this.over);
      this.#offset += number(answer['accepted_bytes']);
      this.#backoff.reset();
      return true;
    } catch (error) {
      if (this.over.aborted) return false;
      if (error instanceof Refusal && !transientStatuses.includes(error.status)) {
        // 404 and 409 mean that no more input is accepted. Any other status is an error.
        if (error.status !== 404 && error.status !== 409) throw error;
        this.isClosed = true;
        return false;
      }
      if (!(error instanceof Refusal || error instanceof Unreachable)) throw error;
      await this.#backoff.wait(this.over);
      return false;
    }
  }
}
