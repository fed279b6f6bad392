/** Takes a file of any size as it comes, for a place that may be told before it or behind it. */
import { createHash } from 'node:crypto';
import { FileFailure, asFileOperation, errnoOf } from '../../kit/file-failure.ts';
import { readPath } from '../../kit/path-text.ts';
import type { Directory } from '../../platform/directory.ts';
import type { FilesContext } from './context.ts';
import { ownerFor, type Owner } from './owner.ts';
import { assertRegular, openArrival, openArrivalIn, writeAll, type Arrival } from './replace.ts';
import { makeOwned, openNearest, openTarget, Target, type TargetOptions } from './target.ts';

const operation = 'upload';

export interface UploadedFile {
  readonly path: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

interface Received {
  readonly arrival: Arrival;
  readonly fileName: string;
  readonly size: number;
  readonly sha256: string;
}

/** Of one request. What has not landed when it is disposed of leaves nothing. */
export class Upload implements AsyncDisposable {
  readonly #resources = new AsyncDisposableStack();
  readonly #owner: Owner | null;
  #path: string | null = null;
  #target: Target | null = null;
  #received: Received | null = null;

  /** `user` owns what is created. Throws `bad_argument`. */
  constructor(
    private readonly context: FilesContext,
    private readonly user: string | null,
  ) {
    this.#owner = ownerFor(context.accounts, user);
  }

  /** Where it goes: a file, or a directory that takes it under the name it came with. */
  setPath(path: string): void {
    this.#path = path;
  }

  get hasPath(): boolean {
    return this.#path !== null;
  }

  /** Once. `fileName` is what the client calls it. */
  async receive(fileName: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#inPlace(async () => {
      const arrival = this.#resources.use(await this.#openArrival(fileName));
      const hash = createHash('sha256');
      let size = 0;
      for await (const piece of pieces) {
        hash.update(piece);
        size += piece.length;
        await writeAll(arrival.file, piece);
      }
      this.#received = { arrival, fileName, size, sha256: hash.digest('hex') };
    });
  }

  /** Puts it in its place, in one step. */
  async land(): Promise<UploadedFile> {
    const received = this.#received;
    if (!received) throw new Error('nothing has been received');
    return await this.#inPlace(async () => {
      const parents = { owner: this.#owner };
      const target = this.#target ?? (await this.#openTarget(received.fileName, { parents }));
      const options = { operation, owner: this.#owner, mode: null } as const;
      await this.context.turns.take(await target.key(), async () =>
        received.arrival.land(await target.again(), options),
      );
      return { path: target.path, size: received.size, sha256: received.sha256 };
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }

  #inPlace<T>(work: () => Promise<T>): Promise<T> {
    const { context, user } = this;
    const path = this.#path === null ? context.temporaryDirectory : context.places.resolve(this.#path, user);
    return asFileOperation(operation, path, work);
  }

  /** Beside its place; where the way there is still to be made, in the nearest directory, so that a failure makes nothing. */
  async #openArrival(fileName: string): Promise<Arrival> {
    const { context } = this;
    if (this.#path === null) return await openArrivalIn(context, await this.#uploadDirectory());
    try {
      this.#target = await this.#openTarget(fileName, {});
      return await openArrival(context, this.#target);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    const path = context.places.resolve(this.#path, this.user);
    return await openArrivalIn(context, this.#resources.use(await openNearest(context.openDirectory, path, operation)));
  }

  async #openTarget(fileName: string, parents: Pick<TargetOptions, 'parents'>): Promise<Target> {
    if (this.#path === null) return this.#targetIn(await this.#uploadDirectory(), fileName);
    const path = this.context.places.resolve(this.#path, this.user);
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

  /** What is there by that name is replaced; a link is not followed, for nobody has asked for what it points at. */
  async #targetIn(directory: Directory, fileName: string): Promise<Target> {
    const name = plainName(fileName);
    return regular(new Target(`${directory.path}/${name}`, directory, name, await directory.find(name)));
  }

  /** In the temporary directory anybody can make one by that name. */
  async #uploadDirectory(): Promise<Directory> {
    const uid = this.#owner?.uid ?? process.geteuid?.() ?? 0;
    await using above = await this.context.openDirectory(this.context.temporaryDirectory);
    const directory = this.#resources.use(await makeOwned(above, `uploads-${uid}`, this.#owner));
    if ((await directory.own()).uid === BigInt(uid)) return directory;
    throw new FileFailure({
      operation,
      path: directory.path,
      errnoName: 'EPERM',
      message: `${directory.path}: belongs to another account`,
      hint: 'Give the path where the file is to go.',
    });
  }
}

function regular(target: Target): Target {
  assertRegular(target, operation);
  return target;
}

/** The last segment of what the client calls its file, which may be a path of another system. */
function plainName(fileName: string): string {
  const name =
    fileName
      .split(/[/\\]/)
      .at(-1)
      ?.replaceAll(/[\u0000-\u001f\u007f]/g, '') ?? '';
  return name === '' || name === '.' || name === '..' ? 'upload' : name;
}

function nameless(path: string): FileFailure {
  return new FileFailure({
    operation,
    path,
    errnoName: 'EISDIR',
    message: `${path}: is a directory, and the file came without a name`,
    hint: 'Give the path of the file itself.',
  });
}
