/** Keeps a tree of directories watched, each under the path that it really has. */
import { errnoOf } from '../../kit/file-failure.ts';
import type { DirectoryEntry, OpenDirectory, WatchedFiles } from '../../platform/watched-files.ts';
import { joinPath, type EventType } from './change.ts';
import { Directory } from './directory.ts';
import type { PathFilter } from './filter.ts';
import { directoryMask } from './inotify-bits.ts';
import { Slices } from '../../kit/slices.ts';
import type { Receiver, WatchTable } from './watch-table.ts';

export interface TreeDeps {
  readonly files: WatchedFiles;
  readonly table: WatchTable;
  readonly filter: PathFilter;
  /** Absolute, without links. */
  readonly root: string;
  readonly recursive: boolean;
  readonly receiver: Receiver;
  /** Called in silence too, but for what the first listing finds. */
  readonly tell: (type: EventType, path: string, isDirectory: boolean, atMs: number) => void;
}

/** No way to a directory of this name, by now. */
const absentErrnos = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);
/** Nothing more can be watched or opened: not a matter of this one directory. */
const exhaustedErrnos = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** True where watching by inotify comes to its end, and another way has to be taken. */
export function isExhausted(error: unknown): boolean {
  return exhaustedErrnos.has(errnoOf(error) ?? '');
}

export class DirectoryTree {
  /** True while what is found is what was there before. */
  isSilent = true;
  root: Directory;
  readonly #deps: TreeDeps;
  readonly #slices = new Slices();
  readonly #settling = new Set<Directory>();
  readonly #fenced = new Map<number, Directory[]>();
  #unfenced: Directory[] = [];

  constructor(deps: TreeDeps) {
    this.#deps = deps;
    this.root = this.#make('', null);
  }

  /** Watches the root and all below it, as it is now. Throws when the root cannot be read. */
  async load(): Promise<void> {
    await this.#loadAll(this.root, performance.now());
  }

  /** Lets everything go, for a new start. */
  async reset(): Promise<void> {
    await this.detach(this.root);
    this.#settling.clear();
    this.#fenced.clear();
    this.#unfenced = [];
    this.root = this.#make('', null);
  }

  /** A directory has come: watches it, and tells what is in it. */
  async attach(parent: Directory, name: string, atMs: number): Promise<void> {
    const before = parent.children.get(name);
    if (before) await this.detach(before);
    const directory = this.#make(name, parent);
    parent.children.set(name, directory);
    await this.#loadAll(directory, atMs);
  }

  /** It has gone from its place, with all that is below. */
  async detach(directory: Directory): Promise<void> {
    directory.parent?.children.delete(directory.name);
    const left = [directory];
    for (let next = left.pop(); next; next = left.pop()) {
      next.isAttached = false;
      this.#settling.delete(next);
      if (next.watch !== null) this.#deps.table.unlisten(next.watch, next);
      left.push(...next.children.values());
      await this.#slices.next();
    }
  }

  move(directory: Directory, parent: Directory, name: string): void {
    directory.moveTo(parent, name);
    this.touch(directory);
  }

  /** Whatever is not certain yet, there and below, has to be looked at again. */
  touch(directory: Directory): void {
    for (const other of this.#settling) {
      if (other.settling && other.isInside(directory)) other.settling.isTouched = true;
    }
  }

  /** Its file system went, or was put over it: looks again at what is there. */
  doubt(directory: Directory): void {
    this.#suspect(directory);
    this.placeFence();
  }

