/** Reads and writes the properties of windows. */
import type { Atoms } from './atoms.ts';
import type { X11Connection } from './connection.ts';
import { Packer, type Message } from './message.ts';

export interface Property {
  /** The atom of the type; 0 when the window has no such property. */
  readonly type: number;
  readonly format: 0 | 8 | 16 | 32;
  readonly bytes: Buffer;
  /** Bytes of the property beyond the limit. */
  readonly remainingBytes: number;
}

export interface PropertyValue {
  readonly property: number;
  readonly type: number;
  readonly format: 8 | 16 | 32;
  readonly bytes: Buffer;
}

export interface ReadOptions {
  /** Default 64 KiB. */
  readonly maxBytes?: number;
  /** Deletes the property when all of it was read. */
  readonly isDeleted?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const anyType = 0;
const replaced = 0;
const appended = 2;

export class Properties {
  constructor(
    private readonly connection: X11Connection,
    private readonly atoms: Atoms,
  ) {}

  async read(window: number, property: number, options: ReadOptions = {}): Promise<Property> {
    const { maxBytes = 64 * 1024, isDeleted = false, signal } = options;
    const body = new Packer().u32(window, property, anyType, 0, Math.ceil(maxBytes / 4)).packed;
    return readProperty(await this.connection.reply({ opcode: 20, detail: isDeleted ? 1 : 0, body }, signal));
  }

  /** The 32-bit numbers of a property: windows, atoms, cardinals. Empty without the property. */
  async numbers(window: number, name: string, options?: ReadOptions): Promise<number[]> {
    const { format, bytes } = await this.read(window, await this.atoms.of(name), options);
    if (format !== 32) return [];
    return Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readUInt32LE(4 * index));
  }

  /** Null without the property. Text of type STRING is Latin-1, any other UTF-8. */
  async text(window: number, name: string, options?: ReadOptions): Promise<string | null> {
    const [atom, latin1] = await Promise.all([this.atoms.of(name), this.atoms.of('STRING')]);
    const { type, format, bytes } = await this.read(window, atom, options);
    if (format !== 8) return null;
    return bytes.toString(type === latin1 ? 'latin1' : 'utf8').replace(/\0.*$/s, '');
  }

  /** A value longer than one request is written in parts. Rejects with `X11Refusal` when the window is gone. */
  async write(window: number, value: PropertyValue, signal?: AbortSignal): Promise<void> {
    const maxBytes = (this.connection.maxBodyBytes - 20) & ~3;
    const parts: Promise<void>[] = [];
    for (let at = 0; at === 0 || at < value.bytes.length; at += maxBytes) {
      const part = { ...value, bytes: value.bytes.subarray(at, at + maxBytes) };
      parts.push(this.#change(window, at === 0 ? replaced : appended, part, signal));
    }
    await Promise.all(parts);
  }

  async remove(window: number, property: number, signal?: AbortSignal): Promise<void> {
    await this.connection.done({ opcode: 19, body: new Packer().u32(window, property).packed }, signal);
  }

  async list(window: number, signal?: AbortSignal): Promise<number[]> {
    const reply = await this.connection.reply({ opcode: 21, body: new Packer().u32(window).packed }, signal);
    return reply.u32s(32, reply.u16(8));
  }

  #change(window: number, mode: number, value: PropertyValue, signal?: AbortSignal): Promise<void> {
    const { property, type, format, bytes } = value;
    const body = new Packer().u32(window, property, type).u8(format).skip(3);
    body.u32(bytes.length / (format / 8)).bytes(bytes);
    return this.connection.done({ opcode: 18, detail: mode, body: body.packed }, signal);
  }
}

function readProperty(reply: Message): Property {
  const format = reply.u8(1) as Property['format'];
  const bytes = reply.slice(32, (reply.u32(16) * format) / 8);
  return { type: reply.u32(8), format, bytes, remainingBytes: reply.u32(12) };
}
