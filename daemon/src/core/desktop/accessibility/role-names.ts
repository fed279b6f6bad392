/** Names AT-SPI roles, which the protocol sends as numbers. */
import { once } from '../../../kit/once.ts';
import { readTable } from '../../../kit/text/table.ts';

export class RoleNames {
  readonly #names = once(() => readTable(this.table).map((words) => words.join(' ')));

  /** The table has a name in each line, in the order of the numbers. It is read at the first role. */
  constructor(private readonly table: string) {}

  /** A role that is newer than the table is reported as `extended`. */
  nameOf(role: number): string {
    return this.#names()[role] ?? 'extended';
  }
}

/** Lower case, with the separators that the names use; `button` is the newer name of `push button`. */
export function normalRole(name: string): string {
  const normal = name.trim().toLowerCase().replaceAll(/[_-]/g, ' ');
  return normal === 'button' ? 'push button' : normal;
}
