/** Repeats arguments of a tool in headers of the request, where the schema of the tool asks for that. */
import { isFields, type Fields } from '../../kit/types/fields.ts';

/** An argument that revision 2026-07-28 repeats in the header `Mcp-Param-<name>`, by its path in the arguments. */
export interface ParameterHeader {
  readonly path: readonly string[];
  readonly name: string;
}

const annotation = 'x-mcp-header';
const primitives = new Set(['string', 'integer', 'boolean']);
/** Deeper schemas are not searched, so that no schema can exhaust the stack. */
const maxDepth = 50;

/** Null for a schema with an annotation that the specification does not permit; such a tool must not be offered. */
export function parameterHeaders(schema: unknown): readonly ParameterHeader[] | null {
  const found: ParameterHeader[] = [];
  const names = new Set<string>();
  let isValid = true;
  const visit = (value: unknown, path: readonly string[] | null, depth: number): void => {
    if (!isFields(value) || depth > maxDepth) return;
    const name = value[annotation];
    // In `properties`, a name of a property may be the same word as the annotation.
    if (name !== undefined) {
      if (path === null || path.length === 0 || !isPermitted(name, value) || names.has(name.toLowerCase())) {
        isValid = false;
        return;
      }
      names.add(name.toLowerCase());
      found.push({ path, name });
    }
    for (const [key, child] of Object.entries(value)) {
      if (key === 'properties' && isFields(child)) {
        for (const [property, inner] of Object.entries(child)) visit(inner, path && [...path, property], depth + 1);
      } else if (typeof child === 'object' && key !== 'default' && key !== 'examples' && key !== 'enum') {
        for (const inner of Array.isArray(child) ? child : [child]) visit(inner, null, depth + 1);
      }
    }
  };
  visit(schema, [], 0);
  return isValid ? found : null;
}

function isPermitted(name: unknown, { type }: Fields): name is string {
  return typeof name === 'string' && /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/.test(name) && primitives.has(String(type));
}

/** The headers of a call. An argument that is absent or null has no header. */
export function headersOf(parameters: readonly ParameterHeader[], args: Fields): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, name } of parameters) {
    const value = path.reduce<unknown>((at, key) => (isFields(at) && Object.hasOwn(at, key) ? at[key] : null), args);
    if (['string', 'number', 'boolean'].includes(typeof value))
      headers[`Mcp-Param-${name}`] = headerValue(String(value));
  }
  return headers;
}

/** Text that a header cannot carry is sent as base64, between marks that the specification defines. */
export function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
