/** Reads the name of a display, as in `:0` or `host:10.0`, into the places where its X server may listen. */

export interface DisplayAddress {
  /** For example `0` for `:0.1`; selects the entry of the authority file. */
  readonly number: string;
  /** Null for a server of this machine. */
  readonly host: string | null;
  /** Addresses to try, in this order. */
  readonly endpoints: readonly DisplayEndpoint[];
}

export type DisplayEndpoint = { readonly unix: string } | { readonly hostname: string; readonly port: number };

/** Null when the name is not one of a display. */
export function parseDisplayName(name: string): DisplayAddress | null {
  const match = /^(?:unix)?(?:\/unix)?(?<host>[^/]*?):(?<number>\d{1,5})(?:\.\d+)?$/.exec(name);
  const { host = '', number = '' } = match?.groups ?? {};
  if (number === '') return null;
  if (host !== '') {
    const port = 6000 + Number(number);
    return port > 65_535 ? null : { number, host, endpoints: [{ hostname: host.replace(/^\[|\]$/g, ''), port }] };
  }
  const path = `/tmp/.X11-unix/X${number}`;
  // Linux servers also listen at an abstract name, which reaches another mount namespace.
  return { number, host: null, endpoints: [{ unix: path }, { unix: `\0${path}` }] };
}
