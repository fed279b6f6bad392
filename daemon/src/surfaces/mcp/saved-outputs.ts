/** Saves output that an answer could not hold, in a bounded number of files that an agent can read. */
import { randomBytes } from '../../kit/crypto.ts';
import type { FilesContext } from '../../core/files/context.ts';
import { deletePath } from '../../core/files/tree/delete.ts';
import { writeFile } from '../../core/files/write/write.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';

/** The oldest file is deleted when another one is saved. */
const maxFiles = 32;
/** Only the account of the commands reads them. */
const mode = 0o600;

export class SavedOutputs {
  readonly #paths: string[] = [];

  constructor(private readonly files: FilesContext) {}

  /** Returns the path; null when the system refuses the file, such as a full disk. */
  async save(text: string): Promise<string | null> {
    const path = `${this.files.temporaryDirectory}/boxkeep-output-${randomBytes(4).toString('hex')}.txt`;
    const request = { path, user: null, content: Buffer.from(text), append: false, ifMatch: null, mode };
    if ((await nullOn(CoreError, writeFile(this.files, request))) === null) return null;
    this.#paths.push(path);
    while (this.#paths.length > maxFiles) {
      const oldest = { path: this.#paths.shift() ?? '', user: null, recursive: false };
      await nullOn(CoreError, deletePath(this.files, oldest)); // An agent may have deleted the file.
    }
    return path;
  }
}
