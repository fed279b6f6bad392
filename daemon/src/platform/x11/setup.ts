/** The first exchange with an X server: admits the client and describes the screen. */
import { X11Unreachable } from '../../protocols/x11-errors.ts';
import type { Cookie } from './authority.ts';
import { Packer, type Message } from './message.ts';

export interface DisplaySetup {
  readonly resourceBase: number;
  readonly resourceMask: number;
  /** In units of four bytes. */
  readonly maxRequestLength: number;
  readonly minKeycode: number;
  readonly maxKeycode: number;
  readonly screen: ScreenSetup;
}

/** The first screen; a server of today has no other. */
export interface ScreenSetup {
  readonly root: number;
  readonly bitsPerPixel: number;
  readonly redMask: number;
  readonly greenMask: number;
  readonly blueMask: number;
}

export function setupRequest(cookie: Cookie | null): Buffer {
  const name = Buffer.from(cookie?.name ?? '', 'latin1');
  const value = cookie?.value ?? Buffer.alloc(0);
  const littleEndian = 0x6c;
  const head = new Packer().u8(littleEndian).skip(1).u16(11).u16(0).u16(name.length).u16(value.length).skip(2).packed;
  return Buffer.concat([head, new Packer().bytes(name).packed, new Packer().bytes(value).packed]);
}

/** Throws `X11Unreachable` when the server has refused the client. */
export function readSetup(message: Message): DisplaySetup {
  const [status, reasonLength] = [message.u8(0), message.u8(1)];
  if (status !== 1) {
    const reason = (status === 0 ? message.text(8, reasonLength) : message.text(8, message.bytes.length - 8)).trim();
    throw new X11Unreachable(`the X server refuses this client: ${reason.replaceAll('\0', '') || 'no reason given'}`);
  }
  const [vendorLength, formatCount] = [message.u16(24), message.u8(29)];
  const formatsAt = 40 + ((vendorLength + 3) & ~3);
  const screenAt = formatsAt + 8 * formatCount;
  return {
    resourceBase: message.u32(12),
    resourceMask: message.u32(16),
    maxRequestLength: message.u16(26),
    minKeycode: message.u8(34),
    maxKeycode: message.u8(35),
    screen: readScreen(message, screenAt, { formatsAt, formatCount }),
  };
}

interface Formats {
  readonly formatsAt: number;
  readonly formatCount: number;
}

function readScreen(message: Message, at: number, { formatsAt, formatCount }: Formats): ScreenSetup {
  const [depth, visual] = [message.u8(at + 38), message.u32(at + 32)];
  const formats = Array.from({ length: formatCount }, (_, index) => formatsAt + 8 * index);
  const format = formats.find((each) => message.u8(each) === depth);
  return {
    root: message.u32(at),
    bitsPerPixel: format === undefined ? 0 : message.u8(format + 1),
    ...readMasks(message, at, visual),
  };
}

function readMasks(message: Message, screenAt: number, visual: number) {
  let at = screenAt + 40;
  for (let depths = message.u8(screenAt + 39); depths > 0; depths -= 1) {
    const count = message.u16(at + 2);
    at += 8;
    for (let index = 0; index < count; index += 1, at += 24) {
      if (message.u32(at) !== visual) continue;
      return { redMask: message.u32(at + 8), greenMask: message.u32(at + 12), blueMask: message.u32(at + 16) };
    }
  }
  return { redMask: 0, greenMask: 0, blueMask: 0 };
}
