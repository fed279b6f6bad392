/** One MCP server of the image: finds out which revision it speaks, lists its tools and calls them. */
import { isFields, type Fields } from '../../kit/types/fields.ts';
import { McpBroken, McpUnreachable } from '../../protocols/mcp-errors.ts';
import { headersOf } from './parameter-headers.ts';
import type { UpstreamServer } from './servers.ts';
import { maxDefinitionLength, readTool, shownName, type LeftOutTool, type ServerTool } from './tool-definition.ts';
import { modernEra, UpstreamClient, type Era, type UpstreamClientDeps } from './upstream-client.ts';
import { callFailure, UpstreamRefusal } from './upstream-refusal.ts';

export interface ServerTools {
  readonly tools: readonly ServerTool[];
  /** The first of the tools that the hub must not offer. */
  readonly leftOut: readonly LeftOutTool[];
}

export interface CallOptions {
  /** Fires when the caller has gone or cancels the call. */
  readonly signal: AbortSignal;
  /** Receives the params of each progress notification, without its token. */
  readonly onProgress?: ((progress: Fields) => void) | undefined;
  /** Sent to the server, so that both logs can be joined; null for none. */
  readonly requestId?: string | null;
}

export const maxTools = 1000;
const maxPages = 50;
/** Characters of all definitions of one server together. */
const maxListLength = 16 * maxDefinitionLength;
const maxLeftOut = 20;
/** The code of revision 2026-07-28 for a request in a revision that the server does not have. */
const unsupportedVersion = -32022;

export class Upstream {
  readonly #client: UpstreamClient;
  /** Null until the server has answered, and after it could not be reached: another one may listen there later. */
  #era: Era | null = null;

  constructor(
    readonly server: UpstreamServer,
    deps: Omit<UpstreamClientDeps, 'url'>,
  ) {
    this.#client = new UpstreamClient({ ...deps, url: server.url });
  }

  /** Throws `UpstreamRefusal`, `NeedsSession`, `McpUnreachable`, `McpBroken`, and the reason of the signal. */
  async list(signal: AbortSignal): Promise<ServerTools> {
    try {
      if (this.#era === null) return await this.#discover(signal);
      return await this.#listOnce(this.#era, signal);
    } catch (error) {
      if (error instanceof McpUnreachable) this.#era = null;
      if (!(error instanceof UpstreamRefusal) || !error.isOfForm || this.#era === null) throw error;
      return await this.#discover(signal);
    }
  }

  /** Returns the result of the server unchanged. Throws `UpstreamRefusal` and `unavailable`. */
  async call(tool: ServerTool, args: Fields, options: CallOptions): Promise<Fields> {
    try {
      return await this.#call(tool, args, options);
    } catch (error) {
      if (error instanceof McpUnreachable) this.#era = null;
      if (options.signal.aborted) throw error;
      throw callFailure(error, this.server, tool.name);
    }
  }

  async #call(tool: ServerTool, args: Fields, options: CallOptions): Promise<Fields> {
    const { signal } = options;
    if (this.#era === null) await this.#discover(signal);
    try {
      return await this.#callOnce(tool, args, options);
    } catch (error) {
      if (!(error instanceof UpstreamRefusal) || !error.isOfForm) throw error;
      // The tool has not run. The server may have been replaced, or the schema of the tool has changed.
      const { tools } = await this.#discover(signal);
      return await this.#callOnce(tools.find(({ name }) => name === tool.name) ?? tool, args, options);
    }
  }

  async #callOnce({ name, headers }: ServerTool, args: Fields, options: CallOptions): Promise<Fields> {
    const { onProgress, requestId = null, signal } = options;
    const era = this.#era ?? modernEra;
    const result = await this.#client.request(
      era,
      {
        method: 'tools/call',
        params: { name, arguments: args },
        headers: {
          ...(era.isModern && headersOf(headers, args)),
          ...(requestId !== null && { 'x-request-id': requestId }),
        },
        onProgress,
      },
      signal,
    );
    if (result['resultType'] === 'input_required') {
      throw new McpBroken('it asks its client for input, which the hub cannot give');
    }
    return result;
  }

  /** Tries the current revision first, as the specification advises, and the handshake of older ones then. */
  async #discover(signal: AbortSignal): Promise<ServerTools> {
    this.#era = null;
    try {
      const listed = await this.#listOnce(modernEra, signal);
      this.#era = modernEra;
      return listed;
    } catch (error) {
      if (!(error instanceof UpstreamRefusal) || isModernOnly(error)) throw error;
    }
    const { era, hasTools } = await this.#client.initialize(signal);
    const listed = hasTools ? await this.#listOnce(era, signal) : { tools: [], leftOut: [] };
    this.#era = era;
    return listed;
  }

  async #listOnce(era: Era, signal: AbortSignal): Promise<ServerTools> {
    const found = new FoundTools(era);
    let cursor: unknown;
    for (let page = 0; page < maxPages && !found.isFull; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.#client.request(era, { method: 'tools/list', params }, signal);
      if (!Array.isArray(result['tools'])) throw new McpBroken('its list of tools is not a list');
      for (const definition of result['tools']) found.add(definition);
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string') break;
    }
    return found;
  }
}

/** Collects the tools of one server up to bounds on their number and their size. */
class FoundTools implements ServerTools {
  readonly tools: ServerTool[] = [];
  readonly leftOut: LeftOutTool[] = [];
  #length = 0;

  constructor(private readonly era: Era) {}

  get isFull(): boolean {
    return this.tools.length >= maxTools || this.#length >= maxListLength;
  }

  add(definition: unknown): void {
    const read = this.isFull ? beyondBounds(definition) : readTool(definition, this.era.isModern);
    if (!('reason' in read)) {
      this.tools.push(read);
      this.#length += read.length;
    } else if (this.leftOut.length < maxLeftOut) this.leftOut.push(read);
  }
}

function beyondBounds(definition: unknown): LeftOutTool {
  const { name } = Object(definition) as { name?: unknown };
  const reason = `the server has more than ${maxTools} tools, or more than ${maxListLength / 1024} KiB of them`;
  return { name: shownName(String(name)), reason };
}

/** Whether the server has the current revision, or a later one, and no revision with a handshake. */
function isModernOnly({ code, data }: UpstreamRefusal): boolean {
  if (code !== unsupportedVersion || !isFields(data) || !Array.isArray(data['supported'])) return false;
  return !data['supported'].some((version) => String(version) < modernEra.version);
}
