/** Reads what a client writes for keys that are pressed together, such as `ctrl+shift+t`. */

/** Names of keys, in the order in which they go down. */
export type Chord = readonly string[];

/** Modifiers that turn a key into a shortcut; with them, models write letters in upper case without meaning Shift. */
const shortcutModifiers = new Set(
  ['ctrl', 'control', 'alt', 'option', 'super', 'meta', 'cmd', 'command', 'win', 'windows'].flatMap((name) => [
    name,
    `${name}_l`,
    `${name}_r`,
    `${name}left`,
    `${name}right`,
  ]),
);

/** A plus sign separates two keys, except where it is the key itself: `ctrl++`. */
export function parseChord(text: string): Chord {
  return chordOf([text]);
}

/** The keys of a list, each of which may be a chord itself. */
export function chordOf(texts: readonly string[]): Chord {
  const names = texts.flatMap((text) => splitAtPlus(text));
  const isShortcut = names.some((name) => shortcutModifiers.has(name.toLowerCase()));
  return isShortcut ? names.map((name) => (/^[A-Z]$/.test(name) ? name.toLowerCase() : name)) : names;
}

/** The chords of a text in the syntax of `xdotool key`, which separates chords by spaces. */
export function parseChords(text: string): readonly Chord[] {
  const words = text.trim().split(/\s+/);
  // A name such as "Page Down" has a space and is one key for models, but two words are two keys for xdotool.
  return text.trim() === '' ? [[text]] : words.map((word) => parseChord(word));
}

function splitAtPlus(text: string): string[] {
  if (text.length < 2) return [text];
  const parts = text.split(/(?<!^)\+(?=.)/);
  return parts.map((part) => part.trim() || part).filter((part) => part !== '');
}
