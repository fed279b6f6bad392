/** Reads the structure of a schema, which the library keeps to itself. */

/** The parts of a library schema that validation reads. */
export interface SchemaNode {
  readonly isInt?: boolean;
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly innerType?: SchemaNode;
      readonly element?: SchemaNode;
      readonly valueType?: SchemaNode;
      /** The schema of an object's further fields. */
      readonly catchall?: SchemaNode | undefined;
      /** What a transformation reads. */
      readonly in?: SchemaNode;
      /** The alternatives of a union. */
      readonly options?: readonly SchemaNode[];
      /** The sides of an intersection. */
      readonly left?: SchemaNode;
      readonly right?: SchemaNode;
      readonly shape?: Readonly<Record<string, SchemaNode>>;
    };
  };
}

/** The schema inside `optional`, `default` and `nullable`. */
export function base(schema: SchemaNode | undefined): SchemaNode | undefined {
  const inner = schema?._zod.def.innerType;
  return inner === undefined ? schema : base(inner);
}

export function baseType(schema: unknown): string | null {
  return base(schema as SchemaNode | undefined)?._zod.def.type ?? null;
}

/** Names come from clients, so inherited properties such as `constructor` do not count as fields. */
export function ownValue<T>(fields: Readonly<Record<PropertyKey, T>> | object, name: PropertyKey): T | undefined {
  return Object.hasOwn(fields, name) ? (fields as Readonly<Record<PropertyKey, T>>)[name] : undefined;
}
