/** What the unversioned routes work on, and the `route` function that knows it. */
import { routesFor } from '../../http/route.ts';

export interface RootDeps {
  readonly version: string;
  /** Seconds since the daemon process started. */
  readonly uptimeSeconds: () => number;
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

export const route = routesFor<RootDeps>();
