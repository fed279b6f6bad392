/** Reads the cookie of a display from an authority file, as `xauth` writes the file. */
import { readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import type { DisplayAddress } from './address.ts';

export interface Cookie {
  readonly name: string;
  readonly value: Buffer;
}

interface AuthorityEntry extends Cookie {
  readonly family: number;
  readonly address: Buffer;
  /** Empty for every display. */
  readonly number: string;
}

const cookieName = 'MIT-MAGIC-COOKIE-1';
/** Families of `Xauth.h`: an entry for this machine, and one for any. */
const familyLocal = 256;
const familyWild = 65_535;

/** Null without a file or an entry; a server may admit the client by its account instead. */
export async function findCookie(path: string | null, address: DisplayAddress): Promise<Cookie | null> {
  const bytes = await readFile(path ?? join(homedir(), '.Xauthority')).catch(() => null); // The server decides.
  if (bytes === null) return null;
  const entries = [...readEntries(bytes)].filter(
    ({ name, number }) => name === cookieName && (number === '' || number === address.number),
  );
  const best = entries.sort((a, b) => rank(b, address) - rank(a, address))[0];
  return best && rank(best, address) > 0 ? best : null;
}

/** The names of hosts in the file differ from today's after a container was renamed, so such an entry is used last. */
function rank({ family, address }: AuthorityEntry, { host }: DisplayAddress): number {
  if (family === familyLocal && address.toString('latin1') === (host ?? hostname())) return 4;
  if (family === familyWild) return 3;
  if (host !== null) return family === familyLocal ? 0 : 2;
  return family === familyLocal ? 1 : 0;
}

/** An entry is a family and four strings, each with a length before it, all big-endian. */
function* readEntries(bytes: Buffer): Generator<AuthorityEntry> {
  let at = 0;
  const string = () => {
    const length = bytes.readUInt16BE(at);
    at += 2 + length;
    return bytes.subarray(at - length, at);
  };
  try {
    while (at < bytes.length) {
      const family = bytes.readUInt16BE(at);
      at += 2;
      const [address, number, name, value] = [string(), string(), string(), string()];
      yield { family, address, number: number.toString('latin1'), name: name.toString('latin1'), value };
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // The file ends within an entry: the entries before it count.
  }
}
