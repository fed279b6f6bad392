/**
 * A way down into a tree that holds one directory open, however deep it goes, and never leaves the tree: no link is
 * followed down, and on the way up each directory has to be the one it came from.
 */
import type { BigIntStats } from 'node:fs';
import { FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';

type Identity = Pick<BigIntStats, 'dev' | 'ino'>;

export class Descent implements AsyncDisposable {
  readonly #above: Identity[] = [];

  /** Takes the directory over. */
  constructor(
    private directory: Directory,
    private readonly operation: FileOperation,
  ) {}

  get here(): Directory {
    return this.directory;
  }

  /** How many directories lie between the first one and this one. */
  get depth(): number {
    return this.#above.length;
  }

  /** Into what `open` answers, which is a directory in this one. */
  async down(open: (here: Directory) => Promise<Directory>): Promise<void> {
    const above = this.directory;
    const { dev, ino } = await above.own();
    this.directory = await open(above);
    this.#above.push({ dev, ino });
    await above[Symbol.asyncDispose]();
  }

  /** Back, when `finish` is done with the directory that is left. */
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

/** What somebody else has put elsewhere while it was worked on. */
export function movedAway(path: string, operation: FileOperation): FileFailure {
  return new FileFailure({
    operation,
    path,
    errnoName: 'EBUSY',
    message: `${path}: was moved or replaced by somebody else meanwhile`,
  });
}
