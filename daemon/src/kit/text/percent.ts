/** Decodes %XX; a text with a plain percent sign stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // It is not percent-encoded.
  }
}
