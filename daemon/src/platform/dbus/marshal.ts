/** Writes and reads values in the wire format of D-Bus. */
import { parseSignature, type DbusType } from './signature.ts';

/** A structure is an array, a dictionary is an array of pairs. */
export type DbusValue = string | number | boolean | bigint | Variant | readonly DbusValue[];

/** A value that carries its own signature. Read values are given without it. */
export class Variant {
  constructor(
    readonly signature: string,
    readonly value: DbusValue,
  ) {}
}

/** The limit of the D-Bus specification for one array. */
const maxArrayBytes = 64 * 1024 * 1024;
const maxVariantDepth = 64;

/** Writes little-endian values one after the other. */
export class MarshalWriter {
  #bytes = Buffer.alloc(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far; valid until the next write. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Replaces a number that was written before its value was known. */
  setUint32(at: number, value: number): void {
    this.#bytes.writeUInt32LE(value, at);
  }

  align(alignment: number): void {
    const end = Math.ceil(this.#length / alignment) * alignment;
    this.#reserve(end - this.#length);
    this.#bytes.fill(0, this.#length, end);
    this.#length = end;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  uint32(value: number): void {
    this.align(4);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  string(text: string): void {
    this.uint32(0);
    const lengthAt = this.#length - 4;
    this.setUint32(lengthAt, this.#text(text));
  }

  signature(text: string): void {
    this.uint8(text.length);
    this.#text(text);
  }

  values(types: readonly DbusType[], values: readonly DbusValue[]): void {
    if (types.length !== values.length) throw new TypeError(`${values.length} values for ${types.length} types`);
    for (const [index, type] of types.entries()) this.value(type, values[index]!);
  }

  value(type: DbusType, value: DbusValue): void {
    this.align(type.alignment);
    switch (type.code) {
      case 'a':
        return this.#array(type.element, value as readonly DbusValue[]);
      case '(':
      case '{':
        return this.values(type.fields, value as readonly DbusValue[]);
      case 'v': {
        const { signature, value: content } = value as Variant;
        this.signature(signature);
        return this.values(parseSignature(signature), [content]);
      }
      case 's':
      case 'o':
        return this.string(value as string);
      case 'g':
        return this.signature(value as string);
      default:
        return this.#number(type, value);
    }
  }

  #array(element: DbusType, values: readonly DbusValue[]): void {
    this.uint32(0);
    const lengthAt = this.#length - 4;
    this.align(element.alignment);
    const start = this.#length;
    for (const value of values) this.value(element, value);
    this.#bytes.writeUInt32LE(this.#length - start, lengthAt);
  }

  #number({ code, alignment }: DbusType, value: DbusValue): void {
    this.#reserve(alignment);
    const bytes = this.#bytes;
    const at = this.#length;
    if (code === 'y') bytes.writeUInt8(Number(value), at);
    else if (code === 'n') bytes.writeInt16LE(Number(value), at);
    else if (code === 'q') bytes.writeUInt16LE(Number(value), at);
    else if (code === 'i') bytes.writeInt32LE(Number(value), at);
    else if (code === 'x') bytes.writeBigInt64LE(value as bigint, at);
    else if (code === 't') bytes.writeBigUInt64LE(value as bigint, at);
    else if (code === 'd') bytes.writeDoubleLE(Number(value), at);
    else bytes.writeUInt32LE(Number(value), at);
    this.#length += alignment;
  }

  /** Returns how many bytes the text takes, without the zero byte after it. */
  #text(text: string): number {
    // No character of UTF-16 takes more than three bytes of UTF-8.
    this.#reserve(text.length * 3 + 1);
    const bytes = this.#bytes.write(text, this.#length);
    this.#length += bytes;
    this.#bytes[this.#length++] = 0;
    return bytes;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.alloc(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.bytes);
    this.#bytes = grown;
  }
}

/** Reads values of either byte order. Throws a `RangeError` for bytes that break the format. */
export class MarshalReader {
  readonly #view: DataView;
  readonly #end: number;

  /** `at` is relative to the start of the message, to which alignments refer. */
  constructor(
    private readonly message: Buffer,
    private readonly isLittleEndian: boolean,
    private at: number,
  ) {
    this.#view = new DataView(message.buffer, message.byteOffset, message.length);
    this.#end = message.length;
  }

  get position(): number {
    return this.at;
  }

  align(alignment: number): void {
    this.at = Math.ceil(this.at / alignment) * alignment;
  }

  uint8(): number {
    return this.#view.getUint8(this.at++);
  }

  uint32(): number {
    this.align(4);
    this.at += 4;
    return this.#view.getUint32(this.at - 4, this.isLittleEndian);
  }

  string(): string {
    return this.#text(this.uint32());
  }

  signature(): string {
    return this.#text(this.uint8());
  }

  skipString(): void {
    const bytes = this.uint32();
    this.at += bytes + 1;
  }

  values(types: readonly DbusType[], depth = 0): DbusValue[] {
    return types.map((type) => this.value(type, depth));
  }

  value(type: DbusType, depth = 0): DbusValue {
    this.align(type.alignment);
    switch (type.code) {
      case 'a':
        return this.#array(type.element, depth);
      case '(':
      case '{':
        return this.values(type.fields, depth);
      case 'v':
        return this.#variant(depth + 1);
      case 's':
      case 'o':
        return this.string();
      case 'g':
        return this.signature();
      default:
        return this.#number(type);
    }
  }

  #array(element: DbusType, depth: number): DbusValue[] {
    const bytes = this.uint32();
    this.align(element.alignment);
    const end = this.at + bytes;
    if (bytes > maxArrayBytes || end > this.#end) throw new RangeError(`an array has ${bytes} bytes`);
    const values: DbusValue[] = [];
    while (this.at < end) values.push(this.value(element, depth));
    if (this.at !== end) throw new RangeError('an array ends within an element');
    return values;
  }

  #variant(depth: number): DbusValue {
    if (depth > maxVariantDepth) throw new RangeError(`variants nest more than ${maxVariantDepth} levels`);
    const [type, ...others] = parseSignature(this.signature());
    if (!type || others.length > 0) throw new RangeError('a variant has one value');
    return this.value(type, depth);
  }

  #number({ code, alignment }: DbusType): DbusValue {
    const at = this.at;
    this.at += alignment;
    const isLittle = this.isLittleEndian;
    if (code === 'y') return this.#view.getUint8(at);
    if (code === 'n') return this.#view.getInt16(at, isLittle);
    if (code === 'q') return this.#view.getUint16(at, isLittle);
    if (code === 'i') return this.#view.getInt32(at, isLittle);
    if (code === 'x') return this.#view.getBigInt64(at, isLittle);
    if (code === 't') return this.#view.getBigUint64(at, isLittle);
    if (code === 'd') return this.#view.getFloat64(at, isLittle);
    const value = this.#view.getUint32(at, isLittle);
    return code === 'b' ? value !== 0 : value;
  }

  #text(bytes: number): string {
    const start = this.at;
    this.at += bytes + 1;
    if (this.at > this.#end) throw new RangeError(`a text has ${bytes} bytes`);
    return this.message.toString('utf8', start, start + bytes);
  }
}
