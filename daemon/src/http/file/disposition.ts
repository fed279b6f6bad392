/** The Content-Disposition header of a file (RFC 6266), with names in any script (RFC 8187). */

/** The ASCII name for clients without RFC 8187, without characters that would end the quotes. */
function plain(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\%]/g, '_');
}

export type Disposition = 'attachment' | 'inline';

export function dispositionOf(name: string, kind: Disposition): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain(name)}"; filename*=UTF-8''${encoded}`;
}
