/** The dependencies of the v2 routes, and the `route` function that is typed with them. */
import { routesFor, type SurfaceStyle } from '../../http/route/route.ts';
import type { Planes } from '../../operations/planes.ts';
import { refusalOfV2 } from './refusal.ts';

export interface V2Deps extends Planes {
  /** The OpenAPI document of this surface. Built on the first request, because it takes megabytes. */
  readonly openApi: () => Promise<object>;
}

export const style: SurfaceStyle = { isNullAbsent: true, isStrict: true, refuse: refusalOfV2 };

export const route = routesFor<V2Deps>(style);
