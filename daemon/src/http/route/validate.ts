/** Validates inputs against schemas, and reports errors in the terms of the contract, not of the library. */
import type { z } from 'zod';
import type { ValidationError } from './envelope.ts';
import { base, baseType, ownValue, unknownFields, type SchemaNode } from './schema-fields.ts';

export type InputPlace = 'body' | 'query' | 'path';

/** Maximum number of errors per request; more than these are usually repetitions of one mistake. */
const maxIssues = 100;

export type Validated<T> = { readonly value: T } | { readonly errors: readonly ValidationError[] };

/** `isStrict` refuses fields that the schema does not have; these come first, because they explain the others. */
export function validate<S extends z.ZodType>(
  schema: S,
  input: unknown,
  place: InputPlace,
  isStrict = false,
): Validated<z.output<S>> {
  const result = schema.safeParse(input);
  const unknown = isStrict ? unknownFields([schema], input, place) : [];
  const refused = [...unknown, ...droppedNames(schema, input, place)];
  if (result.success && refused.length === 0) return { value: result.data };
  const context = { schema, input, place };
  const issues = result.error?.issues.slice(0, maxIssues) ?? [];
  return { errors: [...refused, ...issues.flatMap((issue) => describeIssue(issue, context))].slice(0, maxIssues) };
}

/** Removes fields whose null means absent; keeps null where the schema accepts it. */
export function withoutNulls(schema: SchemaNode | undefined, input: unknown): unknown {
  return hasNull(input) ? removeNulls(schema, input) : input;
}

function hasNull(input: unknown): boolean {
  if (typeof input !== 'object') return false;
  return input === null || Object.values(input).some(hasNull);
}

function removeNulls(schema: SchemaNode | undefined, input: unknown): unknown {
  const { shape, element, left, right, options } = base(schema)?._zod.def ?? {};
  if (left) return removeNulls(right, removeNulls(left, input));
  if (options) return removeNulls(alternativeOf(options, input), input);
  if (Array.isArray(input)) return element ? input.map((entry) => removeNulls(element, entry)) : input;
  if (!shape || typeof input !== 'object' || input === null) return input;
  const kept = Object.entries(input).filter(([name, value]) => value !== null || !isAbsence(ownValue(shape, name)));
  return Object.fromEntries(kept.map(([name, value]) => [name, removeNulls(ownValue(shape, name), value)]));
}

/** The object among the alternatives that the input names, as in `action_type`; the only one where there is one. */
function alternativeOf(options: readonly SchemaNode[], input: unknown): SchemaNode | undefined {
  const flat = (option: SchemaNode): readonly SchemaNode[] => base(option)?._zod.def.options?.flatMap(flat) ?? [option];
  const all = options.flatMap(flat);
  const objects = all.filter((option) => base(option)?._zod.def.shape !== undefined);
  if (objects.length === 1) return objects[0];
  return all.find((option) => {
    const names = Object.entries(option._zod.def.shape ?? {}).filter(([, field]) => field._zod.def.type === 'literal');
    return names.length > 0 && names.every(([name, field]) => takes(field, valueAt(input, [name])));
  });
}

/** Whether the field is optional and null is not a valid value. */
function isAbsence(field: SchemaNode | undefined): boolean {
  return takes(field, undefined) && !takes(field, null);
}

function takes(field: SchemaNode | undefined, value: unknown): boolean {
  return (field as z.ZodType | undefined)?.safeParse(value).success === true;
}

/** Reports `__proto__` in records, whose names the caller chooses: the library would drop the field silently. */
function droppedNames(schema: z.ZodType, input: unknown, place: InputPlace): ValidationError[] {
  const { shape = {} } = (schema as unknown as SchemaNode)._zod.def;
  return Object.entries(Object(input) as object)
    .filter(([name, value]) => baseType(ownValue(shape, name)) === 'record' && hasOwnProto(value))
    .map(([name]) => ({ location: `${place}.${name}.__proto__`, message: 'is not a name', type: 'value_error' }));
}

function hasOwnProto(value: unknown): boolean {
  return Object.hasOwn(Object(value) as object, '__proto__');
}

/** Converts query and path texts to numbers and booleans where the schema expects them and the text allows it. */
export function readText(schema: z.ZodObject, texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, readValue(baseType(ownValue(schema.shape, name)), text)]),
  );
}

function readValue(type: string | null, text: string): unknown {
  if (type === 'number' && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|1)$/i.test(text)) return true;
  if (type === 'boolean' && /^(false|0)$/i.test(text)) return false;
  return text;
}

function isWholeNumber(schema: z.ZodType, path: readonly PropertyKey[]): boolean {
  const found = path.reduce<SchemaNode | undefined>(
    (node, key) => {
      const definition = base(node)?._zod.def;
      return ownValue(definition?.shape ?? {}, key) ?? definition?.element ?? definition?.valueType;
    },
    schema as unknown as SchemaNode,
  );
  return base(found)?.isInt === true;
}

type Issue = z.core.$ZodIssue;

interface IssueContext {
  readonly schema: z.ZodType;
  readonly input: unknown;
  readonly place: InputPlace;
}

