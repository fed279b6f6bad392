/** Defines a desktop route once: the worker answers it, and the daemon forwards it. */
import type { z } from 'zod';
import type { Desktop } from '../../core/desktop/desktop.ts';
import {
  routesFor,
  type ContentBody,
  type RawAnswer,
  type Route,
  type RouteDefinition,
  type SurfaceStyle,
} from '../../http/route/route.ts';

export interface DesktopDeps {
  readonly desktop: Desktop;
}

/** How errors of core become errors of the surface. */
export type Refuse = NonNullable<SurfaceStyle['refuse']>;

export type DesktopRoute = (refuse: Refuse) => Route<DesktopDeps>;

/** Like `route` of a surface. No schema transforms its input, because the daemon forwards what it has validated. */
export function desktopRoute<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  D extends z.ZodType | undefined = undefined,
  R extends RawAnswer | undefined = undefined,
  C extends ContentBody | undefined = undefined,
>(definition: RouteDefinition<DesktopDeps, P, Q, B, D, undefined, R, undefined, undefined, C>): DesktopRoute {
  return (refuse) => routesFor<DesktopDeps>({ isNullAbsent: true, refuse })(definition);
}
