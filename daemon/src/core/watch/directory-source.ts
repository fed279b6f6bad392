/** Reports changes below a directory, based on inotify events. */
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InotifyEvent } from '../../platform/files/inotify.ts';
import { joinPath, type Change, type ChangeSink, type ChangeSource } from './change.ts';
import type { WatchedDirectory } from './directory.ts';
import { DirectoryTree, isExhausted, type WatchedRoot } from './directory-tree.ts';
import { guardMask, inotify } from './inotify-bits.ts';
import { MoveQueue, type QueuedEvent } from './move-queue.ts';
import { errnoOf } from '../../kit/errno.ts';
import { TimeSlices } from '../../kit/slices.ts';
import type { Listener, Receiver } from './watch-table.ts';

export interface SourceDeps extends WatchedRoot {
  readonly sink: ChangeSink;
}

const overflowRestMs = 100;

const { ignored, deleteSelf, moveSelf, unmount, movedFrom, movedTo, create, modify, attrib } = inotify;

/**
 * Handles events one after another. A new directory is first watched and then listed, so that no entry is missed. If
 * the listing and an event both find a change, the change is reported once (see `Settling`). The first listing reports
 * nothing.
 */
export class DirectorySource implements ChangeSource, Receiver {
  readonly #queue: MoveQueue;
  readonly #tree: DirectoryTree;
  readonly #slices = new TimeSlices();
  /** Watches the parent. While a process still uses a removed root, only the parent reports the removal. */
  readonly #guard: Listener & { watch: number | null } = { receiver: this, watch: null };
  readonly #opened = Promise.withResolvers<void>();
  readonly #rootName: string;
  #openFence: number | null = null;
  #isOpen = false;
  #isOverflowed = false;
  #isWorking = false;
  #isClosed = false;

