/** Receives a file of any size as a stream. The client may name the destination before or after the content. */
import { errnoOf } from '../../../kit/errno.ts';
import { FileFailure, asFileOperation } from '../../../kit/file-failure.ts';
import { readPath } from '../../../kit/text/path-text.ts';
import type { Owner } from '../../../kit/types/owner.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import type { FilesContext } from '../context.ts';
import { ownerFor } from '../owner.ts';
import { assertRegular, openArrival, openArrivalIn, writeAll, type Arrival, type NewContent } from './replace.ts';
import type { WrittenFile } from './write.ts';
import { makeOwned, openNearest, openTarget, Target, type TargetOptions } from '../target.ts';

const operation = 'upload';

export type UploadedFile = Pick<WrittenFile, 'path' | 'size'>;

interface Received extends Omit<UploadedFile, 'path'> {
  readonly arrival: Arrival;
  readonly fileName: string;
}

/** Where a file without a path lands: in the temporary directory, or in a subdirectory for its owner. */
export type UnnamedPlace = 'temporary' | 'uploads';

/** The upload of one request. Disposal removes content that has not landed. */
export class Upload implements AsyncDisposable {
  readonly #resources = new AsyncDisposableStack();
  readonly #owner: Owner | null;
  #path: string | null = null;
  #target: Target | null = null;
  #received: Received | null = null;

  /**
   * `user` owns everything that is created. `onPiece` gets each piece while another thread writes it, such as for a
   * digest. Throws `bad_argument`.
   */
  constructor(
    private readonly context: FilesContext,
    private readonly user: string | null,
    private readonly unnamedPlace: UnnamedPlace,
    private readonly onPiece: (piece: Uint8Array) => void = () => undefined,
  ) {
    this.#owner = ownerFor(context.accounts, user);
  }

  /** Sets the destination: a file, or a directory that receives the file under the client's file name. */
  setPath(path: string): void {
    this.#path = path;
  }

  get hasPath(): boolean {
    return this.#path !== null;
  }

  /** Call at most once. `fileName` is the client's name for the file. */
  async receive(fileName: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#inPlace(async () => {
      const arrival = this.#resources.use(await this.#openArrival(fileName));
      let size = 0;
      for await (const piece of pieces) {
        const written = writeAll(arrival.file, piece);
        this.onPiece(piece);
        size += piece.length;
        await written;
      }
      this.#received = { arrival, fileName, size };
    });
  }

  /** Moves the received file to its destination in one step. `finish` gets the whole file just before. */
  async land({ finish, mode = null }: Partial<Pick<NewContent, 'finish' | 'mode'>> = {}): Promise<UploadedFile> {
    const received = this.#received;
    if (!received) throw new Error('nothing has been received');
    return await this.#inPlace(async () => {
      const parents = { owner: this.#owner, parts: this.context.parts };
      const target = this.#target ?? (await this.#openTarget(received.fileName, { parents }));
      const options = { operation, owner: this.#owner, mode, ...(finish && { finish }) } as const;
      await this.context.fileLocks.run(await target.key(), async () =>
        received.arrival.land(await target.again(), options),
      );
      return { path: target.path, size: received.size };
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }

  #inPlace<T>(work: () => Promise<T>): Promise<T> {
    const { context, user } = this;
    const path = this.#path === null ? context.temporaryDirectory : context.paths.resolve(this.#path, user);
    return asFileOperation(operation, path, work);
  }

  /** Stages the file in the nearest existing parent, so that a failed upload creates no directory. */
  async #openArrival(fileName: string): Promise<Arrival> {
    const { context } = this;
    if (this.#path === null) return await openArrivalIn(context, await this.#uploadDirectory());
    try {
      this.#target = await this.#openTarget(fileName, {});
      return await openArrival(context, this.#target);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    const path = context.paths.resolve(this.#path, this.user);
    return await openArrivalIn(context, this.#resources.use(await openNearest(context.openDirectory, path, operation)));
  }

  async #openTarget(fileName: string, parents: Pick<TargetOptions, 'parents'>): Promise<Target> {
    if (this.#path === null) return this.#targetIn(await this.#uploadDirectory(), fileName);
    const path = this.context.paths.resolve(this.#path, this.user);
    const isDirectory = readPath(this.#path).endsWith('/') || path === '/';
    const target = isDirectory ? null : await this.#openAt(path, parents);
    if (target && !target.stat?.isDirectory()) return regular(target);
    if (fileName === '') throw nameless(path);
    return regular(await this.#openAt(`${path}/${plainName(fileName)}`, parents));
  }

  async #openAt(path: string, parents: Pick<TargetOptions, 'parents'>): Promise<Target> {
    const options = { operation, followLinks: true, ...parents } as const;
    return this.#resources.use(await openTarget(this.context.openDirectory, path, options));
  }

  /** Replaces an existing file with this name. A link is refused, because the client did not ask for its target. */
  async #targetIn(directory: Directory, fileName: string): Promise<Target> {
    const name = plainName(fileName);
    return regular(new Target(`${directory.path}/${name}`, directory, name, await directory.find(name)));
  }

  /** Verifies the owner, because any account can create this name in the temporary directory. */
  async #uploadDirectory(): Promise<Directory> {
    if (this.unnamedPlace === 'temporary') {
      return this.#resources.use(await this.context.openDirectory(this.context.temporaryDirectory));
    }
    const uid = this.#owner?.uid ?? process.geteuid?.() ?? 0;
    await using above = await this.context.openDirectory(this.context.temporaryDirectory);
    const directory = this.#resources.use(
      await makeOwned(above, `uploads-${uid}`, { owner: this.#owner, parts: this.context.parts }),
    );
    if ((await directory.own()).uid === BigInt(uid)) return directory;
    throw FileFailure.of(operation, directory.path, 'EPERM', {
      message: `${directory.path}: belongs to another account`,
      hint: 'Pass the path that the file should have.',
    });
  }
}

function regular(target: Target): Target {
  assertRegular(target, operation);
  return target;
}

/** The last segment of the client's file name, which may be a path from another operating system. */
function plainName(fileName: string): string {
  const name =
    fileName
      .split(/[/\\]/)
      .at(-1)
      ?.replaceAll(/[\u0000-\u001f\u007f]/g, '') ?? '';
  return name === '' || name === '.' || name === '..' ? 'upload' : name;
}

function nameless(path: string): FileFailure {
  return FileFailure.of(operation, path, 'EISDIR', {
    message: `${path}: is a directory, and the file came without a name`,
    hint: 'Pass the path of the file itself.',
  });
}
