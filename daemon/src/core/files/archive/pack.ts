/** Streams a directory tree as a tar archive while reading the tree, with bounded memory. */
import type { BigIntStats } from 'node:fs';
import { errnoOf, nullOn } from '../../../kit/errno.ts';
import { guarding } from '../../../kit/guarding.ts';
import { FileFailure, asFileOperation, fileFailureOf } from '../../../kit/file-failure.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import type { Entry } from '../../../platform/files/entries.ts';
import type { SmallFile } from '../../../platform/files/small-file.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { Glob, GlobError } from '../../../kit/text/glob.ts';
import { assertRegular, kindOf } from '../write/replace.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import { sortInSlices } from '../slices.ts';
import {
  archiveEnd,
  encodeEarlyEnd,
  encodeRecord,
  paddingOf,
  setIdBits,
  skippedKeyword,
  writeHeader,
  type TarMember,
} from './tar-header.ts';
import { openTarget } from '../target.ts';
import { Piece } from './piece.ts';

const operation = 'tree';
/** A file up to this size is read in one call. */
const smallBytes = 64 * 1024;
const pieceBytes = 256 * 1024;
/** A directory of this size has some hundred names, which are read in less than a millisecond. */
const smallListBytes = 16 * 1024;
/** A piece is complete when it has `pieceBytes`; one more small file and a few headers fit then. */
const pieceSpace = pieceBytes + smallBytes + 16 * 1024;

/** The archive names this many entries that it leaves out, and counts the others. */
const maxSkipped = 1000;

export interface PackRequest extends FileRequest {
  /**
   * Globs. Without a slash, a glob matches names at any depth; otherwise it matches paths below the directory.
   * Everything below a match is excluded too.
   */
  readonly exclude: readonly string[];
}

/** Reads the first piece before returning, so that an early failure becomes the response of the request. */
export async function packTree(context: FilesContext, request: PackRequest): Promise<PackedTree> {
  const path = context.paths.resolve(request.path, request.user);
  const excluded = request.exclude.map(globOf);
  return asFileOperation(operation, path, async () => {
    const { directory, name } = await openSource(context, path);
    const packing = new Packing(context, excluded);
    const pieces = packing.pieces(directory, name);
    const first = await guarding(directory, () => pieces.next());
    return new PackedTree(path, directory, packing, first, pieces);
  });
}

/** An archive whose first piece is ready. The caller must dispose of the tree. */
class PackedTree implements AsyncDisposable {
  #failure: FileFailure | null = null;

  constructor(
    readonly path: string,
    private readonly directory: Directory,
    private readonly packing: Packing,
    private readonly first: IteratorResult<Uint8Array>,
    private readonly rest: AsyncGenerator<Uint8Array>,
  ) {}

  /**
   * The archive; can be read once. Entries that vanish during the walk are skipped. If an entry cannot be read, the
   * archive ends early and contains the reason (`encodeEarlyEnd`).
   */
  async *pieces(): AsyncGenerator<Uint8Array> {
    if (!this.first.done) yield this.first.value;
    try {
      yield* this.rest;
    } catch (error) {
      const failure = fileFailureOf(error, operation, this.path);
      if (!(failure instanceof FileFailure)) throw failure;
      this.#failure = failure;
      yield this.packing.endEarly(failure.message);
    }
  }

  /** Valid after the last piece. The failure that ended the archive early, or null. */
  failure(): FileFailure | null {
    return this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest.return(undefined);
    await this.directory[Symbol.asyncDispose]();
  }
}

/** Opens the directory to pack. For a single file, opens its directory and also returns the name of the file. */
async function openSource(
  { openDirectory }: FilesContext,
  path: string,
): Promise<{ readonly directory: Directory; readonly name: string | null }> {
  const directory = await nullOn('ENOTDIR', openDirectory(path));
  if (directory) return { directory, name: null };
  const target = await openTarget(openDirectory, path, { operation, followLinks: true });
  return await guarding(target, async () => {
    assertRegular(target, operation);
    if (!target.stat) throw new FileFailure({ operation, path, errnoName: 'ENOENT' });
    return target;
  });
}

