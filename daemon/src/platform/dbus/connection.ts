/** Connection to a D-Bus bus over a Unix socket, with any number of calls in flight. */
import type { Socket } from 'bun';
import { DbusClosed, DbusRefusal, DbusUnreachable } from '../../protocols/dbus-errors.ts';
import { socketOf } from './address.ts';
import { CallEncoder, MessageReader, messageType, type Message } from './message.ts';
import type { DbusValue } from './marshal.ts';
import { untilAborted } from '../../kit/shared-work.ts';
import { parseSignature, type DbusType } from './signature.ts';

/** A method with the signatures of its arguments and of its answer. The type parameter describes the answer. */
export interface DbusMethod<Answer extends readonly DbusValue[]> {
  readonly interface: string;
  readonly member: string;
  readonly takes: string;
  readonly returns: string;
  /** Never set; the type of an answer that has the signature. */
  readonly answer?: Answer;
}

/** An object on the bus: the name of its connection, and its path. */
export interface DbusObject {
  readonly bus: string;
  readonly path: string;
}

export type ConnectDbus = (address: string, signal: AbortSignal) => Promise<DbusConnection>;

interface Pending {
  readonly method: DbusMethod<readonly DbusValue[]>;
  readonly resolve: (answer: readonly DbusValue[]) => void;
  readonly reject: (error: Error) => void;
}

