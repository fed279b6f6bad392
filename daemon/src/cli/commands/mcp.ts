/** `boxkeep mcp`: lets a client that only starts programs use the MCP endpoint of a daemon. */
import { textLines } from '../../../../clients/typescript/src/lines.ts';
import { mintId } from '../../kit/ids.ts';
import { Mutex } from '../../kit/mutex.ts';
import { Client } from '../client/client.ts';
import { describeError, StreamFailure } from '../client/failure.ts';
import { headersOf, messagesOf, readMessage, type Message } from '../client/mcp-messages.ts';
import { inputPieces, print, say } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const mcp: Verb = {
  usage: 'mcp [url]',
  summary: 'a bridge for MCP clients that start programs',
  details: `Passes each line of standard input to POST /mcp of the daemon, and prints each message that comes back as a line. Requests
run at the same time. In the settings of an MCP client, the command is boxkeep, its arguments are mcp and the address,
and SVC_API_KEY stands in its environment. Ends when standard input has ended and everything is answered.
${connectionHelp}`,

  async run(given, environment) {
    const bridge = new StdioBridge(new Client(given, environment));
    const passing = new Set<Promise<void>>();
    for await (const line of textLines(inputPieces(), true)) {
      const passed = bridge.pass(line).finally(() => passing.delete(passed));
      passing.add(passed);
    }
    await Promise.all(passing);
    return 0;
  },
};

/** Codes of JSON-RPC: the first one that is free for servers, and that of text that is not JSON. */
const failedCode = -32_000;
const parseErrorCode = -32_700;
/** JSON-RPC errors travel with these statuses too. */
const answerStatuses = [400, 413];

class StdioBridge {
  /** Tells this client from others of the same library, whose requests have the same numbers. */
  readonly #userAgent = mintId('mcp');
  /** Keeps the pieces of two long lines apart. */
  readonly #printing = new Mutex();

  constructor(private readonly client: Client) {}

  async pass(line: string): Promise<void> {
    const message = readMessage(line);
    if (message === null) return await this.#fail(null, parseErrorCode, 'a line is not a JSON object');
    const isRequest = message.id !== undefined && message.method !== undefined;
    try {
      let isAnswered = !isRequest;
      for await (const answer of this.#send(message)) {
        isAnswered ||= answer.id === message.id && answer.method === undefined;
        await this.#print(answer);
      }
      if (!isAnswered) throw new Error(`${this.client.address} has closed the connection before the answer`);
    } catch (error) {
      if (error instanceof StreamFailure) throw error;
      if (isRequest) await this.#fail(message.id, failedCode, describeError(error));
      else await say(`mcp: ${describeError(error)}`);
    }
  }

  async *#send(message: Message): AsyncGenerator<Message> {
    const headers = { ...headersOf(message), 'user-agent': this.#userAgent };
    // Without a deadline: a call takes as long as its tool, and the MCP client cancels it.
    const input = { body: message };
    const opened = await this.client.sandbox.open('mcp.message', input, { headers, answerStatuses });
    if (!opened.ok) throw opened.error;
    yield* messagesOf(opened.body);
  }

  async #fail(id: Message['id'] | null, code: number, message: string): Promise<void> {
    await this.#print({ jsonrpc: '2.0', id, error: { code, message } });
  }

  async #print(message: object): Promise<void> {
    await this.#printing.acquire();
    try {
      await print(JSON.stringify(message));
    } finally {
      this.#printing.release();
    }
  }
}
