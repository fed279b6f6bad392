/** A sandbox: the planes of one daemon. */
import { followActivity, type ActivityEvent, type ActivityOptions } from './activity.ts';
import { Code } from './code.ts';
import { Commands } from './commands.ts';
import { Files } from './files.ts';
import { followPictures, type LiveEvent } from './live.ts';
import { Mcp } from './mcp.ts';
import { operationsOf, type OperationsOf } from './operations.ts';
import { Terminals } from './terminal/terminals.ts';
import { throwing, type Result, type Throwing } from './result.ts';
import {
  Transport,
  type Answer,
  type CallOptions,
  type Input,
  type JsonOperation,
  type RawOptions,
  type TransportOptions,
} from './transport.ts';
import { version, type Operations } from './wire.ts';

export interface SandboxOptions extends TransportOptions {
  /** The key of the daemon, if it has one. */
  readonly key?: string | null;
  /** Gets what a person should know, once: that the daemon has another version. The console otherwise. */
  readonly onWarning?: (message: string) => void;
}

/** What a plane shows, as it changes. */
interface Live<Asked extends object> {
  live(fields?: Asked, options?: CallOptions): AsyncGenerator<LiveEvent>;
}

/** Addresses whose version was reported. */
const reported = new Set<string>();

/** How long `waitUntilReady` waits, in ms. */
const readyWithinMs = 60_000;

export class Sandbox {
  readonly commands: Commands;
  readonly files: Files;
  readonly terminals: Terminals;
  readonly code: Code;
  readonly browser: OperationsOf<'browser'> & Live<{ readonly tab_id?: string }>;
  readonly desktop: OperationsOf<'desktop'> & Live<Record<string, never>>;
  readonly mcp: Mcp;
  readonly #transport: Transport;

  /** Sends nothing. Throws a BoxError for an address or a key that cannot be one. */
  constructor(address: string, { key = null, ...options }: SandboxOptions = {}) {
    this.#transport = new Transport(address, key, options);
    this.commands = new Commands(this.#transport);
    this.files = new Files(this.#transport);
    this.terminals = new Terminals(this.#transport);
    this.code = new Code(this.#transport);
    this.browser = Object.assign(operationsOf(this.#transport, 'browser'), this.#live('browser.live'));
    this.desktop = Object.assign(operationsOf(this.#transport, 'desktop'), this.#live('desktop.live'));
    this.mcp = new Mcp(this.#transport);
  }

  /** Looks whether a daemon answers there and accepts the key. Throws a BoxError. */
  static async connect(address: string, key: string | null = null, options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(address, { ...options, key });
    const { data } = await sandbox.orThrow.info({ answersAtOnce: true });
    if (typeof (data as Partial<typeof data> | null)?.version !== 'string') throw sandbox.#transport.notBoxkeep(200);
    if (data.version !== version && !reported.has(sandbox.address)) {
      reported.add(sandbox.address);
      const warn = options.onWarning ?? ((message) => console.warn(message));
      warn(`boxkeep: the daemon at ${sandbox.address} is ${data.version}, and its client here ${version}`);
    }
    return sandbox;
  }

  /** The same sandbox with methods that return the body of an answer, or throw a BoxError. */
  get orThrow(): Throwing<Sandbox> {
    return throwing(this);
  }

  get address(): string {
    return this.#transport.address;
  }

  /** Any operation of the daemon by the name that it has in its description. */
  async call<Name extends JsonOperation>(
    name: Name,
    input: Input<Name>,
    options: CallOptions = {},
  ): Promise<Result<Answer<Name>>> {
    return await this.#transport.call(name, input, options);
  }

  /** The same for an operation that answers bytes or a stream. */
  async open<Name extends keyof Operations>(
    name: Name,
    input: Input<Name>,
    options: RawOptions = {},
  ): Promise<Result<Response>> {
    return await this.#transport.open(name, input, options);
  }

  async info(options: CallOptions = {}): Promise<Result<Answer<'operations.sandbox'>>> {
    return await this.#transport.call('operations.sandbox', {}, options);
  }

  /** Packages of the Python or Node of the sandbox. */
  async packages(
    query: Input<'operations.packages'>['query'],
    options: CallOptions = {},
  ): Promise<Result<Answer<'operations.packages'>>> {
    return await this.#transport.call('operations.packages', { query }, options);
  }

  /** Commands as they start and end, and calls that change something, of every client. */
  activity(options: ActivityOptions = {}): AsyncGenerator<ActivityEvent> {
    return followActivity(this.#transport, options);
  }

  /** Waits for a daemon that is about to start. */
  async waitUntilReady(options: CallOptions = {}): Promise<Result<Answer<'operations.health'>>> {
    return await this.#transport.call('operations.health', {}, { retryMs: readyWithinMs, ...options });
  }

  #live(name: 'browser.live' | 'desktop.live'): Live<object> {
    return { live: (fields = {}, options = {}) => followPictures(this.#transport, name, fields, options) };
  }
}
