/** The routes that the three 1.x clients call, from the tables of the specification. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './sandbox.ts';

export interface ClientRoute {
  /** The route with `x1` for each parameter: `GET /v1/skills/x1/content`. */
  readonly route: string;
  /** The route with the parameters' names. */
  readonly name: string;
  /** `served`, `removed-404` and similar. */
  readonly class: string;
}

export function clientRoutes(): ClientRoute[] {
  const [, ...rows] = readTable('test/contract/v1/routes.csv');
  return rows.map(([method = '', path = '', , standing = '']) => ({
    route: `${method} ${path.replaceAll(/\{\w+\}/g, 'x1')}`,
    name: `${method} ${path}`,
    class: standing,
  }));
}

function readTable(path: string): string[][] {
  const lines = readFileSync(join(repositoryRoot, path), 'utf8').trim().split('\n');
  return lines.map((line) =>
    Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain]) =>
      quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
    ),
  );
}
