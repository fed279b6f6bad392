/** A row: a few measurements that are taken together and chosen by one name. */
import type { Limit } from '../limit.ts';
import type { Measurement } from '../measurement.ts';
import type { Contestant, Peer } from '../peers/peer.ts';
import type { Boxkeep } from '../peers/boxkeep.ts';

export interface Field {
  /** All contestants, running, with boxkeep first. */
  readonly contestants: readonly Contestant[];
  /** The contestants that the bench can start again. */
  readonly starters: readonly Peer[];
  /** Opens a boxkeep for this row alone. */
  openBoxkeep(...flags: string[]): Promise<Boxkeep>;
  /** Like openBoxkeep, with additional environment variables. */
  openBoxkeepIn(environment: Readonly<Record<string, string>>, ...flags: string[]): Promise<Boxkeep>;
  /** The limit for a server that the row starts itself. Null for no limit. */
  limitFor(name: string): Limit | null;
}

export interface Row {
  readonly name: string;
  measure(field: Field): Promise<Measurement[]>;
}