function globOf(text: string): Glob {
  try {
    return new Glob(text.includes('/') ? text.replace(/^\//, '') : `**/${text}`, {
      hasBraces: true,
      matchesHidden: true,
    });
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw new CoreError('bad_argument', `exclude ${JSON.stringify(text)} is not a glob: ${error.message}`, {
      hint: 'Globs are like *.log, node_modules, build/** or {a,b}; a backslash makes a character literal.',
    });
  }
}

/** A directory on the path of the walk. */
interface Level {
  readonly directory: Directory;
  /** Names from the root to this directory. */
  readonly path: readonly string[];
  /** What precedes the names of this directory in the archive: `./` or `./a/b/`. */
  readonly prefix: string;
  entries: readonly Entry[];
  at: number;
}

/** Builds one archive. */
class Packing {
  readonly #slices = new TimeSlices();
  /** The first archive name of each file with several hard links, by inode. */
  readonly #firstNames = new Map<string, string>();
  readonly #owners = new Map<number, string>();
  readonly #groups = new Map<number, string>();
  readonly #piece = new Piece(pieceSpace);
  readonly #space = (length: number) => this.#piece.space(length);
  /** What the archive leaves out, with the reason. */
  readonly #skipped: string[] = [];
  #skippedCount = 0;
  /** True while the content of a large file is being sent. */
  #isInContent = false;

  constructor(
    private readonly context: FilesContext,
    private readonly excluded: readonly Glob[],
  ) {}

  async *pieces(directory: Directory, name: string | null): AsyncGenerator<Uint8Array> {
    const entries = name === null ? [] : [{ name, isFile: true }];
    const levels: Level[] = [{ directory, path: [], prefix: './', entries, at: 0 }];
    try {
      if (name === null) await this.#enter(levels, '.');
      for (let level = levels.at(-1); level; level = levels.at(-1)) {
        if (this.#slices.isOver) await this.#slices.pause();
        if (this.#piece.length >= pieceBytes) yield this.#piece.take();
        const next = level.entries[level.at++];
        if (next === undefined) {
          // A descriptor without data has nothing to report when it is closed, so that nothing waits for that.
          if (levels.pop() !== undefined && levels.length > 0) void level.directory[Symbol.asyncDispose]();
          continue;
        }
        const left = this.#addEntry(level, next);
        if (left === 'directory') await this.#descend(levels, level, next.name);
        if (left === 'large') yield* this.#largeFile(level, next.name);
      }
    } finally {
      for (const { directory: below } of levels.slice(1)) await below[Symbol.asyncDispose]();
    }
    if (name === null && this.#skippedCount > 0) this.#addSkipped(directory);
    this.#piece.add(archiveEnd);
    yield this.#piece.take();
  }

  #skip(reason: string): void {
    this.#skippedCount += 1;
    if (this.#skipped.length < maxSkipped) this.#skipped.push(reason);
  }

  #skipSetId(name: string, { mode }: BigIntStats): void {
    if ((Number(mode) & setIdBits) !== 0) this.#skip(`${name} loses its set-ID bits`);
  }

  /** The number of entries, then a line for each. Python reads no pax header without a member, so the top comes again. */
  #addSkipped(directory: Directory): void {
    this.#piece.add(encodeRecord(skippedKeyword, [String(this.#skippedCount), ...this.#skipped].join('\n')));
    this.#addHeader('.', 'directory', directory.ownNow());
  }

  /** Returns the pending members and the reason. The reason cannot be added inside the content of a file. */
  endEarly(reason: string): Uint8Array {
    if (!this.#isInContent) this.#piece.add(encodeEarlyEnd(reason));
    return this.#piece.take();
  }

  /** Sorts the names, so that the same tree gives the same archive. */
  async #enter(levels: Level[], name: string): Promise<void> {
    const level = levels.at(-1)!;
    const { directory } = level;
    const stat = directory.ownNow();
    this.#addHeader(name, 'directory', stat);
    this.#skipSetId(name, stat);
    const entries: Entry[] = [];
    for (const entry of stat.size <= smallListBytes ? directory.entriesNow() : await directory.entries()) {
      if (this.excluded.length === 0 || !this.#isExcluded([...level.path, entry.name])) entries.push(entry);
      if (this.#slices.isOver) await this.#slices.pause();
    }
    level.entries = await sortInSlices(entries, (a, b) => (a.name < b.name ? -1 : 1), this.#slices);
  }

  #isExcluded(path: readonly string[]): boolean {
    return this.excluded.some((glob) => glob.matches(path));
  }

  async #descend(levels: Level[], { directory, path, prefix }: Level, name: string): Promise<void> {
    try {
      const below = await directory.openDirectory(name);
      levels.push({ directory: below, path: [...path, name], prefix: `${prefix}${name}/`, entries: [], at: 0 });
      await this.#enter(levels, prefix + name);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error; // The directory was deleted meanwhile.
    }
  }

  /** Adds a small entry completely. For other entries, returns the remaining work. */
  #addEntry({ directory, prefix }: Level, { name, isFile }: Entry): 'directory' | 'large' | null {
    if (isFile) {
      using file = directory.openFileNow(name);
      if (file) return this.#addFile(prefix + name, file);
    }
    try {
      const stat = directory.findNow(name);
      if (stat?.isDirectory()) return 'directory';
      if (stat?.isFile()) {
        using file = directory.openFileNow(name);
        return file && this.#addFile(prefix + name, file);
      }
      if (stat?.isSymbolicLink()) this.#addHeader(prefix + name, 'symlink', stat, directory.readLinkNow(name));
      else if (stat) this.#skip(`${prefix}${name} is ${kindOf(stat)}`);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error; // The entry was deleted meanwhile.
    }
    return null;
  }

  #addFile(path: string, file: SmallFile): 'large' | null {
    const { stat } = file;
    const first = stat.nlink > 1n ? this.#firstNames.get(inodeOf(stat)) : undefined;
    if (first !== undefined) {
      this.#addHeader(path, 'hardlink', stat, first);
      return null;
    }
    if (stat.size > smallBytes) return 'large';
    const before = this.#piece.length;
    try {
      this.#addFileHeader(path, stat);
      const size = Number(stat.size);
      const space = this.#piece.space(size + paddingOf(size));
      space.fill(0, file.read(space.subarray(0, size)));
    } catch (error) {
      this.#piece.truncate(before); // The space holds no content of the file.
      throw error;
    }
    return null;
  }

