/** Unpacks a tar archive into a directory. Nothing is visible before the whole archive has been checked. */
import { nullOn } from '../../../kit/errno.ts';
import { guarding } from '../../../kit/guarding.ts';
import { FileFailure, asFileOperation } from '../../../kit/file-failure.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import type { TreeWriter } from '../../../platform/files/tree-writer.ts';
import { ArchiveShape, type Accepted, type Member } from './shape.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { assertMergeable, mergeTree } from './merge.ts';
import { ownerFor } from '../owner.ts';
import { clearPart, type Part } from '../parts.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import type { Owner } from '../../../kit/types/owner.ts';
import { ArchiveFault, TarReader } from './tar-reader.ts';
import { groupIn, openNearest, openTarget, parentOf, type Target } from '../target.ts';

const operation = 'tree';
const maxBytes = 4 * 1024 ** 3;
/** A file up to this size is written in one call. */
const smallBytes = 64 * 1024;
const defaultMode = 0o755;

export interface UnpackRequest extends FileRequest {
  /** The archive, uncompressed. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Keep links that lead out of the tree as they are. Otherwise such an archive is rejected. */
  readonly keepsLinks: boolean;
}

export interface UnpackedTree {
  readonly path: string;
  /** `rename` if the destination was created, `merge` if the destination existed. */
  readonly mode: 'rename' | 'merge';
  readonly entries: number;
  /** Total size of the contents of all files. */
  readonly bytes: number;
}

export async function unpackTree(context: FilesContext, request: UnpackRequest): Promise<UnpackedTree> {
  const path = context.paths.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation(operation, path, async () => {
    await using home = await openHome(context, path);
    await using tree = await PrivateTree.make(context, home, owner);
    const unpacking = new Unpacking(path, tree.writer);
    await unpacking.readAll(request.pieces, request.keepsLinks);
    const mode = await land(context, { path, owner, tree, shape: unpacking.shape });
    return { path, mode, entries: unpacking.shape.entries, bytes: unpacking.bytes };
  });
}

/**
 * Opens the directory in which the tree is built. The directory exists and is on the file system of the destination.
 * Throws when the destination cannot be a directory.
 */
async function openHome({ openDirectory }: FilesContext, path: string): Promise<Directory> {
  if (path === '/') return openDirectory(path);
  const target = await nullOn('ENOENT', openTarget(openDirectory, path, { operation, followLinks: true }));
  if (!target) return await openNearest(openDirectory, parentOf(path), operation); // A parent is missing.
  return await guarding(target, async () => {
    assertDirectory(target);
    if (!target.stat || target.stat.dev === (await target.directory.own()).dev) return target.directory;
    const inside = await target.directory.openDirectory(target.name);
    await target[Symbol.asyncDispose]();
    return inside;
  });
}

function assertDirectory({ path, stat }: Target): void {
  if (!stat || stat.isDirectory()) return;
  throw FileFailure.of(operation, path, 'EEXIST', {
    message: `${path}: exists and is not a directory`,
    hint: 'Pass the path of a directory, or a path that does not exist yet.',
  });
}

/** A hidden directory that only the daemon can enter until the directory moves to its destination. */
class PrivateTree implements AsyncDisposable {
  private constructor(
    readonly home: Directory,
    private readonly part: Part,
    readonly directory: Directory,
    readonly writer: TreeWriter,
  ) {}

  static async make(context: FilesContext, home: Directory, owner: Owner | null): Promise<PrivateTree> {
    const part = await context.parts.add(home.path);
    try {
      const directory = await home.makeDirectory(part.name, 0o700);
      const own = owner && { uid: owner.uid, gid: groupIn(await home.own(), owner) };
      return new PrivateTree(home, part, directory, context.treeWriter(directory, own));
    } catch (error) {
      await clearPart({ directory: home, name: part.name }, part, operation);
      throw error;
    }
  }

  get name(): string {
    return this.part.name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.directory[Symbol.asyncDispose]();
    // After a rename to the destination, nothing is left to remove.
    await clearPart({ directory: this.home, name: this.name }, this.part, operation);
  }
}

