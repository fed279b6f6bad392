/** What a row is: a few measurements that are taken together, chosen by one name. */
import type { Limit } from '../limit.ts';
import type { Measurement } from '../measurement.ts';
import type { Contestant, Peer } from '../peers/peer.ts';
import type { Sandboxd } from '../peers/sandboxd.ts';

export interface Field {
  /** All that take part, running; sandboxd first. */
  readonly contestants: readonly Contestant[];
  /** Those of them that the bench can start anew. */
  readonly starters: readonly Peer[];
  /** A sandboxd of the row's own. */
  openSandboxd(...flags: string[]): Promise<Sandboxd>;
  /** The same, with variables beside those of the bench. */
  openSandboxdIn(environment: Readonly<Record<string, string>>, ...flags: string[]): Promise<Sandboxd>;
  /** For a server that the row starts itself; null where servers may have all. */
  limitFor(name: string): Limit | null;
}

export interface Row {
  readonly name: string;
  measure(field: Field): Promise<Measurement[]>;
}
