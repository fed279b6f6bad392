/** Reads the layout and the state of the keyboard by the XKB extension, and locks its groups. */
import type { X11Connection } from './connection.ts';
import { Packer, type Message } from './message.ts';

/** How the modifiers choose a level of a key; other modifiers do not count. */
export interface KeyType {
  readonly modifiers: number;
  /** Combinations without an entry choose level 0. */
  readonly levels: readonly { readonly modifiers: number; readonly level: number }[];
}

export interface KeyGroup {
  readonly type: KeyType;
  /** One for each level; 0 for none. */
  readonly keysyms: readonly number[];
}

export interface KeyboardLayout {
  /** The groups of each key, by keycode. */
  readonly keys: ReadonlyMap<number, readonly KeyGroup[]>;
  /** The bits of the modifiers that a key sets, by keycode. */
  readonly modifierKeys: ReadonlyMap<number, number>;
}

export interface KeyboardState {
  /** Modifiers of keys that are down, and of sticky keys for the next key. */
  readonly heldModifiers: number;
  /** Such as Caps Lock. */
  readonly lockedModifiers: number;
  /** The group that keys use now. */
  readonly group: number;
  readonly lockedGroup: number;
}

const coreKeyboard = 0x100;
const minors = { useExtension: 0, getState: 4, latchLockState: 5, getMap: 8 } as const;
/** The parts of a layout that are read: types, keysyms and modifiers. */
const parts = 0b111;

export class XkbRequests {
  #isInUse: Promise<unknown> | null = null;

  constructor(private readonly connection: X11Connection) {}

  async layout(signal?: AbortSignal): Promise<KeyboardLayout> {
    await this.#use();
    const body = new Packer().u16(coreKeyboard).u16(parts).skip(20).packed;
    return readLayout(await this.connection.reply(this.#request(minors.getMap, body), signal));
  }

  async state(signal?: AbortSignal): Promise<KeyboardState> {
    await this.#use();
    const body = new Packer().u16(coreKeyboard).skip(2).packed;
    const reply = await this.connection.reply(this.#request(minors.getState, body), signal);
    return {
      heldModifiers: reply.u8(9) | reply.u8(10),
      lockedModifiers: reply.u8(11),
      group: reply.u8(12),
      lockedGroup: reply.u8(13),
    };
  }

  /** The server executes this in order with the key events of the connection. */
  lockGroup(group: number): void {
    const body = new Packer().u16(coreKeyboard).u8(0).u8(0).u8(1).u8(group).skip(6).packed;
    this.connection.send(this.#request(minors.latchLockState, body));
  }

  /** The server refuses other XKB requests of a client that has not named the version that it speaks. */
  #use(): Promise<unknown> {
    this.#isInUse ??= this.connection.reply(this.#request(minors.useExtension, new Packer().u16(1).u16(0).packed));
    return this.#isInUse;
  }

  #request(minor: number, body: Buffer) {
    return this.connection.extend('XKEYBOARD', { minor, body });
  }
}

const headerBytes = 40;

/** The lists follow the header in a fixed order: types, keysyms, modifiers of keys. */
function readLayout(reply: Message): KeyboardLayout {
  const reader = new Reader(reply, headerBytes);
  const types = Array.from({ length: reply.u8(15) }, () => readType(reader));
  const [firstKey, keyCount, modifierCount] = [reply.u8(17), reply.u8(20), reply.u8(33)];
  const keys = new Map(Array.from({ length: keyCount }, (_, index) => [firstKey + index, readKey(reader, types)]));
  const pairs = Array.from({ length: modifierCount }, () => [reader.u8(), reader.u8()] as const);
  return { keys, modifierKeys: new Map(pairs) };
}

function readType(reader: Reader): KeyType {
  const modifiers = reader.u8();
  reader.skip(4);
  const entryCount = reader.u8();
  const isPreserving = reader.u8() !== 0;
  reader.skip(1);
  const entries = Array.from({ length: entryCount }, () => {
    const [isActive, mask, level] = [reader.u8() !== 0, reader.u8(), reader.u8()];
    reader.skip(5);
    return { isActive, modifiers: mask, level };
  });
  if (isPreserving) reader.skip(4 * entryCount);
  return { modifiers, levels: entries.filter(({ isActive }) => isActive) };
}

function readKey(reader: Reader, types: readonly KeyType[]): readonly KeyGroup[] {
  const typeIndexes = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  const [groupCount, width, symbolCount] = [reader.u8() & 0x0f, reader.u8(), reader.u16()];
  const symbols = Array.from({ length: symbolCount }, () => reader.u32());
  return typeIndexes.slice(0, groupCount).map((type, group) => ({
    type: types[type] ?? { modifiers: 0, levels: [] },
    keysyms: symbols.slice(group * width, (group + 1) * width),
  }));
}

class Reader {
  constructor(
    private readonly message: Message,
    private at: number,
  ) {}

  u8(): number {
    return this.message.u8(this.#take(1));
  }

  u16(): number {
    return this.message.u16(this.#take(2));
  }

  u32(): number {
    return this.message.u32(this.#take(4));
  }

  skip(count: number): void {
    this.at += count;
  }

  #take(count: number): number {
    this.at += count;
    return this.at - count;
  }
}
