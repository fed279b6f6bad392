/** Encodes method calls, and splits the received bytes of a D-Bus connection into messages. */
import { MarshalReader, MarshalWriter, type DbusValue } from './marshal.ts';
import { parseSignature, type DbusType } from './signature.ts';

export interface MethodCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** The signature of the arguments. */
  readonly takes: string;
  readonly args: readonly DbusValue[];
}

export interface Message {
  readonly type: number;
  /** 0 when the message is not an answer. */
  readonly replySerial: number;
  readonly errorName: string;
  readonly signature: string;
  /** Reads the body, whose types are those of the signature. */
  body(types: readonly DbusType[]): DbusValue[];
}

export const messageType = { methodReturn: 2, error: 3 };

const methodCall = 1;
const protocolVersion = 1;
const littleEndian = 'l'.charCodeAt(0);
const field = { path: 1, interface: 2, member: 3, errorName: 4, replySerial: 5, destination: 6, signature: 8 };
/** Bytes before the header fields: the fixed part, and the length of the field array. */
const fixedBytes = 16;
const bodyLengthAt = 4;
const fieldsLengthAt = 12;
/** A longer message is not read. The specification allows twice as many bytes. */
const maxMessageBytes = 64 * 1024 * 1024;

/** Encodes the calls of one connection into one buffer, because thousands of calls are one reading. */
export class CallEncoder {
  readonly #writer = new MarshalWriter();

  /** `types` are those of the arguments. */
  encode(serial: number, call: MethodCall, types: readonly DbusType[]): Buffer {
    const writer = this.#writer;
    writer.clear();
    for (const byte of [littleEndian, methodCall, 0, protocolVersion]) writer.uint8(byte);
    writer.uint32(0);
    writer.uint32(serial);
    writer.uint32(0);
    writeFields(writer, call);
    writer.setUint32(fieldsLengthAt, writer.length - fixedBytes);
    writer.align(8);
    const bodyAt = writer.length;
    writer.values(types, call.args);
    writer.setUint32(bodyLengthAt, writer.length - bodyAt);
    return Buffer.from(writer.bytes);
  }
}

function writeFields(writer: MarshalWriter, { path, interface: name, member, destination, takes }: MethodCall): void {
  const start = (code: number, type: string) => {
    writer.align(8);
    writer.uint8(code);
    writer.signature(type);
  };
  const texts: readonly (readonly [number, string, string])[] = [
    [field.path, 'o', path],
    [field.interface, 's', name],
    [field.member, 's', member],
    [field.destination, 's', destination],
  ];
  for (const [code, type, text] of texts) {
    start(code, type);
    writer.string(text);
  }
  if (takes === '') return;
  start(field.signature, 'g');
  writer.signature(takes);
}

/** Collects received bytes and yields whole messages. Throws a `RangeError` for bytes that are not a message. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #received = 0;
  #needed = fixedBytes;

  *push(bytes: Buffer): Generator<Message> {
    this.#pieces.push(bytes);
    this.#received += bytes.length;
    while (this.#received >= this.#needed) {
      const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
      const length = messageBytes(all);
      if (length <= all.length) yield decode(all.subarray(0, length));
      const rest = length <= all.length ? all.subarray(length) : all;
      this.#pieces = rest.length === 0 ? [] : [rest];
      this.#received = rest.length;
      this.#needed = rest.length < fixedBytes ? fixedBytes : messageBytes(rest);
    }
  }
}

function messageBytes(start: Buffer): number {
  const isLittle = start[0] === littleEndian;
  if (!isLittle && start[0] !== 'B'.charCodeAt(0)) throw new RangeError('the bytes are not a message of D-Bus');
  const read = (at: number) => (isLittle ? start.readUInt32LE(at) : start.readUInt32BE(at));
  const length = Math.ceil((fixedBytes + read(12)) / 8) * 8 + read(4);
  if (length > maxMessageBytes) throw new RangeError(`a message has ${length} bytes, more than ${maxMessageBytes}`);
  return length;
}

function decode(message: Buffer): Message {
  const isLittle = message[0] === littleEndian;
  const reader = new MarshalReader(message, isLittle, 12);
  const end = fixedBytes + reader.uint32();
  const found = { replySerial: 0, errorName: '', signature: '' };
  while (reader.position < end) readField(reader, found);
  reader.align(8);
  const bodyAt = reader.position;
  return {
    ...{ ...found, type: message[1] ?? 0 },
    body: (types) => new MarshalReader(message, isLittle, bodyAt).values(types),
  };
}

function readField(reader: MarshalReader, found: { replySerial: number; errorName: string; signature: string }): void {
  reader.align(8);
  const code = reader.uint8();
  const signature = reader.signature();
  // Every answer has these fields, so they are read without the parser of signatures.
  if (code === field.replySerial && signature === 'u') found.replySerial = reader.uint32();
  else if (code === field.errorName && signature === 's') found.errorName = reader.string();
  else if (code === field.signature && signature === 'g') found.signature = reader.signature();
  else if (signature === 's' || signature === 'o') reader.skipString();
  else for (const type of parseSignature(signature)) reader.value(type);
}
