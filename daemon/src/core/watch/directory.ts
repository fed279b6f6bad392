/** Represents the watched directories as a tree, without the entries of the directories. */
import type { Listener, Receiver } from './watch-table.ts';
import { joinPath } from './change.ts';

/**
 * The state of a directory that is not yet confirmed. The directory was found by its path, and another entry may be
 * there by now. The state is certain only when all events up to that moment are handled. Until then the names are kept,
 * so that an entry found by both the listing and an event is reported once.
 */
export interface Settling {
  /** Maps a name to whether it is a directory. Null when the names were not reported. */
  known: Map<string, boolean> | null;
  /** An event moved or replaced the directory or a parent. */
  isTouched: boolean;
  /** The path was missing. */
  isMissing: boolean;
  /** The fence after which the state is certain. */
  fence: number;
}

export class WatchedDirectory implements Listener {
  readonly children = new LazyMap<WatchedDirectory>();
  watch: number | null = null;
  settling: Settling | null;
  isAttached = true;

  constructor(
    readonly receiver: Receiver,
    public name: string,
    public parent: WatchedDirectory | null,
    known: Map<string, boolean> | null,
  ) {
    this.settling = { known, isTouched: false, isMissing: false, fence: -1 };
  }

  /** Path below the root; empty for the root. */
  get path(): string {
    return this.parent === null ? '' : joinPath(this.parent.path, this.name);
  }

  get known(): Map<string, boolean> | null {
    return this.settling?.known ?? null;
  }

  isInside(other: WatchedDirectory): boolean {
    return this === other || (this.parent?.isInside(other) ?? false);
  }

  moveTo(parent: WatchedDirectory, name: string): void {
    this.parent?.children.delete(this.name);
    this.parent = parent;
    this.name = name;
    parent.children.set(name, this);
  }
}

/** Creates the map on first use, because most directories have no subdirectories. */
class LazyMap<T> {
  #map: Map<string, T> | null = null;

  get(name: string): T | undefined {
    return this.#map?.get(name);
  }

  set(name: string, value: T): void {
    (this.#map ??= new Map()).set(name, value);
  }

  delete(name: string): void {
    this.#map?.delete(name);
  }

  values(): Iterable<T> {
    return this.#map?.values() ?? [];
  }
}
