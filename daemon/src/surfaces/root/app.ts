/** The dependencies of the unversioned routes, and the `route` function that is typed with them. */
import { routesFor } from '../../http/route/route.ts';

export interface RootDeps {
  readonly version: string;
  /** For how long an upgrade has held requests; null while none is in progress. */
  readonly leavingMs: () => number | null;
  /** Seconds since the daemon process started. */
  readonly uptimeSeconds: () => number;
  /** The console page, or the script of one of its views. */
  readonly readConsole: (part: 'page' | 'editor' | 'terminal') => Promise<string>;
  /** The sites whose pages may frame the console, as a list for the Content-Security-Policy. */
  readonly frameAncestors: string;
  /** The description of every served route. */
  readonly openApi: () => Promise<object>;
  /** The routes of v2, one a line. */
  readonly routeList: () => Promise<string>;
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

export const route = routesFor<RootDeps>();
