/** The dependencies of the v1 routes, and the `route` function that is typed with them. */
import type { Toolchains } from '../../core/ops/toolchain.ts';
import { routesFor, type SurfaceStyle } from '../../http/route/route.ts';
import type { Planes } from '../../operations/planes.ts';
import { refusalOfV1 } from './refusal.ts';

export interface V1Deps extends Planes {
  readonly toolchains: Toolchains;
  /** The OpenAPI document of this surface. Built on the first request, because it takes megabytes. */
  readonly openApi: () => Promise<object>;
}

export const style: SurfaceStyle = { refuse: refusalOfV1 };

export const route = routesFor<V1Deps>(style);

/** Of the routes that both surfaces have under their own prefix. */
export const aliasStyle: SurfaceStyle = { ...style, isNullAbsent: true };
