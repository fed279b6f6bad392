/** Reads the address of a D-Bus bus, as in `unix:path=/run/user/1000/bus,guid=…`. */
import { DbusUnreachable } from '../../protocols/dbus-errors.ts';

/**
 * The Unix socket of the first address that has one, as `Bun.connect` takes the path: an abstract name begins with a
 * zero byte. Throws `DbusUnreachable`.
 */
export function socketOf(address: string): string {
  for (const each of address.split(';')) {
    const [transport = '', pairs = ''] = split(each, ':');
    if (transport !== 'unix') continue;
    const values = new Map(pairs.split(',').map((pair) => split(pair, '=')));
    const path = values.get('path');
    if (path) return unescape(path);
    const name = values.get('abstract');
    if (name) return `\0${unescape(name)}`;
  }
  throw new DbusUnreachable(`the address ${address} names no Unix socket`);
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function unescape(value: string): string {
  const bytes = value.replaceAll(/%([\da-f]{2})/gi, (_whole, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
