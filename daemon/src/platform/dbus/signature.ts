/** Parses D-Bus signatures into types, each with its alignment. */

export type DbusType =
  | { readonly code: BasicCode; readonly alignment: number }
  | { readonly code: 'v'; readonly alignment: 1 }
  | { readonly code: 'a'; readonly alignment: 4; readonly element: DbusType }
  | { readonly code: '('; readonly alignment: 8; readonly fields: readonly DbusType[] }
  | { readonly code: '{'; readonly alignment: 8; readonly fields: readonly [DbusType, DbusType] };

type BasicCode = keyof typeof basicAlignments;

const basicAlignments = { y: 1, b: 4, n: 2, q: 2, i: 4, u: 4, x: 8, t: 8, d: 8, s: 4, o: 4, g: 1, h: 4 } as const;
/** The limits of the D-Bus specification, "Valid Signatures". */
const maxLength = 255;
const maxDepth = 64;

/** The types of a message body. Throws a `RangeError` for an invalid signature. */
export function parseSignature(signature: string): readonly DbusType[] {
  if (signature.length > maxLength) throw new RangeError(`a signature has ${signature.length} characters`);
  const parser = new Parser(signature);
  const types: DbusType[] = [];
  while (!parser.isAtEnd) types.push(parser.type(0));
  return types;
}

class Parser {
  #at = 0;

  constructor(private readonly signature: string) {}

  get isAtEnd(): boolean {
    return this.#at >= this.signature.length;
  }

  type(depth: number): DbusType {
    if (depth > maxDepth) throw new RangeError(`a signature nests more than ${maxDepth} types`);
    const code = this.signature[this.#at++] ?? '';
    if (isBasic(code)) return { code, alignment: basicAlignments[code] };
    if (code === 'v') return { code, alignment: 1 };
    if (code === 'a') return { code, alignment: 4, element: this.type(depth + 1) };
    if (code === '(') return { code, alignment: 8, fields: this.#fieldsUntil(')', depth) };
    if (code === '{') return this.#entry(depth);
    throw new RangeError(`${JSON.stringify(this.signature)} is not a signature`);
  }

  #entry(depth: number): DbusType {
    const [key, value, ...others] = this.#fieldsUntil('}', depth);
    if (!key || !value || others.length > 0) throw new RangeError('an entry of a dictionary has a key and a value');
    return { code: '{', alignment: 8, fields: [key, value] };
  }

  #fieldsUntil(end: string, depth: number): DbusType[] {
    const fields: DbusType[] = [];
    while (this.signature[this.#at] !== end) fields.push(this.type(depth + 1));
    this.#at += 1;
    if (fields.length === 0) throw new RangeError('a structure has at least one field');
    return fields;
  }
}

function isBasic(code: string): code is BasicCode {
  return Object.hasOwn(basicAlignments, code);
}
