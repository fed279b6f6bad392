/** Writes the schemas that kubeconform reads: those of Kubernetes, and those of agent-sandbox. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { definitions } from '../../tools/deploy/programs.mjs';

interface Schema {
  [key: string]: unknown;
  properties?: Record<string, Schema>;
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** For `kubeconform -schema-location`. */
export const location = '{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json';

export function writeSchemas(folder: string): void {
  const kubernetes = (JSON.parse(readFileSync(definitions, 'utf8')) as { definitions: Record<string, Schema> })
    .definitions;
  for (const [name, schema] of Object.entries(kubernetes)) {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as Kind[];
    for (const kind of kinds.filter(() => name.startsWith('io.k8s.api.'))) write(folder, kind, schema, kubernetes);
  }
  const own = JSON.parse(readFileSync(join(import.meta.dirname, 'agent-sandbox.json'), 'utf8')) as {
    kinds: readonly (Kind & { readonly schema: Schema })[];
  };
  for (const { schema, ...kind } of own.kinds) write(folder, kind, schema, kubernetes);
}

function write(folder: string, { group, version, kind }: Kind, schema: Schema, all: Record<string, Schema>): void {
  const used = new Map<string, Schema>();
  const root = strict(schema);
  collect(root, all, used);
  // kubeconform takes the version of the core group, which has no name, for the group.
  const path = join(folder, group || version, `${kind.toLowerCase()}_${version}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ ...root, definitions: Object.fromEntries(used) }));
}

function collect(schema: unknown, all: Record<string, Schema>, used: Map<string, Schema>): void {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    const found = all[name];
    if (used.has(name)) continue;
    if (!found) throw new Error(`the schemas of Kubernetes have no ${name}`);
    used.set(name, strict(found));
    collect(used.get(name), all, used);
  }
}

/** Types whose value may also be a number, although the description says that it is a string. */
const numbersToo = /^(?:Quantity is|IntOrString is)/;

/** A misspelt field is an error, as it is with `kubectl apply`. */
function strict(schema: Schema): Schema {
  const { description, ...rest } = schema;
  if (numbersToo.test(String(description))) return { type: ['string', 'integer', 'number'] };
  if (!rest.properties) return rest;
  return { additionalProperties: false, ...rest };
}
