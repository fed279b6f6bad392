/** Maps the extension of a file name to a media type. */

/** `application/octet-stream` for an unknown extension. */
export function mimeOf(path: string): string {
  return Bun.file(path).type;
}
