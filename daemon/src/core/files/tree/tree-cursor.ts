/** Walks down and up a directory tree with only one open directory, and never leaves the tree. */
import type { BigIntStats } from 'node:fs';
import { FileFailure, type FileOperation } from '../../../kit/file-failure.ts';
import type { Directory } from '../../../platform/files/directory.ts';

type Identity = Pick<BigIntStats, 'dev' | 'ino'>;

export class TreeCursor implements AsyncDisposable {
  readonly #above: Identity[] = [];

  /** Takes ownership of the directory. */
  constructor(
    private directory: Directory,
    private readonly operation: FileOperation,
  ) {}

  get here(): Directory {
    return this.directory;
  }

  /** Number of levels below the first directory. */
  get depth(): number {
    return this.#above.length;
  }

  /** Enters the directory that `open` returns, which must be a child of the current directory. */
  async down(open: (here: Directory) => Promise<Directory>): Promise<void> {
    const above = this.directory;
    const { dev, ino } = await above.own();
    this.directory = await open(above);
    this.#above.push({ dev, ino });
    await above[Symbol.asyncDispose]();
  }

  /** Returns to the parent directory. `finish` runs on the child directory before it closes. */
  async up(finish?: (left: Directory) => Promise<void>): Promise<void> {
    const left = this.directory;
    const above = await left.openParent();
    const isSame = isSameFile(await above.own(), this.#above.at(-1) ?? { dev: 0n, ino: 0n });
    if (!isSame) {
      await above[Symbol.asyncDispose]();
      throw movedAway(left.path, this.operation);
    }
    this.#above.pop();
    this.directory = above;
    await using _ = left;
    await finish?.(left);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.directory[Symbol.asyncDispose]();
  }
}

export function isSameFile(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** The error for an entry that another process moved or replaced during the operation. */
export function movedAway(path: string, operation: FileOperation): FileFailure {
  return FileFailure.of(operation, path, 'EBUSY', {
    message: `${path}: was moved or replaced by another process meanwhile`,
  });
}
