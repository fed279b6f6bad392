/** What the v2 routes work on, and the `route` function that knows it. */
import type { Commands } from '../../core/commands/commands.ts';
import { routesFor } from '../../http/route.ts';

export interface V2Deps {
  readonly commands: Commands;
  /** Fires when the daemon is going: streams say so and end. */
  readonly closing: AbortSignal;
  /** The OpenAPI document of this surface. */
  readonly openApi: object;
}

export const route = routesFor<V2Deps>();
