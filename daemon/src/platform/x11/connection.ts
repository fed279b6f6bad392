/** A connection to one X server: requests, extensions, events, and the end of the connection. */
import { Deadline } from '../../kit/deadline.ts';
import { X11Unreachable, X11Unsupported } from '../../protocols/x11-errors.ts';
import { readEvent, type XEvent } from './events.ts';
import { greet, type DisplaySpec, type Greeting } from './handshake.ts';
import { Packer, type Message } from './message.ts';
import { RequestQueue, type XRequest } from './requests.ts';
import type { DisplaySetup } from './setup.ts';
import type { DisplaySocket } from './socket.ts';

export type { DisplaySpec } from './handshake.ts';
export type ExtensionName = (typeof extensionNames)[number];
export type EventListener = (event: XEvent) => void;

export interface Extension {
  readonly opcode: number;
  readonly firstEvent: number;
}

export interface ExtensionRequest {
  /** The number of the request within its extension. */
  readonly minor: number;
  readonly body?: Buffer;
}

const extensionNames = [
  ...(['BIG-REQUESTS', 'XTEST', 'RANDR', 'MIT-SHM', 'XFIXES', 'XKEYBOARD'] as const),
  ...(['DAMAGE', 'XInputExtension'] as const),
];

/** A server that answers nothing for this time has stopped, or another program has grabbed it. */
const silenceMs = 5_000;

export class X11Connection {
  readonly setup: DisplaySetup;
  readonly #socket: DisplaySocket;
  readonly #queue: RequestQueue;
  readonly #extensions = new Map<ExtensionName, Extension>();
  readonly #listeners = new Set<EventListener>();
  readonly #closed = Promise.withResolvers<string>();
  #resources = 0;
  #isOpen = true;

  private constructor({ socket, setup, relay }: Greeting) {
    this.setup = setup;
    this.#socket = socket;
    this.#queue = new RequestQueue(socket, {
      maxRequestLength: setup.maxRequestLength,
      silenceMs,
      onSilence: () => this.#end(`the X server has answered nothing for ${silenceMs / 1000} s`),
      onEvent: (message) => this.#tell(message),
    });
    relay.observer = {
      onMessage: (message) => this.#queue.receive(message),
      onClose: (reason) => this.#end(reason),
    };
  }

  /** Throws `X11Unreachable`. */
  static async open(spec: DisplaySpec): Promise<X11Connection> {
    using deadline = new Deadline(spec.withinMs);
    const connection = new X11Connection(await greet(spec, deadline.signal));
    try {
      await connection.#findExtensions(deadline.signal);
      return connection;
    } catch (error) {
      connection.close();
      throw new X11Unreachable(deadline.passed ? 'the X server did not answer in time' : String(error));
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves with the reason when the connection has ended, also by `close`. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  close(): void {
    this.#end('the connection was closed');
  }

  /** Rejects with `X11Refusal`, with `X11Closed`, or with the reason of the signal. */
  reply(request: XRequest, signal?: AbortSignal): Promise<Message> {
    return this.#queue.reply(request, signal);
  }

  /** Resolves when the server has executed a request that has no reply; rejects as `reply` does. */
  done(request: XRequest, signal?: AbortSignal): Promise<void> {
    return this.#queue.done(request, signal);
  }

  /** Sends a request that has no reply, and whose failure does not matter. */
  send(request: XRequest): void {
    this.#queue.send(request);
  }

  /** Resolves when the server has executed everything that was sent before. */
  async sync(signal?: AbortSignal): Promise<void> {
    await this.reply({ opcode: 43 }, signal);
  }

  /** The longest body of a request, in bytes. */
  get maxBodyBytes(): number {
    return this.#queue.maxBodyBytes;
  }

  has(name: ExtensionName): boolean {
    return this.#extensions.has(name);
  }

  /** A request of an extension, to be sent like any other. Throws `X11Unsupported`. */
  extend(name: ExtensionName, { minor, body = Buffer.alloc(0) }: ExtensionRequest): XRequest {
    const extension = this.#extensions.get(name);
    if (!extension) throw new X11Unsupported(`the X server lacks the ${name} extension`);
    return { opcode: extension.opcode, detail: minor, body };
  }

  /** Calls the listener with each event until the result is disposed of. */
  listen(listener: EventListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** A resource id that this connection has not used. */
  newId(): number {
    const { resourceBase, resourceMask } = this.setup;
    // The lowest bit of the mask is the step between two ids.
    const step = resourceMask & -resourceMask;
    this.#resources = (this.#resources + step) & resourceMask;
    return (resourceBase | this.#resources) >>> 0;
  }

  async #findExtensions(signal: AbortSignal): Promise<void> {
    await Promise.all(extensionNames.map(async (name) => await this.#findExtension(name, signal)));
    if (this.has('BIG-REQUESTS')) {
      const enabled = await this.reply(this.extend('BIG-REQUESTS', { minor: 0 }), signal);
      this.#queue.allowLongRequests(enabled.u32(8));
    }
    // These extensions refuse a client that has not named the version that it speaks.
    const versions = [
      { name: 'RANDR', body: new Packer().u32(1, 5).packed },
      { name: 'XFIXES', body: new Packer().u32(5, 0).packed },
      { name: 'DAMAGE', body: new Packer().u32(1, 1).packed },
    ] as const;
    const spoken = versions.filter(({ name }) => this.has(name));
    await Promise.all(spoken.map(({ name, body }) => this.reply(this.extend(name, { minor: 0, body }), signal)));
  }

  async #findExtension(name: ExtensionName, signal: AbortSignal): Promise<void> {
    const body = new Packer().u16(name.length).skip(2).bytes(Buffer.from(name, 'latin1')).packed;
    const reply = await this.reply({ opcode: 98, body }, signal);
    if (reply.u8(8) === 1) this.#extensions.set(name, { opcode: reply.u8(9), firstEvent: reply.u8(10) });
  }

  #tell(message: Message): void {
    const firstEventOf = (name: ExtensionName) => this.#extensions.get(name)?.firstEvent ?? null;
    const event = readEvent(message, {
      randr: firstEventOf('RANDR'),
      xfixes: firstEventOf('XFIXES'),
      damage: firstEventOf('DAMAGE'),
      xinputOpcode: this.#extensions.get('XInputExtension')?.opcode ?? null,
    });
    for (const listener of [...this.#listeners]) listener(event);
  }

  #end(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.close();
    this.#queue.end(reason);
    this.#listeners.clear();
    this.#closed.resolve(reason);
  }
}
