/** Takes a tree as a tar archive: nothing of it lands before all of it has been read and found to be allowed. */
import { FileFailure, asFileOperation, errnoOf } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';
import type { TreeWriter } from '../../platform/tree-writer.ts';
import { ArchiveShape, type Accepted, type Member } from './archive-shape.ts';
import type { FilesContext } from './context.ts';
import { assertMergeable, mergeTree } from './merge.ts';
import { ownerFor, type Owner } from './owner.ts';
import { Slices } from '../../kit/slices.ts';
import { ArchiveFault, TarReader } from './tar-reader.ts';
import { groupIn, openNearest, openTarget, parentOf, type OpenDirectory, type Target } from './target.ts';

const operation = 'tree';
const mostBytes = 4 * 1024 ** 3;
/** Up to this size a file is written in one go. */
const smallBytes = 64 * 1024;
const defaultMode = 0o755;

export interface UnpackRequest {
  readonly path: string;
  readonly user: string | null;
  /** The archive, not compressed. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface UnpackedTree {
  readonly path: string;
  /** Whether the destination was made, or was there. */
  readonly mode: 'rename' | 'merge';
  readonly entries: number;
  /** Of the contents of all files. */
  readonly bytes: number;
}

export async function unpackTree(context: FilesContext, request: UnpackRequest): Promise<UnpackedTree> {
  const path = context.places.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation(operation, path, async () => {
    await using home = await openHome(context, path);
    await using tree = await PrivateTree.make(context, home, owner);
    const unpacking = new Unpacking(new ArchiveFault(path), tree.writer);
    await unpacking.readAll(request.pieces);
    const mode = await land(context, { path, owner, tree, shape: unpacking.shape });
    return { path, mode, entries: unpacking.shape.entries, bytes: unpacking.bytes };
  });
}

/** Where the tree is made: on the file system of the destination, in a directory that is there. Throws where no tree can go. */
async function openHome({ openDirectory }: FilesContext, path: string): Promise<Directory> {
  if (path === '/') return openDirectory(path);
  const target = await findTarget(openDirectory, path);
  if (!target) return await openNearest(openDirectory, parentOf(path), operation);
  try {
    assertDirectory(target);
    if (!target.stat || target.stat.dev === (await target.directory.own()).dev) return target.directory;
    const inside = await target.directory.openDirectory(target.name);
    await target[Symbol.asyncDispose]();
    return inside;
  } catch (error) {
    await target[Symbol.asyncDispose]();
    throw error;
  }
}

/** null where a part of the way is missing. */
async function findTarget(openDirectory: OpenDirectory, path: string): Promise<Target | null> {
  try {
    return await openTarget(openDirectory, path, { operation, followLinks: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function assertDirectory({ path, stat }: Target): void {
  if (!stat || stat.isDirectory()) return;
  throw new FileFailure({
    operation,
    path,
    errnoName: 'EEXIST',
    message: `${path}: is there, and is no directory`,
    hint: 'Give the path of a directory, or of nothing yet.',
  });
}

/** A hidden directory that only the daemon can enter, until it takes its place. */
class PrivateTree implements AsyncDisposable {
  private constructor(
    readonly home: Directory,
    readonly name: string,
    readonly directory: Directory,
    readonly writer: TreeWriter,
    private readonly done: () => Promise<void>,
  ) {}

  static async make(context: FilesContext, home: Directory, owner: Owner | null): Promise<PrivateTree> {
    const part = await context.parts.add(home.path);
    try {
      const directory = await home.makeDirectory(part.name, 0o700);
      const own = owner && { uid: owner.uid, gid: groupIn(await home.own(), owner) };
      return new PrivateTree(home, part.name, directory, context.treeWriter(directory, own), () => part.done());
    } catch (error) {
      await part.done();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.directory[Symbol.asyncDispose]();
    await this.home.removeTree(this.name); // What has landed is not there any more.
    await this.done();
  }
}

/** One archive on its way into a private tree. */
class Unpacking {
  readonly shape: ArchiveShape;
  /** Of the contents of all files. */
  bytes = 0;
  #read = 0;
  readonly #links: Member[] = [];
  readonly #slices = new Slices();

  constructor(
    private readonly fault: ArchiveFault,
    private readonly writer: TreeWriter,
  ) {
    this.shape = new ArchiveShape(fault);
  }

  async readAll(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await using archive = new TarReader(this.#bounded(pieces), this.fault);
    for (let header = await archive.next(); header; header = await archive.next()) {
      await this.#make(this.shape.accept(header), archive);
      if (this.#slices.isOver) await this.#slices.pause();
    }
    this.shape.assertLinksStay();
    await this.#finish();
  }

  /** Counted behind the decompressor: a small body may become a large archive. */
  async *#bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.#read += piece.length;
      this.#assertBound(this.#read);
      yield piece;
    }
  }

  #assertBound(bytes: number): void {
    if (bytes <= mostBytes) return;
    throw this.fault.tooLarge(`the archive has more than ${mostBytes} bytes`, 'Send it in several archives.');
  }

  async #make({ member, missing, isNew }: Accepted, archive: TarReader): Promise<void> {
    for (const { path } of missing) this.writer.makeDirectory(path);
    if (member.kind === 'directory') {
      if (isNew) this.writer.makeDirectory(member.path);
    } else if (member.kind === 'symlink') {
      this.#links.push(member);
    } else if (member.kind === 'hardlink') {
      this.writer.linkFile(member.path, member.target);
      for await (const _ of archive.content()); // Some writers send the content once more.
    } else {
      this.bytes += member.size;
      this.#assertBound(this.bytes); // Before anything of it is on the disk.
      if (member.size > smallBytes) await this.writer.writeLargeFile(member.path, archive.content(), member);
      else this.writer.writeFile(member.path, await archive.whole(), member);
    }
  }

  /** Links come when nothing is written any more, and directories get their modes and times when nothing is made in them. */
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
  const options = { operation, followLinks: true, parents: { owner } } as const;
  await using found = await openTarget(context.openDirectory, path, options);
  return await context.turns.take(await found.key(), async () => {
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
  const slices = new Slices();
  await assertMergeable(directory, shape, slices);
  await directory.change(() => mergeTree(tree.directory, directory, shape, slices));
  return 'merge';
}
