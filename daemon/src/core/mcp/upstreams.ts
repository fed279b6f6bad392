/** Offers the tools of all registered MCP servers as one list, and calls each at its server. */
import { aborted, Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Fields } from '../../kit/types/fields.ts';
import { McpUnreachable } from '../../protocols/mcp-errors.ts';
import type { UpstreamServer } from './servers.ts';
import { nameForModels, shortName, shownName, type ServerTool } from './tool-definition.ts';
import { Upstream, type CallOptions, type ServerTools } from './upstream.ts';
import type { UpstreamClientDeps } from './upstream-client.ts';
import { NeedsSession } from './upstream-refusal.ts';

export interface UpstreamsDeps extends Omit<UpstreamClientDeps, 'url'> {
  /** In the order of their registration. */
  readonly servers: readonly UpstreamServer[];
  /** The names of the tools of the hub itself, which win over those of servers. */
  readonly builtIn: readonly string[];
  readonly warn: (message: string) => void;
  readonly now: () => number;
}

/** A tool as its server describes it, under the name that the hub gives it. */
export interface UpstreamTool extends Fields {
  readonly name: string;
}

/** The state of one server as the hub knows it. */
interface Known {
  readonly upstream: Upstream;
  /** The tools in the list of the hub. */
  listed: readonly ServerTool[];
  /** The last tools that the server had; calls find them even while the server is down. */
  last: readonly ServerTool[];
  refresh: { readonly startedMs: number; readonly done: Promise<void> } | null;
  /** When a server that needs a session is asked again; it may have been replaced. */
  againMs: number;
  problem: string | null;
  /** What is not in the list of the hub, and why. */
  losses: readonly string[];
}

interface Offered {
  readonly known: Known;
  readonly tool: ServerTool;
}

/** The longest time that one server delays a list. */
const listMs = 2000;
/** A slower server keeps its last tools until it answers in this time. */
const refreshMs = 10_000;
const sessionRetryMs = 60_000;
const maxWarnings = 1000;

export class Upstreams {
  readonly #known: readonly Known[];
  readonly #builtIn: ReadonlySet<string>;
  /** Each warning is logged once. */
  readonly #warned = new Set<string>();
  readonly #closing = new AbortController();

  constructor(private readonly deps: UpstreamsDeps) {
    const { servers, builtIn, ...client } = deps;
    this.#builtIn = new Set(builtIn);
    this.#known = servers.map((server) => ({
      upstream: new Upstream(server, client),
      ...{ listed: [], last: [], refresh: null, againMs: 0, problem: null, losses: [] },
    }));
  }

  /** The tools of the servers that answer, after at most 2 s. A slower server keeps its last tools. */
  async tools(signal: AbortSignal): Promise<readonly UpstreamTool[]> {
    await Promise.all(this.#known.map((known) => this.#refresh(known, signal)));
    signal.throwIfAborted();
    const offered = this.#offer(
      ({ listed }) => listed,
      (loss) => this.#warn(loss),
    );
    return [...offered].map(([name, { tool }]) => ({ ...tool.definition, name }));
  }

  /** What the servers offer and the last list lacks, in the words of the log. */
  losses(): readonly string[] {
    const losses = this.#known.flatMap(({ losses: own }) => own);
    this.#offer(
      ({ listed }) => listed,
      (loss) => losses.push(loss),
    );
    return losses;
  }

  /**
   * Resolves with the result of the server, unchanged. Throws `UpstreamRefusal` with an error of the protocol, also for
   * an unknown tool, `unavailable` when the server fails, and the reason of the signal.
   */
  async call(name: string, args: Fields, options: CallOptions): Promise<Fields> {
    const { known, tool } = this.#find(name) ?? (await this.#findAgain(name, options.signal));
    return await known.upstream.call(tool, args, options);
  }

  /** Ends the waits for lists; calls end with their own signals. */
  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  #find(name: string): Offered | undefined {
    const offered = this.#offer(({ last }) => last);
    return offered.get(name) ?? offered.get(nameForModels(name) ?? '');
  }

  async #findAgain(name: string, signal: AbortSignal): Promise<Offered> {
    await this.tools(signal);
    const found = this.#find(name);
    if (found) return found;
    throw new CoreError('tool_not_found', `unknown tool: ${shortName(name)}`);
  }

  /** Built-in names win, then the first server with a name. */
  #offer(toolsOf: (known: Known) => readonly ServerTool[], onLoss?: (warning: string) => void): Map<string, Offered> {
    const offered = new Map<string, Offered>();
    for (const known of this.#known) {
      const { name: server, prefix } = known.upstream.server;
      for (const tool of toolsOf(known)) {
        const full = prefix === null ? tool.name : `${prefix}_${tool.name}`;
        const name = nameForModels(full);
        if (name === null) {
          onLoss?.(
            `The tool ${shownName(full)} of the MCP server ${server} is left out: its name is over 64 characters.`,
          );
          continue;
        }
        const winner = this.#builtIn.has(name) ? 'the hub itself' : offered.get(name)?.known.upstream.server.name;
        if (winner === undefined) offered.set(name, { known, tool });
        else onLoss?.(`The tool ${name} of the MCP server ${server} is left out: ${winner} has a tool of that name.`);
      }
    }
    return offered;
  }

  /** Returns when the server has answered, or has had its time. */
  async #refresh(known: Known, signal: AbortSignal): Promise<void> {
    const { now } = this.deps;
    if (now() < known.againMs) return;
    known.refresh ??= { startedMs: now(), done: this.#list(known) };
    // A server that is slow delays only the lists that begin within its time.
    const { startedMs, done } = known.refresh;
    using deadline = new Deadline(startedMs + listMs - now(), signal);
    await Promise.race([done, aborted(deadline.signal)]);
  }

  /** Never throws: a server that fails has no tools, or keeps its last ones. */
  async #list(known: Known): Promise<void> {
    using deadline = new Deadline(refreshMs, this.#closing.signal);
    try {
      this.#take(known, await known.upstream.list(deadline.signal));
    } catch (error) {
      this.#fail(known, error, deadline.passed);
    } finally {
      known.refresh = null;
    }
  }

  #take(known: Known, { tools, leftOut }: ServerTools): void {
    [known.listed, known.last, known.problem] = [tools, tools, null];
    const { name } = known.upstream.server;
    known.losses = leftOut.map(
      ({ name: tool, reason }) => `The tool ${tool} of the MCP server ${name} is left out: ${reason}.`,
    );
    for (const loss of known.losses) this.#warn(loss);
  }

  #fail(known: Known, error: unknown, isLate: boolean): void {
    const { name, url } = known.upstream.server;
    if (error instanceof NeedsSession) {
      [known.listed, known.last] = [[], []];
      known.againMs = this.deps.now() + sessionRetryMs;
      const loss = `The MCP server ${name} at ${url} is skipped: it needs a session. Run it stateless.`;
      known.losses = [loss];
      return this.#warn(loss);
    }
    // A server that is down has no tools. Any other failure may pass, so the tools stay in the list.
    if (error instanceof McpUnreachable) known.listed = [];
    const problem = isLate ? `no list of tools after ${refreshMs / 1000} s` : reasonOf(error);
    const loss = `The MCP server ${name} at ${url} does not list its tools: ${problem}.`;
    known.losses = [loss];
    if (problem !== known.problem) this.deps.warn(loss);
    known.problem = problem;
  }

  #warn(message: string): void {
    if (this.#warned.has(message) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(message);
    this.deps.warn(message);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
