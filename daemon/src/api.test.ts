/** The planes of the surfaces: a route below the prefix of another plane would never be found. */
import { expect, test } from 'bun:test';
import { loadV1, v2Planes } from './api.ts';
import type { Plane } from './http/route/planes.ts';

type Prefixed = Pick<Plane<never>, 'prefixes' | 'load'>;

const firstFor = (planes: readonly Prefixed[], path: string) =>
  planes.find(({ prefixes }) => prefixes.some((prefix) => path.startsWith(prefix)));

const surfaces: readonly (readonly [name: string, planes: () => Promise<readonly Prefixed[]>])[] = [
  ['v1', async () => (await loadV1(true)).planes],
  ['v1 where it is taken away', async () => (await loadV1(false)).planes],
  ['v2', async () => v2Planes],
];

for (const [name, load] of surfaces) {
  test(`${name}: each route belongs to the first plane whose prefix matches`, async () => {
    const planes = await load();
    for (const plane of planes) {
      const routes = await plane.load();
      expect(routes.length).toBeGreaterThan(0);
      const lost = routes.filter(({ path }) => firstFor(planes, path) !== plane);
      expect(lost.map(({ path }) => path)).toEqual([]);
    }
  });
}
