/** Holds changes for the debounce, and makes one of those that a client would not tell apart. */
import type { Change } from './change.ts';

/** What would not fit into a ring anyway is not held. */
export const mostPending = 10_000;

/** Places of changes that came to nothing, before they are cleared away. */
const mostDropped = 1000;

interface Slot {
  change: Change;
  readonly dueMs: number;
  isLive: boolean;
}

/**
 * Each path waits for `debounceMs` from its first change, and all wait equally long, so that the order of the first
 * changes is the order in which they are told. Within that time: writes become one; a create stays a create when it is
 * written to; a create and a remove are nothing; chmod is told beside a write. A rename is told as it is, and what
 * happened to its two paths before is not merged with what comes after.
 */
export class Pending {
  #slots: Slot[] = [];
  #live = 0;
  /** By path, what a later change may still be merged with. */
  readonly #contents = new Map<string, Slot>();
  readonly #modes = new Map<string, Slot>();

  constructor(private readonly debounceMs: number) {}

  get size(): number {
    return this.#live;
  }

  /** When the first is due; null with none. Times are those of the changes. */
  get dueMs(): number | null {
    return this.#slots.find(({ isLive }) => isLive)?.dueMs ?? null;
  }

  add(change: Change): void {
    const { type, path, oldPath, isDirectory } = change;
    if (type === 'rename') {
      this.#push(change);
      for (const side of [path, oldPath ?? path]) this.#seal(side, isDirectory);
    } else if (type === 'remove') this.#remove(change);
    else if (type === 'chmod') this.#mode(change);
    else this.#content(change);
  }

  /** Those that are due, in order; all of them when `nowMs` is null. */
  take(nowMs: number | null): Change[] {
    const end = nowMs === null ? this.#slots.length : this.#slots.findIndex(({ dueMs }) => dueMs > nowMs);
    const taken = this.#slots.slice(0, end < 0 ? this.#slots.length : end).filter(({ isLive }) => isLive);
    this.#slots = this.#slots.slice(end < 0 ? this.#slots.length : end);
    for (const slot of taken) this.#forget(slot);
    return taken.map(({ change }) => change);
  }

  clear(): void {
    this.take(null);
  }

  #content(change: Change): void {
    const before = this.#contents.get(change.path);
    if (!before || before.change.type === 'remove') {
      this.#contents.set(change.path, this.#push(change));
      // Who is told of something new looks at its mode anyway.
      if (change.type === 'create') this.#modes.delete(change.path);
      return;
    }
    if (change.type === 'create' && change.mayReplace && before.change.type === 'write') {
      before.change = { ...change, atMs: before.change.atMs };
    }
  }

  #mode(change: Change): void {
    if (this.#contents.get(change.path)?.change.type === 'create') return;
    if (!this.#modes.has(change.path)) this.#modes.set(change.path, this.#push(change));
  }

  #remove(change: Change): void {
    const { path, isDirectory } = change;
    if (isDirectory) {
      // Never undone: what is pending below it stays in its place, and so has to have this behind it.
      this.#seal(path, change.isWhole === true);
      this.#push(change);
      return;
    }
    const before = this.#contents.get(path);
    const mode = this.#modes.get(path);
    if (mode) this.#drop(mode);
    if (before?.change.type === 'remove') return;
    if (before) this.#drop(before);
    if (before?.change.type === 'create' && !before.change.mayReplace) return;
    this.#contents.set(path, this.#push(change));
  }

  #push(change: Change): Slot {
    const slot = { change, dueMs: change.atMs + this.debounceMs, isLive: true };
    this.#slots.push(slot);
    this.#live += 1;
    return slot;
  }

  #drop(slot: Slot): void {
    slot.isLive = false;
    this.#forget(slot);
  }

  #forget(slot: Slot): void {
    const { path } = slot.change;
    this.#live -= 1;
    if (this.#slots.length > 2 * this.#live + mostDropped) this.#slots = this.#slots.filter(({ isLive }) => isLive);
    for (const map of [this.#contents, this.#modes]) if (map.get(path) === slot) map.delete(path);
  }

  /** What comes later to this path, or below it, is not merged with what was there. */
  #seal(path: string, withAllBelow: boolean): void {
    for (const map of [this.#contents, this.#modes]) {
      map.delete(path);
      if (!withAllBelow) continue;
      for (const other of map.keys()) if (other.startsWith(`${path}/`)) map.delete(other);
    }
  }
}
