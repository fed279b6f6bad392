/** What the unversioned routes work on, and the `route` function that knows it. */
import { routesFor } from '../../http/route.ts';

export interface RootDeps {
  readonly version: string;
  /** Seconds since the daemon process started. */
  readonly uptimeSeconds: () => number;
  readonly readConsole: () => Promise<string>;
  /** Whose pages may show the console within them, as a Content-Security-Policy lists them. */
  readonly frameAncestors: string;
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

export const route = routesFor<RootDeps>();