  /** Later files with the same inode become hard links to this one. */
  #addFileHeader(path: string, stat: BigIntStats): void {
    this.#addHeader(path, 'file', stat);
    this.#skipSetId(path, stat);
    if (stat.nlink > 1n) this.#firstNames.set(inodeOf(stat), path);
  }

  /** Pads or cuts the content to the size in its header, as GNU tar does for a file that changes while it is read. */
  async *#largeFile({ directory, prefix }: Level, name: string): AsyncGenerator<Uint8Array> {
    const file = await nullOn('ENOENT', directory.openToRead(name));
    if (!file) return;
    try {
      const stat = await file.stat({ bigint: true });
      assertRegular({ stat, path: `${directory.path}/${name}` }, operation);
      this.#addFileHeader(prefix + name, stat);
      yield this.#piece.take();
      this.#isInContent = true;
      const size = Number(stat.size);
      for (let at = 0; at < size;) {
        const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) buffer.fill(0);
        const piece = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
        at += piece.length;
        yield piece;
      }
      this.#isInContent = false;
      this.#piece.space(paddingOf(size)).fill(0);
    } finally {
      await file.close();
    }
  }

  #addHeader(name: string, kind: TarMember['kind'], stat: BigIntStats, target = ''): void {
    const [uid, gid] = [Number(stat.uid), Number(stat.gid)];
    const member = {
      name,
      kind,
      target,
      mode: Number(stat.mode & 0o1777n), // `unpackTree` rejects set-user-id and set-group-id bits.
      uid,
      gid,
      size: kind === 'file' ? Number(stat.size) : 0,
      modifiedSeconds: Math.floor(Number(stat.mtimeMs) / 1000),
      owner: this.#owners.getOrInsertComputed(uid, () => this.context.accounts.ownerName(uid) ?? ''),
      group: this.#groups.getOrInsertComputed(gid, () => this.context.accounts.groupName(gid) ?? ''),
    };
    writeHeader(member, this.#space);
  }
}

function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
