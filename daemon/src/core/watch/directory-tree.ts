/** Keeps a tree of directories watched, and tracks the current path of each directory. */
import type { DirectoryEntry } from '../../platform/files/read-directory.ts';
import type { OpenDirectory, WatchedFiles } from '../../platform/files/watched-files.ts';
import { joinPath, type EventType } from './change.ts';
import { WatchedDirectory } from './directory.ts';
import type { PathFilter } from './filter.ts';
import { directoryMask } from './inotify-bits.ts';
import { errnoOf } from '../../kit/errno.ts';
import { TimeSlices } from '../../kit/slices.ts';
import type { Receiver, WatchTable } from './watch-table.ts';

export interface WatchedRoot {
  readonly files: WatchedFiles;
  readonly table: WatchTable;
  readonly filter: PathFilter;
  /** Absolute path without links. */
  readonly root: string;
  readonly recursive: boolean;
}

export interface TreeDeps extends WatchedRoot {
  readonly receiver: Receiver;
  /** Also called while the tree is silent, except for the entries of the first listing. */
  readonly report: (type: EventType, path: string, isDirectory: boolean, atMs: number) => void;
}

/** Errors that mean the path no longer leads to a directory. */
const absentErrnos = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);
/** Errors that mean no more watches or files can be opened at all. */
const exhaustedErrnos = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** True when inotify has reached a system limit and the watcher must use polling. */
export function isExhausted(error: unknown): boolean {
  return exhaustedErrnos.has(errnoOf(error) ?? '');
}

export class DirectoryTree {
  /** True while listings find entries that existed before watching began. */
  isSilent = true;
  root: WatchedDirectory;
  readonly #slices = new TimeSlices();
  readonly #settling = new Set<WatchedDirectory>();
  readonly #fenced = new Map<number, WatchedDirectory[]>();
  #unfenced: WatchedDirectory[] = [];

  constructor(private readonly deps: TreeDeps) {
    this.root = this.#make('', null);
  }

  /** Watches the root, and everything below it if recursive. Throws when the root cannot be read. */
  async load(): Promise<void> {
    await this.#loadAll(this.root, performance.now());
  }

  /** Removes all watches before a restart. */
  async reset(): Promise<void> {
    await this.detach(this.root);
    this.#settling.clear();
    this.#fenced.clear();
    this.#unfenced = [];
    this.root = this.#make('', null);
  }

  /** Watches a new directory and reports its entries. */
  async attach(parent: WatchedDirectory, name: string, atMs: number): Promise<void> {
    const before = parent.children.get(name);
    if (before) await this.detach(before);
    const directory = this.#make(name, parent);
    parent.children.set(name, directory);
    await this.#loadAll(directory, atMs);
  }

  /** Stops watching a directory that has left its place, and everything below it. */
  async detach(directory: WatchedDirectory): Promise<void> {
    directory.parent?.children.delete(directory.name);
    const left = [directory];
    for (let next = left.pop(); next; next = left.pop()) {
      next.isAttached = false;
      this.#settling.delete(next);
      if (next.watch !== null) this.deps.table.unlisten(next.watch, next);
      left.push(...next.children.values());
      await this.#slices.next();
    }
  }

  move(directory: WatchedDirectory, parent: WatchedDirectory, name: string): void {
    directory.moveTo(parent, name);
    this.touch(directory);
  }

  /** Marks all unsettled directories at or below this one, so that they are checked again. */
  touch(directory: WatchedDirectory): void {
    for (const other of this.#settling) {
      if (other.settling && other.isInside(directory)) other.settling.isTouched = true;
    }
  }

  /** Checks a directory again after its file system was unmounted. */
  doubt(directory: WatchedDirectory): void {
    this.#suspect(directory);
    this.placeFence();
  }

