/** Interpreters that run one cell each and go with it; a program has a directory of its own, which goes too. */
import { HandedOver } from '../../kit/handed-over.ts';
import type { Cell } from './cell.ts';
import type { CodeSession, SessionRecord } from './session.ts';

/** Directories for programs. */
export interface Scratch {
  /** Throws a `FileFailure`, as the next one does. */
  make(user: string | null): Promise<string>;
  /** Throws `bad_argument` for a name that leads out of it. */
  fill(directory: string, files: Readonly<Record<string, string>>, user: string | null): Promise<void>;
  /** With all that is in it. */
  remove(directory: string): Promise<void>;
}

export interface SingleRunsDeps {
  readonly scratch: Scratch;
  /** All of them are another daemon's. */
  readonly isHandedOver: () => boolean;
  readonly onFault: (what: string, error: unknown) => void;
}

export class SingleRuns {
  readonly #sessions = new Set<CodeSession>();
  readonly #removing = new Set<Promise<void>>();

  constructor(private readonly deps: SingleRunsDeps) {}

  get all(): readonly CodeSession[] {
    return [...this.#sessions];
  }

  add(session: CodeSession): void {
    this.#sessions.add(session);
  }

  /** Starts its interpreter, and makes its directory. Throws what the two do. */
  async open(session: CodeSession, hasDirectory: boolean): Promise<void> {
    this.add(session);
    try {
      if (hasDirectory) session.record.scratch = await this.deps.scratch.make(session.record.user);
      await session.open();
    } catch (error) {
      await this.forget(session);
      throw error;
    }
  }

  /** Behind its cell nobody can use its interpreter any more. */
  async closeBehind(session: CodeSession, cell: Cell | null, lingerMs = 0): Promise<void> {
    while (cell && !cell.isOver) await cell.changed();
    if (lingerMs > 0) await new Promise((resolve) => setTimeout(resolve, lingerMs).unref());
    try {
      await session.close();
    } catch (error) {
      if (!(error instanceof HandedOver)) this.deps.onFault('an interpreter could not be ended', error);
    }
    await this.forget(session);
  }

  async forget(session: CodeSession): Promise<void> {
    if (this.#sessions.delete(session)) await this.removeDirectory(session.record);
  }

  async removeDirectory({ scratch }: SessionRecord): Promise<void> {
    if (scratch === undefined || this.deps.isHandedOver()) return;
    const removing = this.deps.scratch
      .remove(scratch)
      .catch((error: unknown) => this.deps.onFault(`${scratch} could not be removed`, error))
      .finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    await removing;
  }

  /** Ends those that have a directory, and resolves when none is left. */
  async settle(): Promise<void> {
    if (this.deps.isHandedOver()) return;
    const programs = this.all.filter(({ record }) => record.scratch !== undefined);
    await Promise.all(programs.map((session) => session.close()));
    await Promise.all(programs.map((session) => this.forget(session)));
    await Promise.all(this.#removing);
  }
}
