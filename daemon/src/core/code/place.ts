/** Where an interpreter was started, so that its first cell need not ask for the same again. */
import type { EnvironmentChanges } from '../identity/environment.ts';
import type { CellRecord } from './cell.ts';

export interface Place {
  readonly cwd: string;
  readonly env: EnvironmentChanges;
}

/** The cell without what is so already: kernels of some languages cannot change either. */
export function within(place: Place | null, cell: CellRecord): CellRecord {
  if (place === null) return cell;
  const env = Object.entries(cell.env).filter(([name, value]) => place.env[name] !== value);
  return { ...cell, cwd: cell.cwd === place.cwd ? null : cell.cwd, env: Object.fromEntries(env) };
}
