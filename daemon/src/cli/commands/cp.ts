/** `boxkeep cp`: copies files and directories between this machine and a sandbox. */
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { BoxError, type FileStat, type TransferOptions } from '../../../../clients/typescript/src/index.ts';
import type { Arguments } from '../arguments.ts';
import type { SystemTerminal } from '../attach/local.ts';
import { Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { outageReport, reconnectTime } from '../client/follow.ts';
import { onThisMachine } from '../client/local-files.ts';
import { Progress } from '../client/progress.ts';
import { inputPieces, standardError, standardOutput, writeAll } from '../client/standard-streams.ts';
import { untilSignalled } from '../client/until-signalled.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export function cp(system: SystemTerminal): Verb {
  return {
    usage: 'cp [url] <from> <to>',
    summary: 'copy files and directories in both directions',
    flags: {
      '--user NAME': 'the account that owns what is made there, and whose home ~ is',
      '--exclude GLOB': 'of a directory that comes from there: without these, any number of times',
      '--reconnect SECONDS': 'how long a daemon that is away is waited for; 60',
    },
    details: `The path in the sandbox begins with a colon and is absolute, or relative to the workspace: cp notes.txt :/srv/ and
cp :out . are copies there and back. A target that is a directory, or ends with /, takes the name of the source; of dir/.
only the entries are copied. - is standard input or standard output, for a single file. Write ./:name for a file here
whose name begins with a colon.

Files keep their modes. A file is in its place when it is whole. The download of a file that broke off resumes with the same
cp; a directory comes again from its beginning.
${connectionHelp}`,
    words: ['the source', 'the target'],

    async run(given, environment) {
      const [from = '', to = ''] = given.words;
      const isDownload = from.startsWith(':');
      if (isDownload === to.startsWith(':'))
        throw new ClientFailure(
          'one of the two paths is in the sandbox and begins with a colon, as in cp a.txt :/srv/',
        );
      if (!isDownload && given.has('exclude'))
        throw new ClientFailure('--exclude is for directories that come from the sandbox');
      const client = new Client(given, environment);
      using progress = new Progress(system.isTerminal(standardError) && to !== '-', basename(from.replace(/^:/, '')));
      await untilSignalled(async (signal) => {
        const retryMs = reconnectTime(given);
        const onProgress = (bytes: number) => progress.show(bytes);
        const copy = new Copy(client, given, { signal, retryMs, onAway: outageReport(retryMs), onProgress });
        await (isDownload ? copy.download(from.slice(1), to) : copy.upload(from, to.slice(1)));
      });
      return 0;
    },
  };
}

class Copy {
  readonly #user: { readonly user?: string };
  readonly #exclude: { readonly exclude?: string };

  constructor(
    private readonly client: Client,
    given: Arguments,
    private readonly options: TransferOptions,
  ) {
    const [user, exclude] = [given.value('user'), given.all('exclude')];
    this.#user = user === null ? {} : { user };
    this.#exclude = exclude.length === 0 ? {} : { exclude: exclude.join(',') };
  }

  async upload(from: string, path: string): Promise<void> {
    const { files } = this.client.sandbox.orThrow;
    const isDirectory = from !== '-' && (await onThisMachine(from, () => stat(from))).isDirectory();
    const found = await this.#stat(path).catch(nullIfAbsent);
    const isInside = path.endsWith('/') || found?.is_directory === true;
    if (isInside && from === '-') throw new ClientFailure('standard input has no name; write the path of a file');
    const target = isInside ? join(path, nameOf(from, resolve(from))) : path;
    if (isDirectory) await files.uploadDirectory(from, target, this.#user, this.options);
    else await files.upload(from === '-' ? inputPieces() : from, target, this.#user, this.options);
  }

  async download(path: string, to: string): Promise<void> {
    const found = await this.#stat(path);
    const isInside = to.endsWith('/') || (to !== '-' && (await isDirectoryHere(to)));
    const target = isInside ? join(to, nameOf(path, found.path)) : to;
    if (found.is_directory) return await this.#downloadDirectory(path, target);
    const file = await this.client.sandbox.orThrow.files.download(path, this.#user, this.options);
    if (target === '-') {
      for await (const piece of file) await writeAll(standardOutput, piece);
      return;
    }
    const isStream = await stat(target).then(
      (there) => !there.isFile(),
      () => false, // Nothing is there, so a file can be made.
    );
    // A device or a pipe takes the bytes, and stays.
    if (isStream) return await onThisMachine(target, () => writeFile(target, file));
    await onThisMachine(dirname(target), () => mkdir(dirname(target), { recursive: true }));
    await file.saveTo(target);
    await onThisMachine(target, () => chmod(target, file.stat.mode & 0o777)); // Whatever the umask here is.
  }

  async #downloadDirectory(path: string, target: string): Promise<void> {
    if (target === '-') throw new ClientFailure(`${path} is a directory; write the name of one here`);
    const query = { ...this.#user, ...this.#exclude };
    await this.client.sandbox.orThrow.files.downloadDirectory(path, target, query, this.options);
  }

  async #stat(path: string): Promise<FileStat> {
    const { signal } = this.options;
    const call = (each: TransferOptions) => this.client.sandbox.files.stat(path || '.', this.#user, each);
    return (await this.client.answer(call, signal ? { signal } : {})).data;
  }
}

function nullIfAbsent(error: unknown): null {
  if (error instanceof BoxError && error.status === 404) return null;
  throw error;
}

/** The last name of a path; that of `full` where the path ends with dots. `dir/.` has none: its entries are meant. */
function nameOf(path: string, full: string): string {
  const name = basename(path);
  if (name === '.' && path !== '.') return '';
  return ['', '.', '..'].includes(name) ? basename(full) : name;
}

async function isDirectoryHere(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false, // Writing the file there says what is wrong.
  );
}
