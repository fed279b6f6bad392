/** Defines a browser route once, for both surfaces that serve it under their own prefix. */
import type { z } from 'zod';
import type { BrowserBackend } from '../../core/browser/backends/backend.ts';
import type { Browser } from '../../core/browser/browser.ts';
import type { FilesContext } from '../../core/files/context.ts';
import {
  routesFor,
  type ContentBody,
  type RawAnswer,
  type Route,
  type RouteDefinition,
  type SurfaceStyle,
} from '../../http/route/route.ts';

export interface BrowserDeps {
  readonly browser: Browser;
  readonly browserBackend: BrowserBackend;
  readonly files: Pick<FilesContext, 'paths'>;
  /** Fires when clients have to connect again: the daemon ends, or another one serves. */
  readonly ending: AbortSignal;
}

/** A surface that serves the browser routes. */
export interface Mount {
  /** For example `/v2`. */
  readonly prefix: string;
  /** Follows the name of an operation, because names are unique across surfaces. */
  readonly suffix: string;
  readonly style: SurfaceStyle;
  /** The clients of v1 know none. */
  readonly hasLivePictures: boolean;
}

/** A route that has no prefix yet. */
export type BrowserRoute = (mount: Mount) => Route<BrowserDeps>;

/** Like `route` of a surface; the path begins with `/browser`. */
export function browserRoute<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  D extends z.ZodType | undefined = undefined,
  R extends RawAnswer | undefined = undefined,
  C extends ContentBody | undefined = undefined,
>(definition: RouteDefinition<BrowserDeps, P, Q, B, D, undefined, R, undefined, undefined, C>) {
  return ({ prefix, suffix, style }: Mount) =>
    routesFor<BrowserDeps>(style)({
      ...definition,
      path: `${prefix}${definition.path}`,
      operation: `${definition.operation}${suffix}`,
    });
}
