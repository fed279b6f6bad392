/** What the v1 routes work on, and the `route` function that knows it. */
import type { Capabilities } from '../../core/capabilities/capabilities.ts';
import type { Packages } from '../../core/ops/packages.ts';
import type { Sandbox } from '../../core/ops/sandbox.ts';
import type { Toolchains } from '../../core/ops/toolchain.ts';
import { routesFor } from '../../http/route.ts';

export interface V1Deps {
  readonly capabilities: Capabilities;
  readonly sandbox: Sandbox;
  readonly toolchains: Toolchains;
  readonly packages: Packages;
  /** The OpenAPI document of this surface; made when it is first asked for, because it takes megabytes. */
  readonly openApi: () => object;
}

export const route = routesFor<V1Deps>();
