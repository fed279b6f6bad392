/** Compares a frame of a terminal's socket with the description. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../tools/repository.mjs';

interface Frame {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, { readonly const?: string }>>;
}

interface Union {
  readonly discriminator: { readonly mapping: Readonly<Record<string, string>> };
}

let known: ReturnType<typeof readFrames> | null = null;

/** The frames of either side, by type. */
export function readFrames(side: 'Server' | 'Client'): ReadonlyMap<string, Frame> {
  const { components } = JSON.parse(readFileSync(join(repositoryRoot, 'spec/v2.json'), 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  };
  const { mapping } = (components.schemas[`Terminal${side}Frame`] as Union).discriminator;
  const frames = Object.entries(mapping).map(([type, reference]) => {
    return [type, components.schemas[reference.split('/').at(-1) ?? ''] as Frame] as const;
  });
  return new Map(frames);
}

/** Throws for a frame of the daemon that has no such type, lacks a field or has another one. */
export function assertDescribed(frame: Readonly<Record<string, unknown>>): void {
  known ??= readFrames('Server');
  const described = known.get(String(frame['type']));
  const lacks = described?.required.filter((name) => !(name in frame));
  const more = Object.keys(frame).filter((name) => !(name in (described?.properties ?? {})));
  if (!described || lacks?.length !== 0 || more.length > 0)
    throw new Error(`not as described: ${JSON.stringify(frame)}, lacks ${lacks?.join()}, has also ${more.join()}`);
}
