/** Sends a tree as a tar archive while it reads it: as much of it in memory as one piece, however large it is. */
import type { BigIntStats } from 'node:fs';
import { FileFailure, asFileOperation, errnoOf, fileFailureOf } from '../../kit/file-failure.ts';
import { encodePath } from '../../kit/path-text.ts';
import type { Directory } from '../../platform/directory.ts';
import { CoreError } from '../../kit/errors.ts';
import type { FilesContext } from './context.ts';
import { Glob, GlobError } from './glob.ts';
import { assertRegular } from './replace.ts';
import { Slices } from './slices.ts';
import { archiveEnd, encodeHeader, paddingOf, type TarMember } from './tar-header.ts';
import { openTarget } from './target.ts';

const operation = 'tree';
/** Up to this size a file is read in one go. */
const smallBytes = 64 * 1024;
const pieceBytes = 256 * 1024;

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
    if (name === null) {
      this.#add(this.#header('.', 'directory', await directory.own()));
      yield* this.#walk(directory, []);
    } else {
      yield* this.#entry(directory, name, [name]);
    }
    this.#add(archiveEnd);
    yield this.#flush();
  }

  /** In the order of the bytes of the names, so that the same tree is the same archive. */
  async *#walk(directory: Directory, above: readonly string[]): AsyncGenerator<Uint8Array> {
    const names = directory.namesNow().map((name) => ({ name, bytes: encodePath(name) }));
    names.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    for (const { name } of names) {
      const path = [...above, name];
      if (this.excluded.some((glob) => glob.matches(path))) continue;
      yield* this.#entry(directory, name, path);
    }
  }

  async *#entry(directory: Directory, name: string, path: readonly string[]): AsyncGenerator<Uint8Array> {
    if (this.#slices.isOver) await this.#slices.pause();
    if (this.#waitingBytes >= pieceBytes) yield this.#flush();
    try {
      const stat = directory.findNow(name);
      if (stat?.isFile()) yield* this.#file(directory, name, path, stat);
      else if (stat?.isSymbolicLink())
        this.#add(this.#header(nameOf(path), 'symlink', stat, await directory.readLink(name)));
      else if (stat?.isDirectory()) yield* this.#directory(directory, name, path);
      // Sockets, pipes and devices have no content: they are left out.
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error; // It has gone meanwhile.
    }
  }

  async *#directory(above: Directory, name: string, path: readonly string[]): AsyncGenerator<Uint8Array> {
    await using directory = await above.openDirectory(name);
    this.#add(this.#header(nameOf(path), 'directory', await directory.own()));
    yield* this.#walk(directory, path);
  }

  async *#file(
    directory: Directory,
    name: string,
    path: readonly string[],
    stat: BigIntStats,
  ): AsyncGenerator<Uint8Array> {
    const inode = `${stat.dev}:${stat.ino}`;
    const first = stat.nlink > 1n ? this.#firstNames.get(inode) : undefined;
    if (first !== undefined) {
      this.#add(this.#header(nameOf(path), 'hardlink', stat, first));
      return;
    }
    const small = stat.size <= smallBytes ? directory.readNow(name, smallBytes) : null;
    if (small) {
      this.#add(this.#header(nameOf(path), 'file', small.stat));
      this.#add(padded(small.bytes, Number(small.stat.size)));
    } else {
      yield* this.#largeFile(directory, name, path);
    }
    if (stat.nlink > 1n) this.#firstNames.set(inode, nameOf(path));
  }

  /** Padded or cut to the size that its header tells, as GNU tar does with a file that changes while it is read. */
  async *#largeFile(directory: Directory, name: string, path: readonly string[]): AsyncGenerator<Uint8Array> {
    await using file = await directory.openToRead(name);
    const stat = await file.stat({ bigint: true });
    assertRegular({ stat, path: `${directory.path}/${name}` }, operation);
    this.#add(this.#header(nameOf(path), 'file', stat));
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
    this.#add(Buffer.alloc(paddingOf(size)));
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

function nameOf(path: readonly string[]): string {
  return `./${path.join('/')}`;
}

function padded(bytes: Buffer, size: number): Buffer {
  const whole = Buffer.alloc(size + paddingOf(size));
  bytes.copy(whole);
  return whole;
}

function remembered(names: Map<number, string>, id: number, find: () => string | null): string {
  const known = names.get(id);
  if (known !== undefined) return known;
  const name = find() ?? '';
  names.set(id, name);
  return name;
}
