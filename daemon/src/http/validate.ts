/** Checks inputs against schemas, and tells what is wrong in the words of the contract, not of the library. */
import type { z } from 'zod';
import type { ValidationError } from './envelope.ts';

export type InputPlace = 'body' | 'query' | 'path';

export type Validated<T> = { readonly value: T } | { readonly errors: readonly ValidationError[] };

export function validate<S extends z.ZodType>(schema: S, input: unknown, place: InputPlace): Validated<z.output<S>> {
  const result = schema.safeParse(input);
  const dropped = droppedNames(schema, input, place);
  if (result.success && dropped.length === 0) return { value: result.data };
  const context = { schema, input, place };
  const issues = result.error?.issues ?? [];
  return { errors: [...issues.flatMap((issue) => describeIssue(issue, context)), ...dropped] };
}

/** The library drops `__proto__` without a word, where it is a name that the caller has chosen too. */
function droppedNames(schema: z.ZodType, input: unknown, place: InputPlace): ValidationError[] {
  const { shape = {} } = (schema as unknown as SchemaNode)._zod.def;
  return Object.entries(Object(input) as object)
    .filter(([name, value]) => baseType(ownValue(shape, name)) === 'record' && hasOwnProto(value))
    .map(([name]) => ({ location: `${place}.${name}.__proto__`, message: 'is no name', type: 'value_error' }));
}

function hasOwnProto(value: unknown): boolean {
  return Object.hasOwn(Object(value) as object, '__proto__');
}

/** Query and path values arrive as text: those of number and boolean fields are read as such where they can be. */
export function readText(schema: z.ZodObject, texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, readValue(baseType(ownValue(schema.shape, name)), text)]),
  );
}

function readValue(type: string | null, text: string): unknown {
  if (type === 'number' && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === '1')) return true;
  if (type === 'boolean' && (text === 'false' || text === '0')) return false;
  return text;
}

/** What the library tells of a schema, as far as it is asked here. */
interface SchemaNode {
  readonly isInt?: boolean;
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly innerType?: SchemaNode;
      readonly element?: SchemaNode;
      readonly valueType?: SchemaNode;
      readonly shape?: Readonly<Record<string, SchemaNode>>;
    };
  };
}

/** The schema below `optional`, `default` and `nullable`. */
function base(schema: SchemaNode | undefined): SchemaNode | undefined {
  const inner = schema?._zod.def.innerType;
  return inner === undefined ? schema : base(inner);
}

function baseType(schema: unknown): string | null {
  return base(schema as SchemaNode | undefined)?._zod.def.type ?? null;
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
    // The alternative that came closest is the one that its caller meant.
    const closest = issue.errors.toSorted((a, b) => depth(b) - depth(a))[0] ?? [];
    if (closest.length > 0) {
      return closest.flatMap((inner) => describeIssue(under(inner, issue.path), context));
    }
  }
  // What is wrong with a name is said by the schema of the names.
  if (issue.code === 'invalid_key') {
    return issue.issues.flatMap((inner) => describeIssue({ ...inner, path: issue.path }, context));
  }
  const location = [context.place, ...issue.path.map(String)].join('.');
  const type = typeOf(issue, context);
  return [{ location, message: messageOf(issue, type), type }];
}

function depth(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
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

/** The one table from the library's codes to the contract's `errors[].type`. */
function typeOf(issue: Issue, { schema, input }: IssueContext): string {
  switch (issue.code) {
    case 'invalid_type':
      if (valueAt(input, issue.path) === undefined) return 'missing';
      if (issue.expected === 'number' && isWholeNumber(schema, issue.path)) return 'int_type';
      return typeOfExpected[issue.expected] ?? 'value_error';
    case 'invalid_value':
      return valueAt(input, issue.path) === undefined ? 'missing' : 'enum';
    case 'too_small':
      return isSized(issue.origin) ? 'too_short' : 'too_small';
    case 'too_big':
      return isSized(issue.origin) ? 'too_long' : 'too_large';
    case 'invalid_format':
      return 'pattern';
    default:
      return 'value_error';
  }
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
    case 'enum':
      return `must be one of ${(issue as { values?: readonly unknown[] }).values?.map(String).join(', ') ?? ''}`;
    case 'too_small':
      return `must be at least ${String((issue as { minimum?: unknown }).minimum)}`;
    case 'too_large':
      return `must be at most ${String((issue as { maximum?: unknown }).maximum)}`;
    case 'too_short':
      return `must have at least ${String((issue as { minimum?: unknown }).minimum)} characters or entries`;
    case 'too_long':
      return `must have at most ${String((issue as { maximum?: unknown }).maximum)} characters or entries`;
    case 'pattern':
      return 'does not have the form that is asked for';
    default:
      return issue.message;
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => ownValue(Object(value) as object, key), input);
}

/** Names come from a client: those that every object inherits, such as `constructor`, are no fields. */
function ownValue<T>(fields: Readonly<Record<PropertyKey, T>> | object, name: PropertyKey): T | undefined {
  return Object.hasOwn(fields, name) ? (fields as Readonly<Record<PropertyKey, T>>)[name] : undefined;
}
