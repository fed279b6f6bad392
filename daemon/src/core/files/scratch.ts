/** Creates temporary directories for code runs. Each belongs to the account of its run. */
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import type { FilesContext } from './context.ts';
import { deletePath } from './tree/delete.ts';
import { makeDirectory } from './write/make-directory.ts';
import { writeFile } from './write/write.ts';

const mode = 0o700;

export class ScratchDirectories {
  constructor(private readonly context: FilesContext) {}

  /** Throws a `FileFailure`. */
  async make(user: string | null): Promise<string> {
    const path = `${this.context.temporaryDirectory}/${mintId('code')}`;
    await makeDirectory(this.context, { path, user, mode, parents: false });
    return path;
  }

  /** Throws `bad_argument` before anything is written, or a `FileFailure`. */
  async fill(directory: string, files: Readonly<Record<string, string>>, user: string | null): Promise<void> {
    for (const name of Object.keys(files)) assertBelow(name);
    for (const [name, text] of Object.entries(files)) {
      const path = `${directory}/${name}`;
      await writeFile(this.context, {
        path,
        user,
        content: Buffer.from(text),
        append: false,
        ifMatch: null,
        mode: null,
      });
    }
  }

  async remove(path: string): Promise<void> {
    await deletePath(this.context, { path, user: null, recursive: true });
  }
}

function assertBelow(name: string): void {
  const isBelow = name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  if (isBelow && !name.includes('\0')) return;
  throw new CoreError('bad_argument', `files: ${JSON.stringify(name)} is not a name below the directory of the code`, {
    hint: 'Use names such as data.json and lib/index.js.',
  });
}