  #suspect(directory: WatchedDirectory): void {
    directory.settling ??= { known: this.isSilent ? null : new Map(), isTouched: false, isMissing: false, fence: -1 };
    directory.settling.isTouched = true;
    this.#settling.add(directory);
    this.#unfenced.push(directory);
  }

  /** Places a fence for the directories loaded since the last fence. Their state is certain when the fence passes. */
  placeFence(): number | null {
    const waiting = this.#unfenced.filter(({ isAttached, settling }) => isAttached && settling);
    this.#unfenced = [];
    if (waiting.length === 0) return null;
    const fence = this.deps.table.fence(this.deps.receiver);
    for (const { settling } of waiting) if (settling) settling.fence = fence;
    this.#fenced.set(fence, waiting);
    return fence;
  }

  async passFence(fence: number): Promise<void> {
    const waiting = this.#fenced.get(fence) ?? [];
    this.#fenced.delete(fence);
    for (const directory of waiting) {
      const { settling } = directory;
      if (!directory.isAttached || settling?.fence !== fence) continue;
      if (settling.isTouched || settling.isMissing) await this.#loadAgain(directory);
      else this.#settle(directory);
      await this.#slices.next();
    }
    this.placeFence();
  }

  #make(name: string, parent: WatchedDirectory | null): WatchedDirectory {
    const directory = new WatchedDirectory(this.deps.receiver, name, parent, this.isSilent ? null : new Map());
    this.#settling.add(directory);
    return directory;
  }

  #settle(directory: WatchedDirectory): void {
    directory.settling = null;
    this.#settling.delete(directory);
  }

  async #loadAll(top: WatchedDirectory, atMs: number): Promise<void> {
    const left = [top];
    for (let next = left.pop(); next; next = left.pop()) {
      if (next.isAttached) left.push(...(await this.#loadOne(next, atMs)));
      await this.#slices.next();
    }
    this.placeFence();
  }

  /** Loads one directory and returns its subdirectories, which the caller loads next. */
  async #loadOne(directory: WatchedDirectory, atMs: number): Promise<WatchedDirectory[]> {
    using opened = this.#open(directory);
    if (!opened) return [];
    directory.watch = this.deps.table.listen(opened.path, directoryMask, directory);
    this.#unfenced.push(directory);
    const inside: WatchedDirectory[] = [];
    const { path } = directory;
    for await (const { name, kind } of this.#list(directory, opened)) {
      directory.known?.set(name, kind === 'directory');
      if (!this.isSilent) this.deps.report('create', joinPath(path, name), kind === 'directory', atMs);
      if (kind === 'directory' && this.deps.recursive) inside.push(this.#adopt(directory, name));
    }
    return inside;
  }

  #adopt(parent: WatchedDirectory, name: string): WatchedDirectory {
    const child = this.#make(name, parent);
    parent.children.set(name, child);
    return child;
  }

  /** Null when the directory is missing, unreadable or synthetic. */
  #open(directory: WatchedDirectory): OpenDirectory | null {
    let opened: OpenDirectory;
    try {
      opened = this.deps.files.open(this.systemPath(directory));
    } catch (error) {
      if (directory === this.root || isExhausted(error)) throw error;
      if (absentErrnos.has(errnoOf(error) ?? '') && directory.settling) {
        directory.settling.isMissing = true;
        this.#unfenced.push(directory);
      } else this.#settle(directory); // The directory is unreadable. The walk continues without it.
      return null;
    }
    if (directory === this.root || !opened.isSynthetic) return opened;
    opened[Symbol.dispose]();
    this.#settle(directory);
    return null;
  }

  async *#list(directory: WatchedDirectory, opened: OpenDirectory): AsyncGenerator<DirectoryEntry> {
    if (this.isSilent && !this.deps.recursive) return;
    const parent = directory.path;
    for (let entries = opened.next(); entries; entries = opened.next()) {
      for (const { name, kind } of entries) {
        const path = joinPath(parent, name);
        if (this.deps.filter.isExcluded(path)) continue;
        yield { name, kind: kind === 'unknown' ? await this.#kindOf(path) : kind };
      }
      await this.#slices.next();
    }
  }

  async #kindOf(path: string): Promise<'directory' | 'other'> {
    try {
      return (await this.deps.files.facts(`${this.deps.root}/${path}`)).isDirectory ? 'directory' : 'other';
    } catch {
      return 'other'; // The entry was deleted meanwhile. An event reports the deletion.
    }
  }

  systemPath(directory: WatchedDirectory): string {
    const { path } = directory;
    return path === '' ? this.deps.root : joinPath(this.deps.root === '/' ? '' : this.deps.root, path);
  }

  /** Checks a directory again. If another directory is now at its path, reports the differences. */
  async #loadAgain(directory: WatchedDirectory): Promise<void> {
    const { settling } = directory;
    if (!settling) return;
    const wasMissing = settling.isMissing && !settling.isTouched;
    settling.isMissing = false;
    settling.isTouched = false;
    using opened = this.#open(directory);
    if (!opened) {
      // The directory is missing for the second time, and no event explains it, so the directory is gone.
      if (wasMissing && settling.isMissing) await this.#giveUp(directory);
      return;
    }
    this.#unfenced.push(directory);
    const before = directory.watch;
    directory.watch = this.deps.table.listen(opened.path, directoryMask, directory);
    if (before === directory.watch) return;
    if (before !== null) this.deps.table.unlisten(before, directory);
    await this.#compare(directory, opened);
  }

  async #giveUp(directory: WatchedDirectory): Promise<void> {
    const { path } = directory;
    await this.detach(directory);
    this.deps.report('remove', path, true, performance.now());
  }

  async #compare(directory: WatchedDirectory, opened: OpenDirectory): Promise<void> {
    const atMs = performance.now();
    const { path, settling } = directory;
    const now = new Map<string, boolean>();
    for await (const { name, kind } of this.#list(directory, opened)) now.set(name, kind === 'directory');
    for (const child of [...directory.children.values()]) {
      if (now.get(child.name) === true) this.#suspect(child);
      else await this.detach(child);
    }
    const before = settling?.known ?? new Map<string, boolean>();
    if (settling?.known) settling.known = now;
    for (const [name, isDirectory] of before) {
      if (now.get(name) !== isDirectory) this.deps.report('remove', joinPath(path, name), isDirectory, atMs);
    }
    for (const [name, isDirectory] of now) {
      if (before.get(name) !== isDirectory) this.deps.report('create', joinPath(path, name), isDirectory, atMs);
      const isNew = isDirectory && this.deps.recursive && !directory.children.get(name);
      if (isNew) await this.attach(directory, name, atMs);
    }
  }
}
