/** Sends a tree as a tar archive while it reads it: as much of it in memory as one piece, however large it is. */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { FileFailure, asFileOperation, errnoOf, fileFailureOf } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';
import { CoreError } from '../../kit/errors.ts';
import type { FilesContext } from './context.ts';
import { Glob, GlobError } from '../../kit/glob.ts';
import { assertRegular } from './replace.ts';
import { Slices } from '../../kit/slices.ts';
import { sortInSlices } from './slices.ts';
import { archiveEnd, blockBytes, encodeHeader, paddingOf, type TarMember } from './tar-header.ts';
import { openTarget } from './target.ts';

const operation = 'tree';
/** Up to this size a file is read in one go. */
const smallBytes = 64 * 1024;
const pieceBytes = 256 * 1024;
const nothing = Buffer.alloc(smallBytes + blockBytes);

type SmallFile = NonNullable<ReturnType<Directory['readNow']>>;

export interface PackRequest {
  readonly path: string;
  readonly user: string | null;
  /** Globs: without a slash of a name at any depth, else of a path below the directory. What is below them is left out too. */
  readonly exclude: readonly string[];
}

/** To be disposed of. */
export interface PackedTree extends AsyncDisposable {
  readonly path: string;
  /** The archive. Throws when something cannot be read: what vanishes meanwhile is no failure. */
  pieces(): AsyncIterable<Uint8Array>;
}

