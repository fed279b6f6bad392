/** All unversioned routes. */
import type { Route } from '../../http/route/route.ts';
import type { RootDeps } from './app.ts';
import { health } from './health.ts';
import { consoleView, home } from './home.ts';
import { internalAuth } from './internal-auth.ts';
import { metrics } from './metrics.ts';
import { openApi } from './openapi.ts';
import { llmsText, routesOfV2 } from './route-list.ts';

export const rootRoutes: readonly Route<RootDeps>[] = [
  home,
  consoleView,
  health,
  internalAuth,
  metrics,
  openApi,
  llmsText,
  routesOfV2,
];
