/** The size of the text in terminals, which the tab keeps. */

const name = 'boxkeep.terminal-text';
const usual = 14;
const [min, max] = [8, 32];

/** In pixels. */
export function keptTextSize(): number {
  try {
    return within(Number(sessionStorage.getItem(name) ?? usual));
  } catch {
    return usual; // A browser may deny storage to a page inside a frame.
  }
}

export function keepTextSize(pixels: number): number {
  const kept = within(pixels);
  try {
    sessionStorage.setItem(name, String(kept));
  } catch {
    // As above. The size then lasts until the view is closed.
  }
  return kept;
}

function within(pixels: number): number {
  return Number.isFinite(pixels) ? Math.min(max, Math.max(min, Math.round(pixels))) : usual;
}