/** The place is opened before anything is sent, so that what is wrong with it can be told. */
export async function packTree(context: FilesContext, request: PackRequest): Promise<PackedTree> {
  const path = context.places.resolve(request.path, request.user);
  const excluded = request.exclude.map(globOf);
  return asFileOperation(operation, path, async () => {
    const { directory, name } = await openSource(context, path);
    return {
      path,
      async *pieces() {
        const packing = new Packing(context, excluded);
        try {
          yield* packing.pieces(directory, name);
        } catch (error) {
          throw fileFailureOf(error, operation, path);
        }
      },
      [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
    };
  });
}

/** A directory to be sent whole, or with a name, one file in it. */
async function openSource(
  { openDirectory }: FilesContext,
  path: string,
): Promise<{ readonly directory: Directory; readonly name: string | null }> {
  try {
    return { directory: await openDirectory(path), name: null };
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error;
  }
  const target = await openTarget(openDirectory, path, { operation, followLinks: true });
  try {
    assertRegular(target, operation);
    if (!target.stat) throw new FileFailure({ operation, path, errnoName: 'ENOENT' });
    return target;
  } catch (error) {
    await target[Symbol.asyncDispose]();
    throw error;
  }
}

function globOf(text: string): Glob {
  try {
    return new Glob(text.includes('/') ? text.replace(/^\//, '') : `**/${text}`, {
      hasBraces: true,
      matchesHidden: true,
    });
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw new CoreError('bad_argument', `exclude ${JSON.stringify(text)} is no glob: ${error.message}`, {
      hint: 'Globs are like *.log, node_modules, build/** or {a,b}; a backslash takes a character as it is.',
    });
  }
}

/** A directory on the way down. */
interface Level {
  readonly directory: Directory;
  /** The names that lead to it. */
  readonly above: readonly string[];
  names: readonly string[];
  /** Those that were regular files when the names were read. */
  files: ReadonlySet<string>;
  at: number;
}

/** One archive that is being made. */
class Packing {
  readonly #slices = new Slices();
  /** Names of files that have several, by the inode. */
  readonly #firstNames = new Map<string, string>();
  readonly #owners = new Map<number, string>();
  readonly #groups = new Map<number, string>();
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(
    private readonly context: FilesContext,
    private readonly excluded: readonly Glob[],
  ) {}

  async *pieces(directory: Directory, name: string | null): AsyncGenerator<Uint8Array> {
    const levels: Level[] = [{ directory, above: [], names: name === null ? [] : [name], files: new Set(), at: 0 }];
    try {
      if (name === null) await this.#enter(levels, '.');
      for (let level = levels.at(-1); level; level = levels.at(-1)) {
        if (this.#slices.isOver) await this.#slices.pause();
        if (this.#waitingBytes >= pieceBytes) yield this.#flush();
        const next = level.names[level.at++];
        if (next === undefined) {
          if (levels.pop() !== undefined && levels.length > 0) await level.directory[Symbol.asyncDispose]();
          continue;
        }
        const left = this.#addEntry(level, next);
        if (left === 'directory') await this.#descend(levels, level, next);
        if (left === 'large') yield* this.#largeFile(level, next);
      }
    } finally {
      for (const { directory: below } of levels.slice(1)) await below[Symbol.asyncDispose]();
    }
    this.#add(archiveEnd);
    yield this.#flush();
  }

  /** Always in the same order, so that the same tree is the same archive. */
  async #enter(levels: Level[], name: string): Promise<void> {
    const level = levels.at(-1)!;
    this.#add(this.#header(name, 'directory', level.directory.ownNow()));
    const names: string[] = [];
    for (const inner of await level.directory.names()) {
      if (!this.#isExcluded([...level.above, inner])) names.push(inner);
      if (this.#slices.isOver) await this.#slices.pause();
    }
    level.files = await level.directory.fileNames();
    level.names = await sortInSlices(names, (a, b) => (a < b ? -1 : 1), this.#slices);
  }

  #isExcluded(path: readonly string[]): boolean {
    return this.excluded.some((glob) => glob.matches(path));
  }

  async #descend(levels: Level[], { directory, above }: Level, name: string): Promise<void> {
    try {
      const below = await directory.openDirectory(name);
      const path = [...above, name];
      levels.push({ directory: below, above: path, names: [], files: new Set(), at: 0 });
      await this.#enter(levels, nameOf(above, name));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error; // It has gone meanwhile.
    }
  }

  /** All of an entry that is read in a moment; what is left to do of it otherwise. */
  #addEntry({ directory, above, files }: Level, name: string): 'directory' | 'large' | null {
    const path = nameOf(above, name);
    try {
      const small = files.has(name) ? directory.readNow(name, smallBytes) : null;
      if (small) return this.#addSmall(path, small);
      const stat = directory.findNow(name);
      if (stat?.isDirectory()) return 'directory';
      if (stat?.isFile()) return this.#addFile(directory, name, path, stat);
      if (stat?.isSymbolicLink()) this.#add(this.#header(path, 'symlink', stat, directory.readLinkNow(name)));
      // Sockets, pipes and devices have no content: they are left out.
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error; // It has gone meanwhile.
    }
    return null;
  }

  #addFile(directory: Directory, name: string, path: string, stat: BigIntStats): 'large' | null {
    const first = stat.nlink > 1n ? this.#firstNames.get(inodeOf(stat)) : undefined;
    if (first !== undefined) {
      this.#add(this.#header(path, 'hardlink', stat, first));
      return null;
    }
    const small = stat.size <= smallBytes ? directory.readNow(name, smallBytes) : null;
    return small ? this.#addSmall(path, small) : 'large';
  }

  #addSmall(path: string, { stat, bytes }: SmallFile): null {
    const first = stat.nlink > 1n ? this.#firstNames.get(inodeOf(stat)) : undefined;
    if (first !== undefined) {
      this.#add(this.#header(path, 'hardlink', stat, first));
      return null;
    }
    this.#addHeader(path, stat);
    this.#add(bytes);
    const size = Number(stat.size);
    const missing = size - bytes.length + paddingOf(size);
    if (missing > 0) this.#add(nothing.subarray(0, missing));
    return null;
  }

  /** Of a file; others with the same inode will be links to it. */
  #addHeader(path: string, stat: BigIntStats): void {
    this.#add(this.#header(path, 'file', stat));
    if (stat.nlink > 1n) this.#firstNames.set(inodeOf(stat), path);
  }

  /** Padded or cut to the size that its header tells, as GNU tar does with a file that changes while it is read. */
  async *#largeFile({ directory, above }: Level, name: string): AsyncGenerator<Uint8Array> {
    const file = await openIfThere(directory, name);
    if (!file) return;
    try {
      const stat = await file.stat({ bigint: true });
      assertRegular({ stat, path: `${directory.path}/${name}` }, operation);
      this.#addHeader(nameOf(above, name), stat);
      yield this.#flush();
      const size = Number(stat.size);
      for (let at = 0; at < size;) {
        const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) buffer.fill(0);
        const piece = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
        at += piece.length;
        yield piece;
      }
      this.#add(nothing.subarray(0, paddingOf(size)));
    } finally {
      await file.close();
    }
  }

  #header(name: string, kind: TarMember['kind'], stat: BigIntStats, target = ''): Buffer {
    const [uid, gid] = [Number(stat.uid), Number(stat.gid)];
    return encodeHeader({
      name,
      kind,
      target,
      mode: Number(stat.mode & 0o7777n),
      uid,
      gid,
      size: kind === 'file' ? Number(stat.size) : 0,
      modifiedSeconds: Math.floor(Number(stat.mtimeMs) / 1000),
      owner: remembered(this.#owners, uid, () => this.context.accounts.ownerName(uid)),
      group: remembered(this.#groups, gid, () => this.context.accounts.groupName(gid)),
    });
  }

  #add(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #flush(): Uint8Array {
    const bytes = Buffer.concat(this.#waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return bytes;
  }
}

function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** null where it has gone meanwhile. */
async function openIfThere(directory: Directory, name: string): Promise<FileHandle | null> {
  try {
    return await directory.openToRead(name);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return null;
  }
}

function nameOf(above: readonly string[], name: string): string {
  return above.length === 0 ? `./${name}` : `./${above.join('/')}/${name}`;
}

function remembered(names: Map<number, string>, id: number, find: () => string | null): string {
  const known = names.get(id);
  if (known !== undefined) return known;
  const name = find() ?? '';
  names.set(id, name);
  return name;
}
