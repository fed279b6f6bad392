/** Has the X server report that the screen has changed or that the pointer has moved. */
import type { ExtensionName, X11Connection } from '../connection.ts';
import { Packer } from '../message.ts';

/** Requests of the DAMAGE extension. */
const damageMinors = { create: 1, destroy: 2, subtract: 3 } as const;
/** Requests of the input extension. */
const inputMinors = { selectEvents: 46, queryVersion: 47 } as const;
const allMasterDevices = 1;
const rawMotionBit = 1 << 17;

export class ChangeReports {
  constructor(
    private readonly connection: X11Connection,
    private readonly root: number,
  ) {}

  /** Calls the listener at the next change, and then only after `again`. Throws `X11Unsupported` without DAMAGE. */
  async begin(onChange: () => void): Promise<ChangeReport> {
    const { connection, root } = this;
    const damage = connection.newId();
    const onceUntilAsked = 3; // DamageReportNonEmpty
    const body = new Packer().u32(damage, root).u8(onceUntilAsked).packed;
    await connection.done(connection.extend('DAMAGE', { minor: damageMinors.create, body }));
    await this.#nameInputVersion();
    this.#selectMotion(rawMotionBit);
    const listening = connection.listen(({ kind }) => {
      if (kind === 'damage' || kind === 'pointerMotion') onChange();
    });
    return {
      again: () => this.#tell('DAMAGE', damageMinors.subtract, new Packer().u32(damage, 0, 0)),
      end: () => {
        listening[Symbol.dispose]();
        this.#tell('DAMAGE', damageMinors.destroy, new Packer().u32(damage));
        this.#selectMotion(0);
      },
    };
  }

  /** The server refuses a client that has not named the version that it speaks. */
  async #nameInputVersion(): Promise<void> {
    if (!this.connection.has('XInputExtension')) return;
    const body = new Packer().u16(2).u16(0).packed;
    await this.connection.reply(this.connection.extend('XInputExtension', { minor: inputMinors.queryVersion, body }));
  }

  #selectMotion(mask: number): void {
    const [masks, maskWords] = [1, 1];
    const body = new Packer().u32(this.root).u16(masks).skip(2).u16(allMasterDevices).u16(maskWords).u32(mask);
    this.#tell('XInputExtension', inputMinors.selectEvents, body);
  }

  /** A server without the input extension does not report a pointer that moves over a still screen. */
  #tell(name: ExtensionName, minor: number, body: Packer): void {
    if (this.connection.has(name)) this.connection.send(this.connection.extend(name, { minor, body: body.packed }));
  }
}

export interface ChangeReport {
  /** Asks for a report of the next change. What is drawn from now on counts as one. */
  again(): void;
  end(): void;
}
