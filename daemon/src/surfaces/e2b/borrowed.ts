/** The variables that hold for one cell of a context, and what they were before. */
import type { CodeSession } from '../../core/code/sessions/session.ts';
import type { EnvironmentChanges } from '../../core/processes/environment.ts';

export class BorrowedVariables {
  readonly #before = new WeakMap<CodeSession, EnvironmentChanges>();

  /** `base` are the variables of an interpreter that no cell has changed. */
  constructor(private readonly base: Readonly<Record<string, string>>) {}

  /** What the next cell of the context sets: the variables of the last one are put back. */
  of(session: CodeSession, variables: EnvironmentChanges): EnvironmentChanges {
    const before = this.#before.get(session) ?? {};
    const { env } = session.record;
    const usual = (name: string) =>
      Object.hasOwn(before, name) ? before[name]! : (env[name] ?? this.base[name] ?? null);
    this.#before.set(session, Object.fromEntries(Object.keys(variables).map((name) => [name, usual(name)])));
    return { ...before, ...variables };
  }
}