const busObject = { bus: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus' };
const hello: DbusMethod<[string]> = { interface: busObject.bus, member: 'Hello', takes: '', returns: 's' };
/** The answers to AUTH have a few dozen characters. */
const maxLineBytes = 4096;

/** Connects, authenticates as the account of this process, and says hello. Throws `DbusUnreachable`. */
export const connectDbus: ConnectDbus = async (address, signal) => {
  const connection = new DbusConnection();
  try {
    await connection.open(socketOf(address), signal);
    await connection.call(busObject, hello, [], signal);
    return connection;
  } catch (error) {
    connection.close();
    if (error instanceof DbusUnreachable) throw error;
    const reason = signal.aborted ? 'it did not answer in time' : reasonOf(error);
    throw new DbusUnreachable(`the bus at ${address} cannot be used: ${reason}`);
  }
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as Error & { code?: string };
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return `nothing listens there (${code})`;
  if (code === 'EACCES' || code === 'EPERM') return `account ${process.getuid?.()} may not open the socket (${code})`;
  return message;
}

export class DbusConnection implements Disposable {
  /** The identifier of the bus, which every start of a bus chooses anew. */
  guid = '';
  #socket: Socket<undefined> | null = null;
  #unsent: Buffer[] = [];
  #isFlushing = false;
  #authentication: { readonly resolve: (guid: string) => void; readonly reject: (error: Error) => void } | null = null;
  #line = '';
  readonly #encoder = new CallEncoder();
  readonly #reader = new MessageReader();
  readonly #pending = new Map<number, Pending>();
  /** The parsed signatures of arguments and answers; as many as the program has methods. */
  readonly #types = new Map<string, readonly DbusType[]>();
  #lastSerial = 0;

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  async open(path: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#authentication = { resolve, reject };
    const opening = this.#connect(path);
    opening.then(() => this.#write(Buffer.from(`\0AUTH EXTERNAL ${userIdInHex()}\r\n`)), reject);
    this.guid = await untilAborted(promise, signal);
    this.#authentication = null;
    this.#write(Buffer.from('BEGIN\r\n'));
  }

  /**
   * Rejects with `DbusRefusal` for an error and for an answer with another signature, with `DbusClosed`, or with an
   * `AbortError` when the signal fires first.
   */
  async call<Answer extends readonly DbusValue[]>(
    { bus: destination, path }: DbusObject,
    method: DbusMethod<Answer>,
    args: readonly DbusValue[],
    signal: AbortSignal,
  ): Promise<Answer> {
    if (!this.isOpen) throw new DbusClosed(`the bus has closed before ${method.member}`);
    signal.throwIfAborted();
    const serial = (this.#lastSerial = (this.#lastSerial % 0xffff_fffe) + 1);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    // The connection has compared the signatures, so the answer has this type.
    this.#pending.set(serial, { method, resolve: (answer) => resolve(answer as Answer), reject });
    try {
      const { interface: name, member, takes } = method;
      const call = { destination, path, interface: name, member, takes, args };
      this.#write(this.#encoder.encode(serial, call, this.#typesOf(takes)));
      return await untilAborted(promise, signal);
    } finally {
      this.#pending.delete(serial);
    }
  }

  close(): void {
    this.#socket?.terminate();
    this.#end('the connection was closed');
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #connect(path: string): Promise<void> {
    this.#socket = await Bun.connect({
      unix: path,
      socket: {
        data: (_socket, bytes) => this.#receive(bytes),
        drain: () => this.#flush(),
        close: () => this.#end('the bus closed the connection'),
        error: (_socket, error) => this.#end(error.message),
      },
    });
  }

  #receive(bytes: Buffer): void {
    if (this.#authentication) return this.#authenticate(bytes.toString('latin1'));
    try {
      // Bun may reuse the buffer after the callback, and the reader keeps the rest of a message.
      for (const message of this.#reader.push(Buffer.from(bytes))) this.#answer(message);
    } catch (error) {
      this.#socket?.terminate();
      this.#end(`the bus sent what is not a message: ${(error as Error).message}`);
    }
  }

  #authenticate(text: string): void {
    this.#line += text;
    if (!this.#line.includes('\r\n') && this.#line.length < maxLineBytes) return;
    const guid = /^OK ([\da-f]+)\r\n/.exec(this.#line)?.[1];
    if (guid !== undefined) return this.#authentication?.resolve(guid);
    const answer = this.#line.trim().slice(0, 80);
    const reason = `the bus refuses account ${process.getuid?.()}: ${JSON.stringify(answer)}`;
    this.#authentication?.reject(new DbusUnreachable(reason));
  }

  #answer(message: Message): void {
    const pending = this.#pending.get(message.replySerial);
    if (!pending) return; // A signal, or the answer to a call that its caller has given up.
    this.#pending.delete(message.replySerial);
    if (message.type === messageType.error) pending.reject(refusalOf(message));
    else if (message.signature !== pending.method.returns) pending.reject(otherSignature(message, pending.method));
    else pending.resolve(message.body(this.#typesOf(pending.method.returns)));
  }

  #typesOf(signature: string): readonly DbusType[] {
    return this.#types.getOrInsertComputed(signature, parseSignature);
  }

  #end(reason: string): void {
    this.#socket = null;
    this.#unsent = [];
    this.#authentication?.reject(new DbusClosed(reason));
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { method, reject } of pending) reject(new DbusClosed(`${reason} before the answer to ${method.member}`));
  }

  /** Calls of one turn of the event loop share one write, which takes most of the time of a call. */
  #write(bytes: Buffer): void {
    this.#unsent.push(bytes);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#socket || this.#unsent.length === 0) return;
    const bytes = this.#unsent.length === 1 ? this.#unsent[0]! : Buffer.concat(this.#unsent);
    const written = Math.max(0, this.#socket.write(bytes));
    this.#unsent = written < bytes.length ? [bytes.subarray(written)] : []; // The `drain` callback sends the rest.
  }
}

/** The EXTERNAL mechanism takes the digits of the user id as hexadecimal ASCII. */
function userIdInHex(): string {
  return Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
}

function refusalOf(message: Message): DbusRefusal {
  const [text] = message.signature.startsWith('s') ? message.body(parseSignature('s')) : [];
  return new DbusRefusal(message.errorName, typeof text === 'string' ? text : '');
}

function otherSignature({ signature }: Message, { member, returns }: DbusMethod<readonly DbusValue[]>): DbusRefusal {
  const name = 'org.freedesktop.DBus.Error.InvalidSignature';
  return new DbusRefusal(name, `${member} was answered with ${signature || 'nothing'} instead of ${returns}`);
}
