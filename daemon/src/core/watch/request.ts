/** What a client asks of a watcher. */
import type { WatchSpec } from './watcher.ts';

export interface WatchRequest extends WatchSpec {
  /** The account whose home directory `~` stands for; null is the default account. */
  readonly user: string | null;
}