class Unpacking {
  readonly shape: ArchiveShape;
  /** Total size of the contents of all files. */
  bytes = 0;
  private readonly fault: ArchiveFault;
  #read = 0;
  readonly #links: Member[] = [];
  readonly #slices = new TimeSlices();

  constructor(
    private readonly path: string,
    private readonly writer: TreeWriter,
  ) {
    this.fault = new ArchiveFault(path);
    this.shape = new ArchiveShape(this.fault);
  }

  async readAll(pieces: AsyncIterable<Uint8Array>, keepsLinks: boolean): Promise<void> {
    await using archive = new TarReader(this.#bounded(pieces), this.fault);
    for (let header = await archive.next(); header; header = await archive.next()) {
      const accepted = this.shape.accept(header);
      const place = `${this.path === '/' ? '' : this.path}/${accepted.member.path}`;
      await asFileOperation(operation, place, () => this.#make(accepted, archive));
      if (this.#slices.isOver) await this.#slices.pause();
    }
    if (!keepsLinks) this.shape.assertLinksStay();
    await this.#finish();
  }

  /** Counts the bytes after decompression, because a small body may expand to a large archive. */
  async *#bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.#read += piece.length;
      this.#assertBound(this.#read);
      yield piece;
    }
  }

  #assertBound(bytes: number): void {
    if (bytes <= maxBytes) return;
    throw this.fault.tooLarge(`the archive has more than ${maxBytes} bytes`, 'Send it in several archives.');
  }

  async #make({ member, missing, isNew }: Accepted, archive: TarReader): Promise<void> {
    for (const { path } of missing) this.writer.makeDirectory(path);
    if (member.kind === 'directory') {
      if (isNew) this.writer.makeDirectory(member.path);
    } else if (member.kind === 'symlink') {
      this.#links.push(member);
    } else if (member.kind === 'hardlink') {
      this.writer.linkFile(member.path, member.target);
      for await (const _ of archive.content()); // Some tar writers repeat the content for a hard link.
    } else {
      this.bytes += member.size;
      this.#assertBound(this.bytes); // Checked before the content is written to the disk.
      if (member.size > smallBytes) await this.writer.writeLargeFile(member.path, archive.content(), member);
      else this.writer.writeFile(member.path, await archive.whole(), member);
    }
  }

  /** Creates links after all files, and sets modes and times of directories after all entries. */
  async #finish(): Promise<void> {
    for (const { path, target, modifiedSeconds } of this.#links) {
      this.writer.makeLink(path, target, modifiedSeconds);
      if (this.#slices.isOver) await this.#slices.pause();
    }
    const directories = [...this.shape.directories()].filter(({ path }) => path !== '');
    for (const directory of directories.toReversed()) {
      this.writer.finishDirectory(directory.path, directory);
      if (this.#slices.isOver) await this.#slices.pause();
    }
  }
}

interface Landing {
  readonly path: string;
  readonly owner: Owner | null;
  readonly tree: PrivateTree;
  readonly shape: ArchiveShape;
}

async function land(context: FilesContext, landing: Landing): Promise<UnpackedTree['mode']> {
  const { path, owner, tree, shape } = landing;
  if (path === '/') {
    await using root = await context.openDirectory(path);
    return await merge(root, landing);
  }
  const options = { operation, followLinks: true, parents: { owner, parts: context.parts } } as const;
  await using found = await openTarget(context.openDirectory, path, options);
  return await context.fileLocks.run(await found.key(), async () => {
    const target = await found.again();
    assertDirectory(target);
    if (target.stat) {
      await using directory = await target.directory.openDirectory(target.name);
      return await merge(directory, landing);
    }
    const own = { mode: defaultMode, modifiedSeconds: Math.floor(Date.now() / 1000), ...shape.directory('') };
    tree.writer.finishDirectory('.', own);
    await target.directory.change(() => tree.home.rename(tree.name, target.directory, target.name));
    return 'rename';
  });
}

async function merge(directory: Directory, { tree, shape }: Landing): Promise<'merge'> {
  const slices = new TimeSlices();
  await assertMergeable(directory, shape, slices);
  await directory.change(() => mergeTree(tree.directory, directory, shape, slices));
  return 'merge';
}
