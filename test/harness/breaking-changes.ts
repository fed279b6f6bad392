/** Finds what a new description of the interface takes from the clients of an older one. */
import { operationNames, type ApiDocument } from './described-fields.ts';
import { variantsOf, type Schema, type Variant } from './schema-differences.ts';

/** Clients send requests as the old description says, and read answers as it says. */
type Direction = 'request' | 'answer';

interface Pair {
  readonly before: ApiDocument;
  readonly after: ApiDocument;
  readonly direction: Direction;
  /** The named schemas that are being compared: a schema may contain itself. */
  readonly open: ReadonlySet<string>;
}

/** One sentence for each: `POST /v2/commands body.cwd is gone`. */
export function breakingChanges(before: ApiDocument, after: ApiDocument): string[] {
  const kept = new Set(operationNames(after));
  const lines = operationNames(before).flatMap((name) =>
    kept.has(name) ? operationChanges(name, before, after).map((line) => `${name} ${line}`) : [`${name} is gone`],
  );
  return [...new Set(lines)];
}

function operationChanges(name: string, before: ApiDocument, after: ApiDocument): string[] {
  const [method = '', path = ''] = name.split(' ');
  const [old, now] = [before, after].map(({ paths }) => paths[path]![method.toLowerCase()]!);
  const [request, answer] = (['request', 'answer'] as const).map((direction): Pair => {
    return { before, after, direction, open: new Set() };
  });
  const parameters = [old, now].map((operation): Schema => {
    const list = operation!.parameters ?? [];
    return {
      type: 'object',
      properties: Object.fromEntries(list.map((one) => [one.name, one.schema])),
      required: list.filter((one) => one.required).map((one) => one.name),
    };
  });
  const bodies = [old, now].map((operation) => operation!.requestBody?.content['application/json']?.schema);
  const answers = [old, now].map((operation) => operation!.responses['200']?.content?.['application/json']?.schema);
  return [
    ...changes(parameters[0], parameters[1], 'parameters', request!),
    ...changes(bodies[0], bodies[1], 'body', request!),
    ...changes(answers[0], answers[1], 'answer', answer!),
  ];
}

function changes(old: Schema | undefined, now: Schema | undefined, place: string, pair: Pair): string[] {
  if (!old) return [];
  if (!now) return [`${place} is gone`];
  const names = old.$ref !== undefined && now.$ref !== undefined ? `${old.$ref} ${now.$ref}` : null;
  if (names !== null && pair.open.has(names)) return [];
  const inner = names === null ? pair : { ...pair, open: new Set([...pair.open, names]) };
  const [olds, nows] = [variantsOf(old, pair.before), variantsOf(now, pair.after)];
  // Whatever the giver may give, the taker has to take.
  const [given, taken] = pair.direction === 'request' ? [olds, nows] : [nows, olds];
  if (taken.some(({ type }) => type === 'any')) return [];
  const refused = given.filter((variant) => !taken.some((other) => takes(other, variant)));
  if (refused.length > 0) return [`${place} was ${shown(olds)}, and is ${shown(nows)}`];
  const [lists, objects] = (['array', 'object'] as const).map((type) => {
    return [olds, nows].map((variants) => variants.filter((variant) => variant.type === type));
  });
  return [
    ...changes(lists![0]![0]?.items, lists![1]![0]?.items ?? {}, `${place}[]`, inner),
    ...(objects![0]!.length === 1 && objects![1]!.length === 1
      ? fieldChanges(objects![0]![0]!, objects![1]![0]!, place, inner)
      : []),
  ];
}

function fieldChanges(old: Schema, now: Schema, place: string, pair: Pair): string[] {
  const [before, after] = [old.required ?? [], now.required ?? []];
  const demanded = pair.direction === 'request' ? after.filter((name) => !before.includes(name)) : [];
  const withheld = pair.direction === 'answer' ? before.filter((name) => !after.includes(name)) : [];
  return [
    ...Object.entries(old.properties ?? {}).flatMap(([name, field]) =>
      changes(field, now.properties?.[name], `${place}.${name}`, pair),
    ),
    ...demanded.map((name) => `${place}.${name} is required now`),
    ...withheld
      .filter((name) => now.properties?.[name] !== undefined)
      .map((name) => `${place}.${name} may be left out now`),
  ];
}

function takes(taker: Variant, given: Variant): boolean {
  if (taker.type !== given.type && !(taker.type === 'number' && given.type === 'integer')) return false;
  if (!taker.enum) return true;
  return given.enum?.every((value) => taker.enum?.includes(value)) ?? false;
}

function shown(variants: readonly Variant[]): string {
  const texts = variants.map(({ type, enum: values }) => (values ? values.map(String).join('|') : type));
  return [...new Set(texts)].join('|');
}
