/** The media type that the extension of a name stands for. */

/** `application/octet-stream` for what is not known. */
export function mimeOf(path: string): string {
  return Bun.file(path).type;
}
