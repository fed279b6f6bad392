/** Replaces the generated section of a hand-written document. Two comments mark the section. */

export const startMarker = '<!-- results: written by npm run gen -->';
export const endMarker = '<!-- end of results -->';

/** Returns the document with `content` between the markers. The path is for the errors. */
export function withSection(path: string, document: string, content: string): string {
  const start = document.indexOf(startMarker);
  const end = document.indexOf(endMarker);
  for (const [marker, at] of [[startMarker, start] as const, [endMarker, end] as const]) {
    if (at < 0) throw new Error(`${path} has no line ${marker}. Put both markers where the results belong.`);
    if (at !== document.lastIndexOf(marker)) throw new Error(`${path} has two lines ${marker}. Delete one.`);
  }
  if (end < start) throw new Error(`${path} has ${endMarker} before ${startMarker}. Swap the two lines.`);
  const body = content === '' ? '' : `${content.trimEnd()}\n\n`;
  return `${document.slice(0, start)}${startMarker}\n\n${body}${document.slice(end)}`;
}
