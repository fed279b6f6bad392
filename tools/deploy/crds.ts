/**
 * Writes test/deploy/agent-sandbox.json from a checkout of kubernetes-sigs/agent-sandbox.
 *
 * `node_modules/.bin/bun tools/deploy/crds.ts CHECKOUT` reads the definitions below `k8s/crds`; the Go module
 * sigs.k8s.io/agent-sandbox is such a checkout. The result has the fields of the project itself; parts that Kubernetes
 * defines become references, because they are most of the 400 KB.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';

interface Schema {
  [key: string]: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const version = 'v1beta1';
const target = join(repositoryRoot, 'test/deploy/agent-sandbox.json');

/** The type of Kubernetes behind each path; a star is an element of a list. */
const core: Readonly<Record<string, string>> = {
  'spec.podTemplate.spec': 'io.k8s.api.core.v1.PodSpec',
  'spec.volumeClaimTemplates.*.spec': 'io.k8s.api.core.v1.PersistentVolumeClaimSpec',
  'spec.networkPolicy.ingress.*': 'io.k8s.api.networking.v1.NetworkPolicyIngressRule',
  'spec.networkPolicy.egress.*': 'io.k8s.api.networking.v1.NetworkPolicyEgressRule',
  metadata: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
};

function reduced(schema: Schema, path = ''): Schema {
  const type = core[path];
  if (type) return { $ref: `#/definitions/${type}` };
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const { properties, items, ...rest } = schema;
  const kept: Schema = Object.fromEntries(Object.entries(rest).filter(([key]) => !key.startsWith('x-')));
  if (properties) {
    const entries = Object.entries(properties).map(([name, value]) => [name, reduced(value, below(name))] as const);
    kept.properties = Object.fromEntries(entries);
    kept['additionalProperties'] = false;
  }
  if (items) kept.items = reduced(items, below('*'));
  return kept;
}

const [checkout] = process.argv.slice(2);
if (!checkout) throw new Error('name the folder of a checkout of kubernetes-sigs/agent-sandbox');
const folder = join(checkout, 'k8s/crds');
const kinds = readdirSync(folder).map((name) => {
  const { spec } = Bun.YAML.parse(readFileSync(join(folder, name), 'utf8')) as Definition;
  const found = spec.versions.find(({ name: candidate }) => candidate === version);
  if (!found) throw new Error(`${name} has no version ${version}`);
  const { properties, ...schema } = reduced(found.schema.openAPIV3Schema);
  delete properties?.['status'];
  return { group: spec.group, version, kind: spec.names.kind, schema: { ...schema, properties } };
});
const source = 'https://github.com/kubernetes-sigs/agent-sandbox, k8s/crds, v1.0.3, Apache-2.0';
writeFileSync(target, `${JSON.stringify({ source, kinds }, null, 2)}\n`);
