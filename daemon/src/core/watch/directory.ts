/** The directories that a watcher looks into, as a tree: what is in them is not kept. */
import type { Listener, Receiver } from './watch-table.ts';
import { joinPath } from './change.ts';

/**
 * A directory was found by its path, and by now something else may be there: that is certain only when the events up to
 * that moment have been worked on. Until then its names are known, so that what the listing has found and the events
 * tell is told once.
 */
export interface Settling {
  /** Name to whether it is a directory; null where the names were not told. */
  known: Map<string, boolean> | null;
  /** An event moved or replaced it, or what it is in. */
  isTouched: boolean;
  /** Nothing was there. */
  isMissing: boolean;
  /** The fence behind which it is certain. */
  fence: number;
}

export class Directory implements Listener {
  readonly children = new LazyMap<Directory>();
  watch: number | null = null;
  settling: Settling | null;
  isAttached = true;

  constructor(
    readonly receiver: Receiver,
    public name: string,
    public parent: Directory | null,
    known: Map<string, boolean> | null,
  ) {
    this.settling = { known, isTouched: false, isMissing: false, fence: -1 };
  }

  /** Below the root; empty for the root. */
  get path(): string {
    return this.parent === null ? '' : joinPath(this.parent.path, this.name);
  }

  get known(): Map<string, boolean> | null {
    return this.settling?.known ?? null;
  }

  isInside(other: Directory): boolean {
    return this === other || (this.parent?.isInside(other) ?? false);
  }

  /** Leaves its parent for another place. */
  moveTo(parent: Directory, name: string): void {
    this.parent?.children.delete(this.name);
    this.parent = parent;
    this.name = name;
    parent.children.set(name, this);
  }
}

/** Most directories have none inside: they pay for no map. */
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
