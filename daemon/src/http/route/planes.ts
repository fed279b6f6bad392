/** Loads routes when the first request for one of them arrives. */
import { bindRoutes, type BoundRoute, type Route } from './route.ts';

/**
 * Routes below prefixes that no later plane shares. They are loaded at the first request for one of them, because the
 * schemas of all routes take tens of milliseconds and several megabytes.
 */
export interface Plane<Deps> {
  readonly prefixes: readonly string[];
  readonly load: () => Promise<readonly Route<Deps>[]>;
}

export interface BoundPlane {
  readonly prefixes: readonly string[];
  readonly load: () => Promise<readonly BoundRoute[]>;
}

/** The routes of modules that export nothing else. */
export async function routesOf<Deps>(
  ...modules: readonly Promise<Readonly<Record<string, Route<Deps>>>>[]
): Promise<readonly Route<Deps>[]> {
  return (await Promise.all(modules)).flatMap((module) => Object.values(module));
}

export async function loadAll<Deps>(planes: readonly Plane<Deps>[]): Promise<readonly Route<Deps>[]> {
  return (await Promise.all(planes.map(({ load }) => load()))).flat();
}

export function bindPlanes<Deps>(planes: readonly Plane<Deps>[], deps: Deps): BoundPlane[] {
  return planes.map(({ prefixes, load }) => ({ prefixes, load: async () => bindRoutes(await load(), deps) }));
}
