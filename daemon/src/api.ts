/** The routes of each surface and the documents that describe them. */
import { describeApi } from './http/openapi.ts';
import { rootRoutes } from './surfaces/root/index.ts';
import { v1Routes } from './surfaces/v1/index.ts';
import { v2Routes } from './surfaces/v2/index.ts';
import { version } from './version.ts';

export { rootRoutes, v1Routes, v2Routes };

export const surfaceNames = ['v1', 'v2'] as const;
export type SurfaceName = (typeof surfaceNames)[number];

/** OpenAPI 3.1 of a surface, the unversioned routes included. */
export function describeSurface(surface: SurfaceName): object {
  const info = {
    title: `sandboxd ${surface}`,
    version,
    description:
      surface === 'v1'
        ? 'The surface of the 1.x system, kept for its clients.'
        : 'Commands, files, terminals, code, browser and desktop of one sandbox, over HTTP.',
  };
  return describeApi(info, [...(surface === 'v1' ? v1Routes : v2Routes), ...rootRoutes]);
}