function describeIssue(issue: Issue, context: IssueContext): ValidationError[] {
  if (issue.code === 'invalid_union') {
    // Reports on the alternative that matched deepest, which is the one the caller most likely meant.
    const closest =
      issue.errors.toSorted((a, b) => closeness(b, issue, context) - closeness(a, issue, context))[0] ?? [];
    const isFlat = issue.errors.length > 1 && issue.errors.every((alternative) => depth(alternative) === 0);
    if (isFlat) return [oneOfAll(issue, context)];
    if (closest.length > 0) {
      return closest.flatMap((inner) => describeIssue(under(inner, issue.path), context));
    }
  }
  // The schema of the names describes the error in a name.
  if (issue.code === 'invalid_key') {
    return issue.issues.flatMap((inner) => describeIssue({ ...inner, path: issue.path }, context));
  }
  const location = [context.place, ...issue.path.map(String)].join('.');
  const type = typeOf(issue, context);
  return [{ location, message: messageOf(issue, type), type }];
}

/** The input is of none of the kinds: what each of them asks for. */
function oneOfAll(issue: Extract<Issue, { code: 'invalid_union' }>, context: IssueContext): ValidationError {
  const described = issue.errors.flatMap((alternative) =>
    alternative.flatMap((inner) => describeIssue(under(inner, issue.path), context)),
  );
  const [first] = described;
  if (!first) throw new Error('an alternative that fails has an issue');
  return { ...first, message: [...new Set(described.map(({ message }) => message))].join(', or ') };
}

function depth(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

/** An alternative whose naming field is absent, such as `type`, is not meant. */
function closeness(alternative: readonly Issue[], { path }: Issue, { input }: IssueContext): number {
  const names = alternative.flatMap((issue) => (isUnknownKind(issue) ? [[...path, ...issue.path]] : []));
  return names.some((name) => valueAt(input, name) === undefined) ? 0 : depth(alternative);
}

/** The field that tells the alternatives apart has a value that none of them has. */
function isUnknownKind(issue: Issue): boolean {
  return issue.code === 'invalid_union' && issue.errors.length === 0;
}

function under(issue: Issue, path: readonly PropertyKey[]): Issue {
  return { ...issue, path: [...path, ...issue.path] };
}

const typeOfExpected: Readonly<Record<string, string>> = {
  string: 'string_type',
  int: 'int_type',
  number: 'float_type',
  boolean: 'bool_type',
  array: 'array_type',
  object: 'object_type',
  record: 'object_type',
};

/** Maps the codes of the library to `errors[].type` of the contract. */
function typeOf(issue: Issue, { schema, input }: IssueContext): string {
  switch (issue.code) {
    case 'invalid_type':
      if (isMissing(input, issue.path)) return 'missing';
      if (issue.expected === 'number' && isWholeNumber(schema, issue.path)) return 'int_type';
      return typeOfExpected[issue.expected] ?? 'value_error';
    case 'invalid_union':
      if (!isUnknownKind(issue)) return 'value_error';
      return valueAt(input, issue.path) === undefined ? 'missing' : 'enum';
    case 'invalid_value':
      return valueAt(input, issue.path) === undefined ? 'missing' : 'enum';
    case 'too_small':
      return isSized(issue.origin) ? 'too_short' : 'too_small';
    case 'too_big':
      return isSized(issue.origin) ? 'too_long' : 'too_large';
    case 'invalid_format':
      return 'pattern';
    case 'unrecognized_keys':
      return 'unknown_field';
    default:
      return 'value_error';
  }
}

/** A value that a text in the input was read into has its parts too. */
function isMissing(input: unknown, path: readonly PropertyKey[]): boolean {
  return valueAt(input, path) === undefined && typeof valueAt(input, path.slice(0, -1)) !== 'string';
}

function isSized(origin: string): boolean {
  return origin === 'string' || origin === 'array';
}

function messageOf(issue: Issue, type: string): string {
  switch (type) {
    case 'missing':
      return 'is required';
    case 'string_type':
      return 'must be a string';
    case 'int_type':
      return 'must be a whole number';
    case 'float_type':
      return 'must be a number';
    case 'bool_type':
      return 'must be true or false';
    case 'array_type':
      return 'must be a list';
    case 'object_type':
      return 'must be an object';
    case 'enum': {
      const { values, options } = issue as { values?: readonly unknown[]; options?: readonly unknown[] };
      return `must be one of ${(values ?? options ?? []).map(String).join(', ')}`;
    }
    case 'unknown_field':
      return `takes no ${(issue as { keys?: readonly string[] }).keys?.join(', ')} here`;
    case 'too_small': {
      const { inclusive = true, minimum } = issue as { inclusive?: boolean; minimum?: unknown };
      return `must be ${inclusive ? 'at least' : 'more than'} ${String(minimum)}`;
    }
    case 'too_large':
      return `must be at most ${String((issue as { maximum?: unknown }).maximum)}`;
    case 'too_short':
      return `must have at least ${String((issue as { minimum?: unknown }).minimum)} characters or entries`;
    case 'too_long':
      return `must have at most ${String((issue as { maximum?: unknown }).maximum)} characters or entries`;
    case 'pattern': {
      const { format, pattern } = issue as { format?: string; pattern?: string };
      if (format === 'regex' && pattern !== undefined) return `must match ${pattern}`;
      return `is not ${format === undefined ? 'of the form that is asked for' : `in the form ${format}`}`;
    }
    default:
      return issue.message;
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => ownValue(Object(value) as object, key), input);
}
