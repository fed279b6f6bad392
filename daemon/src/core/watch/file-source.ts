/** Reports the changes of one file with inotify, also across editors that replace it. */
import { basename, dirname } from 'node:path';
import { errnoOf } from '../../kit/errno.ts';
import type { InotifyEvent } from '../../platform/files/inotify.ts';
import type { ChangeSource, EventType } from './change.ts';
import type { SourceDeps } from './directory-source.ts';
import { isExhausted } from './directory-tree.ts';
import { directoryMask, inotify } from './inotify-bits.ts';
import type { Listener, Receiver } from './watch-table.ts';

/** Editors replace a file when they save it. A file that is back within this time counts as written. */
const replaceMs = 50;

export class FileSource implements ChangeSource, Receiver {
  readonly #name: string;
  readonly #listener: Listener = { receiver: this };
  #watch: number | null = null;
  /** True when the file itself is watched, because its directory cannot be watched. */
  #isAlone = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(private readonly deps: SourceDeps) {
    this.#name = basename(deps.root);
  }

  async open(): Promise<void> {
    const { table, files, root } = this.deps;
    table.join(this);
    try {
      this.#listen();
      await files.facts(root);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#leaving);
    if (this.#watch !== null) this.deps.table.unlisten(this.#watch, this.#listener);
    this.deps.table.leave(this);
  }

  receive(_listener: Listener, { mask, name }: InotifyEvent): void {
    if (this.#isClosed || (name !== this.#name && !this.#isAlone)) return;
    if (mask & (inotify.delete | inotify.movedFrom | inotify.deleteSelf | inotify.moveSelf | inotify.unmount)) {
      this.#leaving ??= setTimeout(() => this.#gone(), replaceMs);
    } else if (mask & (inotify.create | inotify.movedTo)) {
      clearTimeout(this.#leaving);
      this.#leaving = undefined;
      this.#report('write');
    } else if (mask & inotify.modify) this.#report('write');
    else if (mask & inotify.attrib) this.#report('chmod');
  }

  fencePassed(): void {
    // This source places no fences.
  }

  wake(): void {
    // Events are handled as they arrive.
  }

  overflowed(): void {
    this.deps.sink.lost();
    void this.#look();
  }

  broken(error: unknown): void {
    this.close();
    this.deps.sink.failed(error);
  }

  #listen(): void {
    const { table, root } = this.deps;
    try {
      this.#watch = table.listen(dirname(root), directoryMask, this.#listener);
    } catch (error) {
      if (errnoOf(error) === null || isExhausted(error)) throw error;
      this.#isAlone = true;
      this.#watch = table.listen(root, directoryMask, this.#listener);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.deps.files.facts(this.deps.root);
    } catch {
      this.#gone(); // Whatever the reason, the file can no longer be watched.
    }
  }

  #gone(): void {
    if (this.#isClosed) return;
    this.close();
    this.deps.sink.gone();
  }

  #report(type: EventType): void {
    this.deps.sink.change({ type, path: '', oldPath: null, isDirectory: false, atMs: performance.now() });
  }
}
