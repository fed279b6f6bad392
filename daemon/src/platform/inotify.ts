/** inotify(7), which the runtime offers only without its cookies: one instance, its events in the order of the kernel. */
import { dlopen, ptr, read, type Pointer } from 'bun:ffi';
import { closeSync } from 'node:fs';
import { decodePath } from '../kit/path-text.ts';
import { systemError } from './system-error.ts';

/** IN_ATTRIB */
const attrib = 0x4;
const maskAdd = 0x2000_0000;
const exclUnlink = 0x0400_0000;
const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;
const headerBytes = 16;

export interface InotifyEvent {
  /** The watch; -1 for an overflow of the kernel's queue. */
  readonly watch: number;
  readonly mask: number;
  /** The same for both ends of a move; 0 otherwise. */
  readonly cookie: number;
  /** The name in the watched directory; empty when the event is about what is watched itself. */
  readonly name: string;
}

/** What core is given: see `Inotify`. */
export interface EventQueue extends Disposable {
  watch(path: string, mask: number): number;
  unwatch(watch: number): void;
  fence(): number;
}

/** Opens one instance; `onEvents` gets them in batches, `onFault` what ends the reading before `dispose`. */
export type OpenEventQueue = (
  onEvents: (events: readonly InotifyEvent[]) => void,
  onFault: (error: unknown) => void,
) => EventQueue;

type Libc = ReturnType<typeof openLibc>;

/** Throws where the machine has no such library. */
function openLibc() {
  return dlopen('libc.so.6', {
    inotify_init1: { args: ['i32'], returns: 'i32' },
    inotify_add_watch: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    inotify_rm_watch: { args: ['i32', 'i32'], returns: 'i32' },
    pipe2: { args: ['ptr', 'i32'], returns: 'i32' },
    __errno_location: { args: [], returns: 'ptr' },
  }).symbols;
}

/** What it throws has the `code` of its errno, as the errors of `node:fs` have. */
export class Inotify implements EventQueue {
  readonly #libc: Libc;
  readonly #descriptor: number;
  /** A pipe that nobody uses: a watch of it comes and goes to mark a place in the queue. */
  readonly #fenceDescriptor: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  static readonly open: OpenEventQueue = (onEvents, onFault) => new Inotify(onEvents, onFault);

  constructor(onEvents: (events: readonly InotifyEvent[]) => void, onFault: (error: unknown) => void) {
    this.#libc = openLibc();
    this.#descriptor = this.#checked('inotify_init1', this.#libc.inotify_init1(closeOnExec | nonBlocking));
    this.#fenceDescriptor = this.#openFence();
    this.#reader = Bun.file(this.#descriptor).stream().getReader() as ReadableStreamDefaultReader<Uint8Array>;
    void this.#readAll(onEvents).catch(onFault);
  }

  /** Bits add up where the same file is watched already, and the number is the same. Throws ENOSPC at the limit of the system. */
  watch(path: string, mask: number): number {
    const text = Buffer.from(`${path}\0`);
    const watch = this.#libc.inotify_add_watch(this.#descriptor, ptr(text), mask | maskAdd | exclUnlink);
    return this.#checked('inotify_add_watch', watch);
  }

  /** The kernel may have ended it before: then this does nothing. */
  unwatch(watch: number): void {
    this.#libc.inotify_rm_watch(this.#descriptor, watch);
  }

  /** Puts a mark behind all that has happened so far: an `ignored` event of the watch that it answers. */
  fence(): number {
    const watch = this.watch(`/proc/self/fd/${this.#fenceDescriptor}`, attrib);
    this.unwatch(watch);
    return watch;
  }

  [Symbol.dispose](): void {
    // The reader holds on to the descriptor until the read that is under way is over.
    void this.#reader.cancel().finally(() => {
      closeSync(this.#descriptor);
      closeSync(this.#fenceDescriptor);
    });
  }

  async #readAll(onEvents: (events: readonly InotifyEvent[]) => void): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      onEvents(parseEvents(value));
    }
  }

  #openFence(): number {
    const ends = new Int32Array(2);
    this.#checked('pipe2', this.#libc.pipe2(ptr(ends), closeOnExec));
    closeSync(ends[1] ?? -1);
    return ends[0] ?? -1;
  }

  #checked(call: string, result: number): number {
    if (result >= 0) return result;
    throw systemError(call, read.i32(this.#libc.__errno_location() as Pointer, 0));
  }
}

/** A read never cuts an event in two. */
export function parseEvents(bytes: Uint8Array): InotifyEvent[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events: InotifyEvent[] = [];
  for (let at = 0; at + headerBytes <= bytes.length;) {
    const length = view.getUint32(at + 12, true);
    const padded = bytes.subarray(at + headerBytes, at + headerBytes + length);
    const end = padded.indexOf(0);
    events.push({
      watch: view.getInt32(at, true),
      mask: view.getUint32(at + 4, true),
      cookie: view.getUint32(at + 8, true),
      name: length === 0 ? '' : decodePath(end < 0 ? padded : padded.subarray(0, end)),
    });
    at += headerBytes + length;
  }
  return events;
}
