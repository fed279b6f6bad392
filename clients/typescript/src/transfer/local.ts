/** What a program has and a page has not: files, processes and digests of its own machine. */
import { BoxError } from '../result.ts';

/** The parts of the modules of Node that are used; Bun and Deno have the same modules. */
interface Modules {
  readonly crypto: {
    createHash(algorithm: 'sha256'): { update(bytes: Uint8Array): unknown; digest(form: 'hex'): string };
  };
  readonly 'fs/promises': {
    open(path: string, flags: string, mode?: number): Promise<LocalFile>;
    stat(path: string): Promise<{ readonly mode: number; isFile(): boolean }>;
    realpath(path: string): Promise<string>;
    mkdir(path: string, options: { readonly recursive: true }): Promise<unknown>;
    rename(from: string, to: string): Promise<void>;
    rm(path: string): Promise<void>;
  };
  readonly child_process: {
    spawn(program: string, args: readonly string[], options: object): Child;
  };
  readonly 'stream/promises': {
    pipeline(from: AsyncIterable<Uint8Array>, to: unknown): Promise<void>;
  };
}

export interface LocalFile {
  read(bytes: Uint8Array, at: number, length: number, position: number | null): Promise<{ readonly bytesRead: number }>;
  writeFile(bytes: Uint8Array): Promise<void>;
  stat(): Promise<{ readonly size: number }>;
  truncate(): Promise<void>;
  close(): Promise<void>;
}

interface Child {
  readonly stdin: unknown;
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  kill(): boolean;
  once(event: 'error', listener: (error: Error) => void): void;
  once(event: 'close', listener: (code: number | null) => void): void;
}

const { process } = globalThis as {
  readonly process?: { readonly versions?: { readonly node?: string }; readonly env: object };
};
/** Only programs send a stream over HTTP/1.1. */
export const isProgram = process?.versions?.node !== undefined;

/** Loaded by a name that bundlers for pages cannot follow. */
export async function local<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  if (!isProgram) {
    const hint = 'Pass a File, a Blob or a stream, and read a download with bytes() or for await.';
    throw new BoxError({ code: 'local_failed', message: 'a page has no files and no programs', hint });
  }
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`)) as Modules[Name];
}

/** Errors of the work are those of this machine, not of the sandbox. */
export async function onThisMachine<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BoxError ? error : localFailure(`${what}: ${(error as Error).message}`, error);
  }
}

export function localFailure(message: string, cause?: unknown): BoxError {
  return new BoxError({ code: 'local_failed', message, cause });
}

const pieceBytes = 256 * 1024;

export async function* piecesOfFile(path: string): AsyncGenerator<Uint8Array> {
  const { open } = await local('fs/promises');
  const file = await onThisMachine(path, () => open(path, 'r'));
  try {
    yield* piecesOfOpenFile(path, file);
  } finally {
    await file.close();
  }
}

/** Its permission bits as octal text. */
export async function modeOfFile(path: string): Promise<string> {
  const { stat } = await local('fs/promises');
  const { mode } = await onThisMachine(path, () => stat(path));
  return (mode & 0o777).toString(8).padStart(3, '0');
}

/** Where a file is written that is put in its place by renaming. A link leads to its target; what is no file is kept. */
export async function placeOfFile(path: string): Promise<string> {
  const { realpath, stat } = await local('fs/promises');
  const place = await realpath(path).catch(() => path); // What is not there has no other name.
  const found = await stat(place).catch(() => null);
  if (found?.isFile() === false) throw localFailure(`${path}: is not a regular file`);
  return place;
}

/** From the position of the file to its end. */
export async function* piecesOfOpenFile(path: string, file: LocalFile): AsyncGenerator<Uint8Array> {
  for (;;) {
    const bytes = new Uint8Array(pieceBytes);
    const { bytesRead } = await onThisMachine(path, () => file.read(bytes, 0, pieceBytes, null));
    if (bytesRead === 0) return;
    yield bytes.subarray(0, bytesRead);
  }
}

/** The archive of a directory, from the `tar` of this machine. Ends with an error where the archive is not whole. */
export async function* packed(directory: string): AsyncGenerator<Uint8Array> {
  const tar = await Tar.start(['-c', '-C', directory, '-f', '-', '.']);
  try {
    yield* tar.child.stdout;
    await tar.ended;
  } finally {
    tar.child.kill();
  }
}

/** Makes the files of an archive. */
export async function unpack(pieces: AsyncIterable<Uint8Array>, directory: string): Promise<void> {
  const { mkdir } = await local('fs/promises');
  await onThisMachine(directory, () => mkdir(directory, { recursive: true }));
  // The files belong to who receives them.
  const tar = await Tar.start(['-x', '-o', '-C', directory, '-f', '-']);
  try {
    const { pipeline } = await local('stream/promises');
    const fed = pipeline(pieces, tar.child.stdin);
    // When tar ends early, its own words say why the pipe broke.
    await Promise.all([
      fed.catch((error: unknown) => (error instanceof BoxError ? Promise.reject(error) : tar.ended)),
      tar.ended,
    ]);
  } finally {
    tar.child.kill();
  }
}

class Tar {
  private constructor(
    readonly child: Child,
    /** Rejects with what tar says. */
    readonly ended: Promise<void>,
  ) {}

  static async start(args: readonly string[]): Promise<Tar> {
    const { spawn } = await local('child_process');
    // The tar of macOS adds files of its own unless this variable is set.
    const child = spawn('tar', args, { env: { ...process?.env, COPYFILE_DISABLE: '1' } });
    const complaints = textOf(child.stderr);
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', (error) => reject(localFailure(`tar cannot be started here: ${error.message}`, error)));
      child.once('close', (code) => {
        if (code === 0) resolve();
        else void complaints.then((text) => reject(localFailure(`tar failed: ${text.trim() || String(code)}`)));
      });
    });
    ended.catch(() => undefined); // Its reader may come later, or have an error of its own.
    return new Tar(child, ended);
  }
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text;
}
