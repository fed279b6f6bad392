/** Writes tar archives by hand, so that they can be hostile. */

export interface Entry {
  readonly name: string | Buffer;
  readonly content?: string | Uint8Array;
  /** The type flag: `0` is a file, `1` a hard link, `2` a symbolic link, `5` a directory. */
  readonly flag?: string;
  readonly target?: string;
  readonly mode?: number;
  readonly size?: number;
}

const block = 512;

/** The members, followed by the end of the archive. */
export function archive(entries: readonly Entry[]): Buffer {
  return Buffer.concat([...entries.map(member), Buffer.alloc(2 * block)]);
}

export function member({ name, content = '', flag = '0', target = '', mode = 0o644, size }: Entry): Buffer {
  const bytes = Buffer.from(content as Uint8Array);
  const header = Buffer.alloc(block);
  Buffer.from(name as Buffer).copy(header, 0, 0, 100);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write((size ?? bytes.length).toString(8).padStart(12, '0'), 124);
  header.write('14000000000\0', 136);
  header.write('        ', 148);
  header.write(flag, 156);
  header.write(target, 157, 100);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc((block - (bytes.length % block)) % block)]);
}

/** A pax header for the next member. */
export function pax(records: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    let length = rest + String(rest).length;
    if (rest + String(length).length !== length) length += 1;
    return `${length} ${key}=${value}\n`;
  });
  return member({ name: 'PaxHeader', flag: 'x', content: lines.join('') });
}