  #suspect(directory: Directory): void {
    directory.settling ??= { known: this.isSilent ? null : new Map(), isTouched: false, isMissing: false, fence: -1 };
    directory.settling.isTouched = true;
    this.#settling.add(directory);
    this.#unfenced.push(directory);
  }

  /** What was loaded since the last one is certain when all that has happened so far has been worked on. */
  placeFence(): number | null {
    const waiting = this.#unfenced.filter(({ isAttached, settling }) => isAttached && settling);
    this.#unfenced = [];
    if (waiting.length === 0) return null;
    const fence = this.#deps.table.fence(this.#deps.receiver);
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

  #make(name: string, parent: Directory | null): Directory {
    const directory = new Directory(this.#deps.receiver, name, parent, this.isSilent ? null : new Map());
    this.#settling.add(directory);
    return directory;
  }

  #settle(directory: Directory): void {
    directory.settling = null;
    this.#settling.delete(directory);
  }

  async #loadAll(top: Directory, atMs: number): Promise<void> {
    const left = [top];
    for (let next = left.pop(); next; next = left.pop()) {
      if (next.isAttached) left.push(...(await this.#loadOne(next, atMs)));
      await this.#slices.next();
    }
    this.placeFence();
  }

  /** Answers the directories in it, which are to be loaded next. */
  async #loadOne(directory: Directory, atMs: number): Promise<Directory[]> {
    using opened = this.#open(directory);
    if (!opened) return [];
    directory.watch = this.#deps.table.listen(opened.path, directoryMask, directory);
    this.#unfenced.push(directory);
    const inside: Directory[] = [];
    const { path } = directory;
    for await (const { name, kind } of this.#list(directory, opened)) {
      directory.known?.set(name, kind === 'directory');
      if (!this.isSilent) this.#deps.tell('create', joinPath(path, name), kind === 'directory', atMs);
      if (kind === 'directory' && this.#deps.recursive) inside.push(this.#adopt(directory, name));
    }
    return inside;
  }

  #adopt(parent: Directory, name: string): Directory {
    const child = this.#make(name, parent);
    parent.children.set(name, child);
    return child;
  }

  /** Null when there is nothing to look into. */
  #open(directory: Directory): OpenDirectory | null {
    let opened: OpenDirectory;
    try {
      opened = this.#deps.files.open(this.systemPath(directory));
    } catch (error) {
      if (directory === this.root || isExhausted(error)) throw error;
      if (absentErrnos.has(errnoOf(error) ?? '') && directory.settling) {
        directory.settling.isMissing = true;
        this.#unfenced.push(directory);
      } else this.#settle(directory); // It may not be read; the rest goes on.
      return null;
    }
    if (directory === this.root || !opened.isSynthetic) return opened;
    opened[Symbol.dispose]();
    this.#settle(directory);
    return null;
  }

  async *#list(directory: Directory, opened: OpenDirectory): AsyncGenerator<DirectoryEntry> {
    if (this.isSilent && !this.#deps.recursive) return;
    const parent = directory.path;
    for (let entries = opened.next(); entries; entries = opened.next()) {
      for (const { name, kind } of entries) {
        const path = joinPath(parent, name);
        if (this.#deps.filter.isExcluded(path)) continue;
        yield { name, kind: kind === 'unknown' ? await this.#kindOf(path) : kind };
      }
      await this.#slices.next();
    }
  }

  async #kindOf(path: string): Promise<'directory' | 'other'> {
    try {
      return (await this.#deps.files.facts(`${this.#deps.root}/${path}`)).isDirectory ? 'directory' : 'other';
    } catch {
      return 'other'; // It went while we looked; an event tells so.
    }
  }

  systemPath(directory: Directory): string {
    const { path } = directory;
    return path === '' ? this.#deps.root : joinPath(this.#deps.root === '/' ? '' : this.#deps.root, path);
  }

  /** What is at its place is looked at anew; where it is another directory, the difference is told. */
  async #loadAgain(directory: Directory): Promise<void> {
    const { settling } = directory;
    if (!settling) return;
    const wasMissing = settling.isMissing && !settling.isTouched;
    settling.isMissing = false;
    settling.isTouched = false;
    using opened = this.#open(directory);
    if (!opened) {
      // Twice absent, and no event that says why: it is not there.
      if (wasMissing && settling.isMissing) await this.#giveUp(directory);
      return;
    }
    this.#unfenced.push(directory);
    const before = directory.watch;
    directory.watch = this.#deps.table.listen(opened.path, directoryMask, directory);
    if (before === directory.watch) return;
    if (before !== null) this.#deps.table.unlisten(before, directory);
    await this.#compare(directory, opened);
  }

  async #giveUp(directory: Directory): Promise<void> {
    const { path } = directory;
    await this.detach(directory);
    this.#deps.tell('remove', path, true, performance.now());
  }

  async #compare(directory: Directory, opened: OpenDirectory): Promise<void> {
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
      if (now.get(name) !== isDirectory) this.#deps.tell('remove', joinPath(path, name), isDirectory, atMs);
    }
    for (const [name, isDirectory] of now) {
      if (before.get(name) !== isDirectory) this.#deps.tell('create', joinPath(path, name), isDirectory, atMs);
      const isNew = isDirectory && this.#deps.recursive && !directory.children.get(name);
      if (isNew) await this.attach(directory, name, atMs);
    }
  }
}
