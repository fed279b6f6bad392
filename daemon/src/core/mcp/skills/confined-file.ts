/** Opens entries below a root directory, wherever links lead, and refuses what is outside of the root. */
import { constants, promises as fs, type Stats } from 'node:fs';
import { decodePath } from '../../../kit/text/path-text.ts';
import { SkillProblem } from './problem.ts';

/** Opens an entry without any effect on a device or a pipe (open(2)); Node has no name for this flag. */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/** An entry below the root, held open, so that no program can replace it between a check and a read. */
export class ConfinedEntry implements AsyncDisposable {
  private constructor(
    /** The path with all links resolved. */
    readonly path: string,
    readonly stat: Stats,
    private readonly handle: fs.FileHandle,
  ) {}

  /** `root` is a path without links. Throws `SkillProblem` when links lead out of the root, and system errors. */
  static async open(path: string, root: string): Promise<ConfinedEntry> {
    const handle = await fs.open(path, O_PATH);
    try {
      const real = await pathOf(handle);
      if (real !== root && !real.startsWith(`${root}/`)) throw new SkillProblem('a link leads out of the directory');
      return new ConfinedEntry(real, await handle.stat(), handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Reads at most so many bytes from the start. Throws `SkillProblem` for what is not a regular file. */
  async readStart(maxBytes: number): Promise<Buffer> {
    if (!this.stat.isFile()) throw new SkillProblem('it is not a regular file');
    await using file = await fs.open(ownPath(this.handle), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const buffer = Buffer.alloc(Math.min(maxBytes, this.stat.size));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  }

  /** The names in a directory, in the order of the file system, and at most so many of them. */
  async names(maxNames: number): Promise<{ readonly names: string[]; readonly isCut: boolean }> {
    const names: string[] = [];
    // Not `readdir`, which would hold every name of a directory of any size.
    for await (const { name } of await fs.opendir(ownPath(this.handle))) {
      if (names.length === maxNames) return { names, isCut: true };
      names.push(name);
    }
    return { names, isCut: false };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }
}

/** The path of a directory with all links resolved. Throws system errors. */
export async function rootOf(path: string): Promise<string> {
  await using handle = await fs.open(path, O_PATH | O_DIRECTORY);
  return await pathOf(handle);
}

async function pathOf(handle: fs.FileHandle): Promise<string> {
  return decodePath(await fs.readlink(ownPath(handle), 'buffer'));
}

/** A path that leads to the opened entry itself, even if its name now belongs to another one (proc(5)). */
function ownPath({ fd }: fs.FileHandle): string {
  return `/proc/self/fd/${fd}`;
}
