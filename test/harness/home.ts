/** Gives the root account of a daemon an empty home, so that no shell reads or changes the settings of the machine. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootKind, tool } from './root.ts';

const mountAccounts = `${tool('mount')} --bind "$0" /etc/passwd && exec "$@"`;

/** A home and an account file that names this home. It stands beside the directory of a sandbox. */
export class Home implements Disposable {
  readonly #directory: string;
  /** Without root no account can be changed, and the bare roots have homes of their own. */
  readonly #isUsed = process.getuid?.() === 0 && (rootKind === 'machine' || rootKind === 'pid1');

  constructor(besides: string) {
    this.#directory = `${besides}-home`;
    if (!this.#isUsed) return;
    mkdirSync(join(this.#directory, 'root'), { recursive: true });
    const accounts = readFileSync('/etc/passwd', 'utf8');
    const home = join(this.#directory, 'root');
    writeFileSync(this.accounts, accounts.replace(/^(root:(?:[^:]*:){4})[^:]*/m, `$1${home}`));
  }

  /** The account file. */
  get accounts(): string {
    return this.#isUsed ? join(this.#directory, 'passwd') : '/etc/passwd';
  }

  /** The prefix that runs a command with these accounts. */
  get launcher(): string[] {
    return this.#isUsed ? [tool('unshare'), '--mount', tool('sh'), '-c', mountAccounts, this.accounts] : [];
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
