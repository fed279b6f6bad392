/**
 * Admits what requests occupy within the available memory: a body from its first byte until its request is handled,
 * content while it is read for an answer, work that collects much, and a large answer until the client has received it.
 */
import { Deadline } from './deadline.ts';
import { CoreError } from './errors.ts';
import { Mutex } from './mutex.ts';

const mebibyte = 1024 * 1024;

/** 32 MiB, on machines with enough memory for such a body (contract, house rules). */
const maxBodyBytes = 32 * mebibyte;
/** Number of bodies of the largest size that may be handled at the same time. */
const largeBodies = 4;

/**
 * Bytes of memory that one byte of a body occupies at most, until its request is handled. The received byte takes one.
 * A JavaScript string takes two per character once one character is not Latin-1. A handler's own copy of the string
 * takes one, but the received bytes are freed before that copy is made.
 */
const bytesPerBodyByte = 3;

/** Requests use at most this part of the memory of the machine or the control group. */
const partOfMemory = 1 / 2;
/** Extra room for small bodies while large bodies fill the room, as a part of the room. */
const partForSmall = 1 / 4;
/** A body up to this size is not refused for lack of free memory: every other request takes about as much. */
const smallBodyBytes = mebibyte;
/** Part of the free memory that bodies leave for the system's files and the daemon's other work. */
const partUntouched = 1 / 10;

/** Reservation step for a body without an announced length. */
const stepBytes = 4 * mebibyte;
/** After a larger body, garbage is collected before its room is free again. */
const collectedBytes = 4 * mebibyte;

/** How long work that holds much waits for room. */
const longestWaitMs = 10_000;

export interface RoomMemory {
  /** The memory of the machine, or of the control group where that is smaller. */
  readonly limitBytes: number;
  /** Returns how much can be allocated now. */
  freeBytes(): number;
  /** Runs the garbage collector. */
  collect(): void;
}

export class MemoryBudget {
  /** Limit for one body. */
  readonly maxBytes: number;
  /** The daemon's share of the memory, for one piece of work that is alone. */
  readonly shareBytes: number;
  readonly #roomBytes: number;
  #reservedBytes = 0;
  #arrivedBytes = 0;
  #ended: Reservation[] = [];
  #last: Promise<unknown> = Promise.resolve();
  readonly #turns = new Mutex();
  /** Resolved when room is freed, while work waits for it. */
  #freed: PromiseWithResolvers<void> | null = null;

