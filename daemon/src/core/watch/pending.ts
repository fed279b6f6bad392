/** Holds changes for the debounce time and merges changes that clients need not distinguish. */
import type { Change } from './change.ts';

/** More changes would not fit into the ring. */
export const maxPending = 10_000;

/** Number of dropped slots that triggers a cleanup. */
const maxDropped = 1000;

interface Slot {
  change: Change;
  readonly dueMs: number;
  isLive: boolean;
}

/**
 * Each path waits for `debounceMs` from its first change. All paths wait equally long, so changes are reported in the
 * order of the first changes.
 * Several writes become one write. A create followed by a write stays a create. A create followed by a remove is
 * dropped. A chmod is reported in addition to a write. A rename is reported as it is. Changes of its two paths before
 * the rename are not merged with later changes.
 */
export class Pending {
  #slots: Slot[] = [];
  #live = 0;
  /** By path, the changes that a later change may still be merged with. */
  readonly #contents = new Map<string, Slot>();
  readonly #modes = new Map<string, Slot>();

  constructor(private readonly debounceMs: number) {}

  get size(): number {
    return this.#live;
  }

  /** When the first change is due; null if there are no changes. Uses the clock of the changes. */
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

  /** Returns the due changes in order, or all changes when `nowMs` is null. */
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
      // A client that learns of a new file reads its mode anyway.
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
      // A directory removal is never merged away, because pending changes below the directory must be followed by the
      // removal.
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
    if (this.#slots.length > 2 * this.#live + maxDropped) this.#slots = this.#slots.filter(({ isLive }) => isLive);
    for (const map of [this.#contents, this.#modes]) if (map.get(path) === slot) map.delete(path);
  }

  /** Later changes at or below this path are not merged with earlier changes. */
  #seal(path: string, withAllBelow: boolean): void {
    for (const map of [this.#contents, this.#modes]) {
      map.delete(path);
      if (!withAllBelow) continue;
      for (const other of map.keys()) if (other.startsWith(`${path}/`)) map.delete(other);
    }
  }
}
