/** What the v1 routes work on, and the `route` function that knows it. */
import { routesFor } from '../../http/route.ts';

export interface V1Deps {
  /** The OpenAPI document of this surface. */
  readonly openApi: object;
}

export const route = routesFor<V1Deps>();
