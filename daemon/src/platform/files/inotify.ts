/** inotify(7) with move cookies, which the runtime does not expose: one instance, events in kernel order. */
import { dlopen, ptr, read, type Pointer } from 'bun:ffi';
import { closeSync } from 'node:fs';
import { decodePath } from '../../kit/text/path-text.ts';
import { systemError } from '../host/system-error.ts';

/** IN_ATTRIB */
const attrib = 0x4;
const maskAdd = 0x2000_0000;
const exclUnlink = 0x0400_0000;
const closeOnExec = 0o2000000;
const nonBlocking = 0o4000;
const headerBytes = 16;

export interface InotifyEvent {
  /** The watch descriptor; -1 when the kernel's queue overflowed. */
  readonly watch: number;
  readonly mask: number;
  /** Equal for both ends of a move; 0 otherwise. */
  readonly cookie: number;
  /** The name in the watched directory; empty when the event concerns the watched file itself. */
  readonly name: string;
}

/** Opens one instance. `onEvents` receives batches, `onFault` an error that ends the reading before `dispose`. */
export type OpenEventQueue = (
  onEvents: (events: readonly InotifyEvent[]) => void,
  onFault: (error: unknown) => void,
) => Inotify;

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

/** Errors carry the `code` of their errno, like the errors of `node:fs`. */
export class Inotify implements Disposable {
  readonly #libc: Libc;
  readonly #descriptor: number;
  /** An unused pipe. Adding and removing a watch on it marks a position in the event queue. */
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

  /** Adds the bits to the watch of a file that is watched already. Throws ENOSPC at the system's limit. */
  watch(path: string, mask: number): number {
    const text = Buffer.from(`${path}\0`);
    const watch = this.#libc.inotify_add_watch(this.#descriptor, ptr(text), mask | maskAdd | exclUnlink);
    return this.#checked('inotify_add_watch', watch);
  }

  /** Does nothing when the kernel has already removed the watch. */
  unwatch(watch: number): void {
    this.#libc.inotify_rm_watch(this.#descriptor, watch);
  }

  /** Marks the end of all events so far. The mark is an `ignored` event of the returned watch. */
  fence(): number {
    const watch = this.watch(`/proc/self/fd/${this.#fenceDescriptor}`, attrib);
    this.unwatch(watch);
    return watch;
  }

  [Symbol.dispose](): void {
    // The reader holds the descriptor until the pending read has ended.
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

/** Splits a buffer into events; a read never ends inside an event. */
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
