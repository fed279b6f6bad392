/**
 * Types into a fuzzed session: every byte once and in order, across broken connections and daemon deaths.
 *
 * The typist relies on the number of bytes that the session reports as taken.
 */
import { existsSync, readFileSync } from 'node:fs';
import { ByteRecord, Mismatch } from './terminal-fuzz-bytes.ts';
import type { FuzzedDaemon } from './terminal-fuzz-daemon.ts';
import { frameOf, opcodes } from './terminal-fuzz-socket.ts';
import type { Viewer } from './terminal-fuzz-viewer.ts';
import { until } from './until.ts';

export type Carrier = 'binary' | 'json' | 'text' | 'http';

interface TypedSession {
  readonly path: string;
  readonly backend: 'native' | 'tmux';
  /** The file to which the program writes its input. */
  readonly typed: string;
  /** How many input bytes the session had taken before. */
  readonly taken: number;
}

const arrivedWithinMs = 20_000;

export class Typist {
  /** All bytes that should be typed. */
  readonly typed = new ByteRecord();
  viewer: Viewer | null = null;
  #sent = 0;
  #confirmed = 0;
  #deaths = 0;
  /**
   * This session does not count its input, so nothing may be in flight when the daemon dies or the connection breaks.
   */
  #isCareful: boolean;

  constructor(
    private readonly daemon: FuzzedDaemon,
    private readonly session: TypedSession,
    private readonly attach: () => Promise<Viewer>,
  ) {
    this.#isCareful = session.backend === 'tmux';
    this.#deaths = daemon.deaths;
  }

  /** Resolves when the bytes have been sent. For a careful session, resolves when they have arrived. */
  async type(bytes: Uint8Array, carrier: Carrier): Promise<void> {
    this.typed.append(bytes);
    if (this.#isCareful) {
      await this.daemon.quiet(async () => {
        await this.#send(carrier);
        if (!(await this.#isSettled())) throw new Mismatch('a connection broke by itself');
        await this.arrived();
      });
      return;
    }
    await this.daemon.through(() => this.#send(carrier));
  }

  /** Breaks the connection with half a frame in flight. */
  async breakOff(bytes: Uint8Array): Promise<void> {
    if (!this.viewer?.isOpen) return;
    if (this.#isCareful && !(await this.#isSettled())) return;
    if (!this.#isCareful) {
      this.typed.append(bytes);
      this.viewer.sendBytes(frameOf(opcodes.binary, bytes));
      this.#sent = this.typed.length;
    }
    const half = frameOf(opcodes.binary, Buffer.alloc(1000, 'never to be typed'));
    this.viewer.sendBytes(half.subarray(0, bytes.length % half.length));
    await this.viewer.drop();
  }

  /** Resolves when the daemon has received all bytes. */
  async finish(): Promise<void> {
    while (this.#confirmed < this.typed.length) {
      await this.daemon.through(async () => {
        await this.#send('binary');
        await this.#isSettled();
      });
    }
  }

  /** Resolves when the program has read exactly all bytes. */
  async arrived(): Promise<void> {
    const { length } = this.typed;
    await until('all that was typed is read', () => this.#read().length >= length, arrivedWithinMs).catch(() => {
      throw new Mismatch(`${this.#read().length} of ${length} bytes are read`);
    });
    if (!this.#read().equals(this.typed.slice(0))) throw this.#difference('something else was read');
  }

  #read(): Buffer {
    return existsSync(this.session.typed) ? readFileSync(this.session.typed) : Buffer.alloc(0);
  }

  #difference(what: string): Mismatch {
    const read = this.#read();
    const at = read.findIndex((byte, n) => byte !== this.typed.slice(n, n + 1)[0]);
    const part = (bytes: Buffer) => JSON.stringify(bytes.subarray(Math.max(0, at - 20), at + 40).toString('latin1'));
    const both = at < 0 ? '' : `: ${part(read)} in place of ${part(this.typed.slice(0))}`;
    return new Mismatch(`${what}: ${read.length} of ${this.typed.length} bytes were read, others at ${at}${both}`);
  }

  async #send(carrier: Carrier): Promise<void> {
    const viewer = await this.#attached();
    const bytes = this.typed.slice(this.#sent);
    if (bytes.length === 0) return;
    const isText = bytes.equals(Buffer.from(bytes.toString()));
    if (carrier === 'http' && isText) return await this.#post(bytes.toString());
    this.#sent = this.typed.length;
    if (carrier === 'json' && isText) viewer.send({ type: 'input', data: bytes.toString() });
    else if (carrier === 'text' && isText && !/^\s*\{/.test(bytes.toString())) {
      viewer.sendBytes(frameOf(opcodes.text, bytes));
    } else viewer.sendBytes(frameOf(opcodes.binary, bytes));
  }

  /** Sends input over HTTP, after the input of the socket has been taken. */
  async #post(input: string): Promise<void> {
    if (!(await this.#isSettled())) return;
    this.#sent = this.typed.length;
    const answer = await this.daemon.sandbox.ok(`POST ${this.session.path}/input`, { input });
    const { accepted_bytes: accepted } = answer;
    if (accepted !== Buffer.byteLength(input)) throw new Mismatch(`${accepted} bytes of ${input.length} were accepted`);
    this.#confirmed = this.#sent;
  }

  async #isSettled(): Promise<boolean> {
    const { viewer } = this;
    const sent = this.#sent;
    if (!(await viewer?.settled())) return false;
    this.#confirmed = Math.max(this.#confirmed, sent);
    return true;
  }

  /** After a reconnect, typing resumes at the number of bytes that the session has taken. */
  async #attached(): Promise<Viewer> {
    if (this.viewer?.isOpen) return this.viewer;
    const { deaths } = this.daemon;
    this.viewer = await this.attach();
    const taken = this.viewer.ready?.['input_offset'] as number | null;
    if (taken === null) {
      if (!this.#isCareful) throw new Mismatch('the session no longer counts what is typed');
      return this.viewer;
    }
    const arrived = taken - this.session.taken;
    const least = deaths === this.#deaths ? this.#confirmed : 0;
    this.#deaths = deaths;
    if (arrived > this.#sent || arrived < least) {
      throw this.#difference(`${arrived} bytes were taken, ${least} are known to be, and ${this.#sent} were sent`);
    }
    this.#sent = arrived;
    this.#confirmed = Math.min(this.#confirmed, arrived);
    return this.viewer;
  }
}
