/** The keys of a US keyboard, as events of a page name them, and other names that clients give them. */

export interface Key {
  /** As in `KeyboardEvent.key`. */
  readonly key: string;
  /** The place on the keyboard, as in `KeyboardEvent.code`. Empty for a character that the keyboard does not have. */
  readonly code: string;
  readonly keyCode: number;
  /** What the key inserts; empty for a key that inserts nothing. */
  readonly text: string;
  readonly needsShift: boolean;
}

/** The key code of Windows for each code, with the characters of the key without and with Shift. */
const symbolKeys: readonly (readonly [code: string, keyCode: number, characters: string])[] = [
  ['Backquote', 192, '`~'],
  ['Minus', 189, '-_'],
  ['Equal', 187, '=+'],
  ['BracketLeft', 219, '[{'],
  ['BracketRight', 221, ']}'],
  ['Backslash', 220, '\\|'],
  ['Semicolon', 186, ';:'],
  ['Quote', 222, '\'"'],
  ['Comma', 188, ',<'],
  ['Period', 190, '.>'],
  ['Slash', 191, '/?'],
  ['Space', 32, ' '],
  ...Array.from(')!@#$%^&*(', (shifted, digit) => [`Digit${digit}`, 48 + digit, `${digit}${shifted}`] as const),
  ...Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => {
    const upper = letter.toUpperCase();
    return [`Key${upper}`, upper.charCodeAt(0), `${letter}${upper}`] as const;
  }),
];

const byCharacter: ReadonlyMap<string, Key> = new Map(
  symbolKeys.flatMap(([code, keyCode, characters]) =>
    Array.from(characters, (key, index) => [key, { key, code, keyCode, text: key, needsShift: index === 1 }] as const),
  ),
);

/** Key codes of Windows, and other names of the key. */
const namedKeys: Readonly<Record<string, readonly [keyCode: number, otherNames?: string]>> = {
  Enter: [13, 'return'],
  Tab: [9],
  Escape: [27, 'esc'],
  Backspace: [8],
  Delete: [46, 'del'],
  Insert: [45, 'ins'],
  Home: [36],
  End: [35],
  PageUp: [33, 'pgup'],
  PageDown: [34, 'pgdn pgdown'],
  ArrowLeft: [37, 'left'],
  ArrowUp: [38, 'up'],
  ArrowRight: [39, 'right'],
  ArrowDown: [40, 'down'],
  CapsLock: [20],
  NumLock: [144],
  ScrollLock: [145],
  Pause: [19],
  PrintScreen: [44],
  ContextMenu: [93, 'menu'],
  Control: [17, 'ctrl ctl controlormeta'],
  Shift: [16],
  Alt: [18, 'option opt'],
  Meta: [91, 'cmd command super win windows'],
  ...Object.fromEntries(Array.from({ length: 24 }, (_, index) => [`F${index + 1}`, [112 + index]])),
};

const byName: ReadonlyMap<string, Key> = new Map([
  ...Object.entries(namedKeys).flatMap(([key, [keyCode, otherNames = '']]) => {
    const code = ['Control', 'Shift', 'Alt', 'Meta'].includes(key) ? `${key}Left` : key;
    const named = { key, code, keyCode, text: key === 'Enter' ? '\r' : '', needsShift: false };
    return [key, code, ...otherNames.split(' ')].map((name) => [name.toLowerCase(), named] as const);
  }),
  ...['space', 'spacebar'].map((name) => [name, byCharacter.get(' ')!] as const),
  ['plus', byCharacter.get('+')!] as const,
]);

/** The key of a character or of a name in any case; null for an unknown name. */
export function keyNamed(name: string): Key | null {
  return isOneCharacter(name) ? keyOf(name) : (byName.get(name.toLowerCase().replaceAll(/[\s_-]/g, '')) ?? null);
}

/** The key that types a character. */
export function keyOf(character: string): Key {
  const known = byCharacter.get(character);
  if (known) return known;
  if (character === '\n' || character === '\r') return byName.get('enter')!;
  if (character === '\t') return byName.get('tab')!;
  return { key: character, code: '', keyCode: 0, text: character, needsShift: false };
}

/** The character that Shift makes of the key. */
export function shifted(key: Key): Key {
  const upper = symbolKeys.find(([code]) => code === key.code)?.[2][1];
  return upper === undefined ? key : { ...key, key: upper, text: upper };
}

function isOneCharacter(name: string): boolean {
  return Array.from(name).length === 1;
}
