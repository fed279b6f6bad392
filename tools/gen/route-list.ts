/** Lists the routes of a surface, one a line: method, path, the fields that are required, and what it does. */
import { resolved, type ApiDocument, type Operation, type Schema } from './reference.ts';

export function routeList(document: object): string {
  const { paths, components } = document as ApiDocument;
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const fields = requiredOf(operation, components.schemas);
      const inputs = fields.length === 0 ? '' : ` {${fields.join(', ')}}`;
      return `${method.toUpperCase()} ${path}${inputs}: ${operation.summary}`;
    }),
  );
  // Paths of one plane stand together, and shorter ones come first.
  return `${lines.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).join('\n')}\n`;
}

function keyOf(line: string): string {
  const [method = '', path = ''] = line.split(' ');
  return `${path.replace(/:$/, '')} ${method}`;
}

function requiredOf({ parameters = [], requestBody }: Operation, schemas: Readonly<Record<string, Schema>>): string[] {
  const inQuery = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => name);
  const body = resolved(requestBody?.content['application/json']?.schema, schemas);
  return [...inQuery, ...(body?.required ?? []), ...alternativesIn(body?.['x-rules'])];
}

/** `path|source` where one of the fields is needed. */
function alternativesIn(rules: unknown): string[] {
  if (Array.isArray(rules)) return rules.flatMap(alternativesIn);
  if (typeof rules !== 'object' || rules === null) return [];
  const { anyOf, allOf } = rules as {
    readonly anyOf?: readonly { readonly required?: readonly string[] }[];
    readonly allOf?: unknown;
  };
  if (!anyOf?.every(({ required }) => required?.length === 1)) return alternativesIn(allOf);
  return [anyOf.flatMap(({ required = [] }) => required).join('|')];
}
