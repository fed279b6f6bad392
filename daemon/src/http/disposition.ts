/** The Content-Disposition of a file that is sent (RFC 6266), with a name of any script (RFC 8187). */

/** For programs that know no other form: ASCII without what would end the quotes. */
function plain(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\%]/g, '_');
}

export function attachment(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain(name)}"; filename*=UTF-8''${encoded}`;
}