  constructor(private readonly deps: SourceDeps) {
    this.#rootName = basename(deps.root);
    this.#queue = new MoveQueue(() => deps.table.fence(this));
    // The caller of `open` may not be waiting for this promise yet. `open` itself throws the error.
    this.#opened.promise.catch(() => null);
    this.#tree = new DirectoryTree({
      ...deps,
      receiver: this,
      report: (type, path, isDirectory, atMs) =>
        this.#report({ type, path, oldPath: null, isDirectory, atMs, isWhole: type === 'remove' }),
    });
  }

  async open(): Promise<void> {
    this.deps.table.join(this);
    this.#isWorking = true;
    try {
      this.#watchParent();
      await this.#load();
    } catch (error) {
      this.close();
      throw error;
    }
    this.#isWorking = false;
    this.wake();
    await this.#opened.promise;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.clear();
    void this.#leave();
  }

  receive(listener: Listener, event: InotifyEvent): void {
    if (this.#isClosed || this.#isOverflowed) return;
    if (listener === this.#guard && event.name !== this.#rootName) return;
    this.#queue.push(listener, event);
    if (this.#queue.isFull) this.overflowed();
  }

  fencePassed(fence: number): void {
    this.#queue.passFence(fence);
  }

  overflowed(): void {
    this.#isOverflowed = true;
    this.#queue.clear();
  }

  broken(error: unknown): void {
    this.#giveUp(error);
  }

  wake(): void {
    if (!this.#isWorking && !this.#isClosed) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      while (!this.#isClosed) {
        if (this.#isOverflowed) await this.#startOver();
        const item = this.#queue.shift();
        if (!item) break;
        if ('fence' in item) await this.#passFence(item.fence);
        else await this.#handle(item);
        await this.#slices.next();
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#isWorking = false;
  }

  /** Rebuilds the tree after the kernel or the local queue dropped events, and reports the loss. */
  async #startOver(): Promise<void> {
    // An immediate restart would probably lose events again, so wait for the burst to pass.
    await sleep(overflowRestMs);
    this.#isOverflowed = false;
    this.#tree.isSilent = true;
    await this.#tree.reset();
    await this.#load();
  }

  async #load(): Promise<void> {
    await this.#tree.load();
    // The load needs its own fence, because the tree places fences only where the state is uncertain.
    this.#openFence = this.deps.table.fence(this);
  }

  async #passFence(fence: number): Promise<void> {
    if (fence !== this.#openFence) return this.#tree.passFence(fence);
    this.#openFence = null;
    this.#tree.isSilent = false;
    if (this.#isOpen) this.deps.sink.lost();
    this.#isOpen = true;
    this.#opened.resolve();
  }

  async #handle(item: QueuedEvent): Promise<void> {
    const { listener, event, isReported } = item;
    if (isReported) return;
    if (listener === this.#guard) {
      if (event.mask & guardMask) this.#gone();
      return;
    }
    const directory = listener as WatchedDirectory;
    if (!directory.isAttached) return;
    if (event.name === '') return this.#handleSelf(directory, item);
    const path = joinPath(directory.path, event.name);
    if (event.mask & movedFrom) return this.#handleDeparture(directory, path, item);
    if (this.deps.filter.isExcluded(path)) return;
    if (event.mask & movedTo) return this.#arrive(directory, path, item);
    if (event.mask & create) return this.#create(directory, path, item);
    if (event.mask & inotify.delete) return this.#remove(directory, path, item, false);
    if (directory.known?.has(event.name) === false) return;
    const isDirectory = (event.mask & inotify.isDirectory) !== 0;
    const change = { path, oldPath: null, isDirectory, atMs: item.atMs };
    if (event.mask & modify) this.#report({ type: 'write', ...change });
    else if (event.mask & attrib) this.#report({ type: 'chmod', ...change });
    const child = isDirectory ? directory.children.get(event.name) : undefined;
    // An unreadable directory may have become readable.
    if (child?.watch === null && child.settling === null) await this.#tree.attach(directory, event.name, item.atMs);
  }

  /** Handles an event of the watched directory itself. Other events about the directory come from its parent. */
  #handleSelf(directory: WatchedDirectory, { event, atMs }: QueuedEvent): void {
    if (directory === this.#tree.root) {
      if (event.mask & (ignored | deleteSelf | moveSelf | unmount)) this.#gone();
      else if (event.mask & attrib) this.#report({ type: 'chmod', path: '', oldPath: null, isDirectory: true, atMs });
      return;
    }
    if (event.mask & ignored) directory.watch = null;
    if (event.mask & unmount) this.#tree.doubt(directory);
  }

  async #create(directory: WatchedDirectory, path: string, { event, atMs }: QueuedEvent): Promise<void> {
    const { name } = event;
    if (directory.known?.has(name)) return;
    const isDirectory = (event.mask & inotify.isDirectory) !== 0;
    directory.known?.set(name, isDirectory);
    this.#report({ type: 'create', path, oldPath: null, isDirectory, atMs });
    if (isDirectory && this.deps.recursive) await this.#tree.attach(directory, name, atMs);
  }

  async #remove(
    directory: WatchedDirectory,
    path: string,
    { event, atMs }: QueuedEvent,
    isWhole: boolean,
  ): Promise<void> {
    const child = directory.children.get(event.name);
    if (child) await this.#tree.detach(child);
    if (directory.known?.delete(event.name) === false) return;
    const isDirectory = (event.mask & inotify.isDirectory) !== 0;
    // The listing may have read a later directory with the same name, so the listed entries may be gone too.
    const hadEntries = isWhole || (child?.known?.size ?? 0) > 0;
    this.#report({ type: 'remove', path, oldPath: null, isDirectory, atMs, isWhole: isDirectory && hadEntries });
  }

  async #handleDeparture(directory: WatchedDirectory, path: string, item: QueuedEvent): Promise<void> {
    const found = this.#queue.arrivalOf(item);
    const arrival = found instanceof Promise ? await found : found;
    // After lost events the tree is unreliable and will be rebuilt.
    if (this.#isOverflowed || this.#isClosed) return;
    const isFromExcluded = this.deps.filter.isExcluded(path);
    const target = arrival?.listener as WatchedDirectory | undefined;
    const targetPath = arrival && target?.isAttached ? joinPath(target.path, arrival.event.name) : null;
    const isToExcluded = targetPath === null || this.deps.filter.isExcluded(targetPath);
    if (arrival && !isFromExcluded) arrival.isReported = true;
    if (isFromExcluded) return;
    if (!arrival || !target || targetPath === null || isToExcluded) return this.#remove(directory, path, item, true);
    if (directory.known?.has(item.event.name) === false) return this.#arrive(target, targetPath, arrival);
    await this.#move(directory, path, target, targetPath, arrival);
  }

  /** Handles a move within the watched tree. */
  async #move(
    from: WatchedDirectory,
    path: string,
    to: WatchedDirectory,
    toPath: string,
    arrival: QueuedEvent,
  ): Promise<void> {
    const { name } = arrival.event;
    const isDirectory = (arrival.event.mask & inotify.isDirectory) !== 0;
    const oldName = path.slice(path.lastIndexOf('/') + 1);
    const moved = from.children.get(oldName);
    const replaced = to.children.get(name);
    if (replaced && (moved || !isDirectory)) await this.#tree.detach(replaced);
    from.known?.delete(oldName);
    to.known?.set(name, isDirectory);
    this.#report({ type: 'rename', path: toPath, oldPath: path, isDirectory, atMs: arrival.atMs });
    if (moved) this.#tree.move(moved, to, name);
    else if (isDirectory && this.deps.recursive && !replaced) await this.#tree.attach(to, name, arrival.atMs);
  }

  /** Handles a move from outside the watched tree. */
  async #arrive(directory: WatchedDirectory, path: string, { event, atMs }: QueuedEvent): Promise<void> {
    const { name } = event;
    const isDirectory = (event.mask & inotify.isDirectory) !== 0;
    const child = directory.children.get(name);
    if (directory.known?.has(name)) {
      if (child) this.#tree.touch(child);
      return;
    }
    directory.known?.set(name, isDirectory);
    this.#report({ type: 'create', path, oldPath: null, isDirectory, atMs, mayReplace: true });
    if (child && !isDirectory) await this.#tree.detach(child);
    if (isDirectory && this.deps.recursive) await this.#tree.attach(directory, name, atMs);
  }

  #report(change: Change): void {
    if (!this.#tree.isSilent && !this.#isClosed) this.deps.sink.change(change);
  }

  /** Without this watch, the removal of the root is noticed only when no process uses the root any more. */
  #watchParent(): void {
    const { root, table } = this.deps;
    if (root === '/') return;
    try {
      this.#guard.watch = table.listen(dirname(root), guardMask, this.#guard);
    } catch (error) {
      if (errnoOf(error) === null || isExhausted(error)) throw error;
    }
  }

  #gone(): void {
    if (this.#isClosed) return;
    this.close();
    if (this.#isOpen) this.deps.sink.gone();
    else this.#opened.reject(Object.assign(new Error('the root went'), { code: 'ENOENT' }));
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const isRootGone = errnoOf(error) !== null && !isExhausted(error);
    if (this.#isOpen && isRootGone) this.#gone();
    else this.#giveUp(error);
  }

  #giveUp(error: unknown): void {
    this.close();
    if (this.#isOpen) this.deps.sink.failed(error);
    else this.#opened.reject(error);
  }

  /** Closing the queue ends all watches at once. If others use it, the watches are removed one by one, in slices. */
  async #leave(): Promise<void> {
    const { table } = this.deps;
    if (!table.isLast(this)) {
      if (this.#guard.watch !== null) table.unlisten(this.#guard.watch, this.#guard);
      await this.#tree.detach(this.#tree.root);
    }
    table.leave(this);
  }
}
