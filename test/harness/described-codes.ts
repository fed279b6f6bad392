/** Compares the code of a failure of v2 with those that the description lists for its route and status. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../tools/repository.mjs';

interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

/** The schema of a failure, whose `data` is a schema of its own with the codes. */
interface Failure {
  readonly properties: { readonly data?: { readonly $ref?: string } };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Record<string, Answer> }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

let known: ReturnType<typeof readRoutes> | null = null;

function readRoutes() {
  const { paths, components } = JSON.parse(readFileSync(join(repositoryRoot, 'spec/v2.json'), 'utf8')) as Document;
  const resolved = ($ref = ''): unknown => components.schemas[$ref.split('/').at(-1) ?? ''];
  const codesOf = ({ content }: Answer): readonly string[] => {
    const failure = resolved(content?.['application/json']?.schema?.$ref) as Failure | undefined;
    const data = resolved(failure?.properties.data?.$ref) as
      | { properties?: { code?: { enum?: string[] } } }
      | undefined;
    return data?.properties?.code?.enum ?? [];
  };
  return Object.entries(paths)
    .toSorted(([a], [b]) => (a < b ? -1 : 1)) // A literal segment is matched before a parameter, as the router does.
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        codes: new Map(Object.entries(responses).map(([status, answer]) => [Number(status), codesOf(answer)])),
      })),
    );
}

/** What a request comes to that reaches no route, or none of its own. */
const outside = ['route_not_found', 'method_not_allowed', 'unauthorized', 'malformed_request', 'forbidden'];

/** Null when the code is described, a sentence otherwise. */
export function undescribedCode(route: string, status: number, data: unknown): string | null {
  const [method = '', path = ''] = route.split(/[ ?]/);
  if (status < 400 || !/^\/v2(\/|$)/.test(path)) return null;
  const code = String((data as { code?: unknown } | null)?.code);
  const isFlagged = typeof (data as { retryable?: unknown } | null)?.retryable === 'boolean';
  if (!isFlagged) return `${route} answers ${status} without retryable: ${JSON.stringify(data)}`;
  known ??= readRoutes();
  const served = known.find((one) => one.method === (method === 'HEAD' ? 'GET' : method) && one.path.test(path));
  const described = served === undefined ? outside : [...outside.slice(1, 2), ...(served.codes.get(status) ?? [])];
  return described.includes(code)
    ? null
    : `${route} answers ${status} with ${code}, described are ${described.join(', ')}`;
}
