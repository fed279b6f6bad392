/** Names that the client gives, so that a repeated request finds the first one. */

/** The time and 64 random bits. */
export function newId(kind: string): string {
  const part = () => Math.floor(Math.random() * 2 ** 32).toString(36);
  return `${kind}_${Date.now().toString(36)}_${part()}${part()}`;
}
