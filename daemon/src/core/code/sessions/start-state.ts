/** Remembers where an interpreter was started, so that its first cell need not request the same again. */
import type { EnvironmentChanges } from '../../processes/environment.ts';
import type { CellRecord } from '../cells/cell.ts';

export interface StartState {
  readonly cwd: string;
  readonly env: EnvironmentChanges;
}

/** Drops what the interpreter has already, because kernels of some languages cannot change it. */
export function within(place: StartState | null, cell: CellRecord): CellRecord {
  if (place === null) return cell;
  const env = Object.entries(cell.env).filter(([name, value]) => place.env[name] !== value);
  return { ...cell, cwd: cell.cwd === place.cwd ? null : cell.cwd, env: Object.fromEntries(env) };
}
