/** The dependencies of the v1 routes, and the `route` function that is typed with them. */
import type { Toolchains } from '../../core/ops/toolchain.ts';
import { routesFor } from '../../http/route/route.ts';
import type { Planes } from '../../operations/planes.ts';
import { refusalOfV1 } from './refusal.ts';

export interface V1Deps extends Planes {
  readonly toolchains: Toolchains;
  /** The OpenAPI document of this surface. Built on the first request, because it takes megabytes. */
  readonly openApi: () => Promise<object>;
}

export const route = routesFor<V1Deps>({ refuse: refusalOfV1 });
