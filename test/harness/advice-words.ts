/** Finds names in the hint of a refusal that the route or the tool which refused does not have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../tools/repository.mjs';

/** A name on the wire: words joined by underscores. */
const wireName = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g;
/** Begins an id that the daemon has made. */
const madeId = /^(?:cmd|code|one|pty|req|ses)_/;

type Schema = Record<string, unknown>;

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly names: ReadonlySet<string>;
  /** Of its answers, which give a value to pass. */
  readonly answered: ReadonlySet<string>;
}

/** All names and all values that a schema mentions, with those of the schemas that it refers to. */
function namesIn(
  schema: unknown,
  components: Schema,
  found = new Set<string>(),
  seen = new Set<unknown>(),
): Set<string> {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return found;
  seen.add(schema);
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(value as object)) found.add(name);
    if (key === 'name' || key === 'const') found.add(String(value));
    if (key === 'enum') for (const name of value as unknown[]) found.add(String(name));
    if (key === '$ref') namesIn(components[String(value).split('/').at(-1) ?? ''], components, found, seen);
    else namesIn(value, components, found, seen);
  }
  return found;
}

function read(name: string): Schema {
  return JSON.parse(readFileSync(join(repositoryRoot, 'spec', name), 'utf8')) as Schema;
}

function routesIn(name: string): Route[] {
  const { paths, components } = read(name) as {
    paths: Record<string, Record<string, Schema>>;
    components: { schemas: Schema };
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      names: namesIn({ parameters, requestBody }, components.schemas),
      answered: namesIn(responses, components.schemas),
    })),
  );
}

const routes = new Map<string, Route[]>();

function routesOf(surface: string): Route[] {
  const known = routes.get(surface) ?? routesIn(`${surface}.json`);
  routes.set(surface, known);
  return known;
}

/** The names that the route, or a route that the hint mentions, does not have. `said` is what the client has sent. */
export function strangeNamesOf(route: string, hint: string, said: string): string[] {
  const surface = /^\w+ \/(v1|v2)\//.exec(route)?.[1];
  if (surface === undefined) return [];
  const mentioned = [...hint.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/v\d\/[^\s,;:?]+)/g)];
  const isCalled = ({ method, path }: Route, [calledMethod, calledPath = '']: readonly (string | undefined)[]) =>
    method === calledMethod && path.test(calledPath.replaceAll(/\{\w+\}/g, '-'));
  const own = routesOf(surface).filter((one) => isCalled(one, route.split(/[ ?]/)));
  const others = mentioned.flatMap(([, method, path = '']) =>
    routesOf(surface).filter((one) => isCalled(one, [method, path.replace(/\.$/, '')])),
  );
  const names = [...own.map((one) => one.names), ...others.flatMap((one) => [one.names, one.answered])];
  return strangeIn(hint, said, [...names.flatMap((some) => [...some]), ...wordsIn(mentioned.join(' '))]);
}

const tools = read('mcp-tools.json') as unknown as readonly Schema[];

/** The names that neither the tool has nor a tool that the text mentions. */
export function strangeNamesOfTool(name: string, text: string, said: string): string[] {
  if (!tools.some((tool) => tool['name'] === name)) return []; // A tool of another server.
  const named = tools.filter((tool) => tool['name'] === name || text.includes(String(tool['name'])));
  const names = named.flatMap((tool) => [String(tool['name']), ...namesIn(tool['inputSchema'], {})]);
  return strangeIn(text, said, names);
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(wireName)].map(([word]) => word);
}

function strangeIn(text: string, said: string, names: readonly string[]): string[] {
  const known = new Set(['api_key', ...tools.map((tool) => String(tool['name'])), ...names]);
  return wordsIn(text).filter((word) => !known.has(word) && !said.includes(word) && !madeId.test(word));
}