  constructor(private readonly memory: RoomMemory) {
    this.shareBytes = memory.limitBytes * partOfMemory;
    this.#roomBytes = Math.min(this.shareBytes, largeBodies * maxBodyBytes * bytesPerBodyByte);
    this.maxBytes = Math.min(maxBodyBytes, Math.floor(this.#roomBytes / bytesPerBodyByte));
  }

  /** Opens a reservation for one body, which is disposed of when its request is handled. */
  open(): Reservation {
    return new Reservation(this);
  }

  /** Reserves for content of a request until the result is disposed of. Throws `capacity_reached`. */
  admit(bytes: number): Disposable {
    const reservation = this.open();
    reservation.announced(bytes);
    return reservation;
  }

  /**
   * Reserves for work that holds `bytes` of memory, once there is room for it, in the order of the calls. Work that
   * needs more than there is gets the whole room. Throws `capacity_reached` after ten seconds.
   */
  async admitInTurn(bytes: number, signal: AbortSignal): Promise<Disposable> {
    using wait = new Deadline(longestWaitMs, signal);
    if (!(await this.#turns.acquire(wait.signal))) throw busy('other work occupies the memory');
    try {
      const reservedBytes = Math.min(bytes, this.#roomBytes);
      // The request's own small body has a place beside it.
      const maxBytes = this.#roomBytes * (1 + partForSmall);
      wait.signal.addEventListener('abort', () => this.#freed?.resolve(), { once: true });
      while (this.#reservedBytes + reservedBytes > maxBytes) {
        if (wait.passed) throw busy('other work occupies the memory');
        this.#freed = Promise.withResolvers();
        await this.#freed.promise;
      }
      this.add(reservedBytes);
      return { [Symbol.dispose]: () => this.#leave(reservedBytes) };
    } finally {
      this.#turns.release();
    }
  }

  /** Counts an answer that exists already, until the result is disposed of. */
  hold(bytes: number): Disposable {
    const reservation = this.open();
    reservation.exists(bytes);
    return reservation;
  }

  /** Throws `capacity_reached` while answers that clients have yet to receive fill the room. */
  assertRoom(): void {
    if (this.#reservedBytes > this.#roomBytes * (1 + partForSmall)) throw busy('other requests occupy the memory');
  }

  /** Queues work on a large body behind the work on earlier ones. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    // The queue must hold neither the body, which is large, nor the failure, which belongs to its own request.
    this.#last = result.then(
      () => null,
      () => null,
    );
    return await result;
  }

  /** Throws `capacity_reached`. */
  reserve(bytes: number, isSmall: boolean): void {
    const maxBytes = this.#roomBytes * (isSmall ? 1 + partForSmall : 1);
    if (this.#reservedBytes + bytes > maxBytes) throw busy('other requests occupy the memory for their content');
    if (!isSmall && bytes > this.#allocatable()) throw busy('this machine has no free memory for the content');
    this.#reservedBytes += bytes;
  }

  /** Counts bytes that occupy their memory already. */
  arrived(bytes: number): void {
    this.#arrivedBytes += bytes;
  }

  /** Counts bytes as reserved, whether or not there is room for them. */
  add(bytes: number): void {
    this.#reservedBytes += bytes;
  }

  release(reservation: Reservation): void {
    if (reservation.arrivedBytes < collectedBytes) return this.#giveBack(reservation);
    this.#ended.push(reservation);
    // The handler's last stack frame still refers to the body in this turn of the event loop.
    if (this.#ended.length === 1) setImmediate(() => this.#collect());
  }

  #collect(): void {
    this.memory.collect();
    for (const reservation of this.#ended) this.#giveBack(reservation);
    this.#ended = [];
  }

  /** Only for work that waits, what the last work left is collected. */
  #leave(reservedBytes: number): void {
    const leave = () => this.#giveBack({ reservedBytes, arrivedBytes: 0 });
    if (!this.#turns.isLocked) return leave();
    setImmediate(() => {
      this.memory.collect();
      leave();
    });
  }

  #giveBack({ reservedBytes, arrivedBytes }: Pick<Reservation, 'reservedBytes' | 'arrivedBytes'>): void {
    this.#reservedBytes -= reservedBytes;
    this.#arrivedBytes -= arrivedBytes;
    this.#freed?.resolve();
  }

  /** Free memory minus what other bodies have reserved but do not occupy yet. */
  #allocatable(): number {
    return this.memory.freeBytes() * (1 - partUntouched) - (this.#reservedBytes - this.#arrivedBytes);
  }
}

export class Reservation implements Disposable {
  reservedBytes = 0;
  arrivedBytes = 0;

  constructor(private readonly room: MemoryBudget) {}

  /** Reserves for the whole body, so that a body is never refused halfway. Throws `capacity_reached`. */
  announced(bytes: number): void {
    this.#reserve(bytes, bytes <= smallBodyBytes);
  }

  /** Counts a received piece. Throws `capacity_reached` when the length was not announced and no room is left. */
  piece(bytes: number): void {
    while ((this.arrivedBytes + bytes) * bytesPerBodyByte > this.reservedBytes) this.#reserve(stepBytes, false);
    this.room.arrived(bytes);
    this.arrivedBytes += bytes;
  }

  /** Counts an answer, which exists already. */
  exists(bytes: number): void {
    this.room.add(bytes);
    this.room.arrived(bytes);
    this.reservedBytes += bytes;
    this.arrivedBytes += bytes;
  }

  [Symbol.dispose](): void {
    this.room.release(this);
  }

  #reserve(bytes: number, isSmall: boolean): void {
    this.room.reserve(bytes * bytesPerBodyByte, isSmall);
    this.reservedBytes += bytes * bytesPerBodyByte;
  }
}

function busy(reason: string): CoreError {
  return new CoreError('capacity_reached', reason, {
    hint: 'Send the request again after Retry-After. Large content is uploaded and downloaded in any size.',
  });
}
