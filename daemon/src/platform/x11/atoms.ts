/** The atoms of an X server: names and numbers, each asked for once. */
import type { X11Connection } from './connection.ts';
import { Packer } from './message.ts';

/** Atoms of the protocol itself, which need no request. */
const predefined: Readonly<Record<string, number>> = {
  PRIMARY: 1,
  ATOM: 4,
  CARDINAL: 6,
  STRING: 31,
  WINDOW: 33,
  WM_NAME: 39,
};

/** Clients may name any number of atoms, for example as targets of a selection. */
const maxNames = 1_000;

export class Atoms {
  readonly #numbers = new Map(Object.entries(predefined).map(([name, atom]) => [name, Promise.resolve(atom)]));
  readonly #names = new Map<number, Promise<string>>();

  constructor(private readonly connection: X11Connection) {}

  /** Creates the atom when the server does not know it. For names of this program only. */
  of(name: string): Promise<number> {
    return this.#numbers.getOrInsertComputed(name, () => this.#intern(name));
  }

  async all<const N extends readonly string[]>(...names: N): Promise<{ readonly [K in N[number]]: number }> {
    const atoms = await Promise.all(names.map((name) => this.of(name)));
    return Object.fromEntries(names.map((name, index) => [name, atoms[index]])) as { [K in N[number]]: number };
  }

  name(atom: number): Promise<string> {
    if (this.#names.size >= maxNames && !this.#names.has(atom)) this.#names.clear();
    return this.#names.getOrInsertComputed(atom, () => this.#ask(atom));
  }

  async #intern(name: string): Promise<number> {
    const body = new Packer().u16(name.length).skip(2).bytes(Buffer.from(name, 'latin1')).packed;
    return (await this.connection.reply({ opcode: 16, detail: 0, body })).u32(8);
  }

  async #ask(atom: number): Promise<string> {
    const reply = await this.connection.reply({ opcode: 17, body: new Packer().u32(atom).packed });
    return reply.text(32, reply.u16(8));
  }
}
