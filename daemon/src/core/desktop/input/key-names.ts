/** Finds the keysyms for a key name of X, of the web, of pyautogui or of an agent, or for a single character. */
import { CoreError } from '../../../kit/errors.ts';
import { keysymsOfCharacter } from './characters.ts';
import { keysymNames } from './keysym-names.ts';

/** Names as lower-case letters and digits, each group with the keysym that its names stand for. */
const aliases: Readonly<Record<string, string>> = {
  Control_L: 'ctrl control ctl controlleft ctrlleft',
  Control_R: 'controlright ctrlright',
  Shift_L: 'shift shiftleft',
  Shift_R: 'shiftright',
  Alt_L: 'alt option opt altleft optionleft',
  Alt_R: 'altright optionright',
  Super_L: 'super meta cmd command win windows os superleft metaleft winleft cmdleft osleft',
  Super_R: 'superright metaright winright cmdright osright',
  ISO_Level3_Shift: 'altgr altgraph',
  Return: 'enter return ret newline',
  Escape: 'esc escape',
  BackSpace: 'backspace bksp',
  Delete: 'delete del forwarddelete',
  Insert: 'insert ins',
  Tab: 'tab',
  ISO_Left_Tab: 'backtab',
  space: 'space spacebar',
  Left: 'left arrowleft leftarrow',
  Right: 'right arrowright rightarrow',
  Up: 'up arrowup uparrow',
  Down: 'down arrowdown downarrow',
  Home: 'home',
  End: 'end',
  Prior: 'pageup pgup prior',
  Next: 'pagedown pgdn pgdown next',
  Menu: 'menu apps contextmenu',
  Print: 'print printscreen prtsc prtscr prntscrn prtscn',
  Pause: 'pause break',
  Caps_Lock: 'capslock',
  Num_Lock: 'numlock',
  Scroll_Lock: 'scrolllock',
  Help: 'help',
  Multi_key: 'compose',
  KP_Enter: 'numpadenter kpenter',
  KP_Add: 'numpadadd add kpadd',
  KP_Subtract: 'numpadsubtract subtract kpsubtract',
  KP_Multiply: 'numpadmultiply multiply kpmultiply',
  KP_Divide: 'numpaddivide divide kpdivide',
  KP_Decimal: 'numpaddecimal decimal kpdecimal',
  KP_Separator: 'numpadcomma separator',
  KP_Equal: 'numpadequal',
  plus: 'plus',
  minus: 'minus dash hyphen',
  equal: 'equal equals',
  comma: 'comma',
  period: 'period dot',
  slash: 'slash',
  backslash: 'backslash intlbackslash',
  semicolon: 'semicolon',
  apostrophe: 'quote singlequote apostrophe',
  quotedbl: 'doublequote',
  grave: 'backquote backtick grave',
  bracketleft: 'bracketleft leftbracket',
  bracketright: 'bracketright rightbracket',
  XF86AudioMute: 'audiovolumemute volumemute mute',
  XF86AudioLowerVolume: 'audiovolumedown volumedown',
  XF86AudioRaiseVolume: 'audiovolumeup volumeup',
  XF86AudioPlay: 'mediaplaypause playpause mediaplay',
  XF86AudioStop: 'mediastop stop',
  XF86AudioNext: 'mediatracknext nexttrack',
  XF86AudioPrev: 'mediatrackprevious prevtrack',
  XF86Back: 'browserback',
  XF86Forward: 'browserforward',
  XF86Reload: 'browserrefresh',
  XF86Search: 'browsersearch',
  XF86Favorites: 'browserfavorites',
  XF86HomePage: 'browserhome',
};

const byAlias: ReadonlyMap<string, string> = new Map(
  Object.entries(aliases).flatMap(([keysym, names]) => names.split(' ').map((name) => [name, keysym])),
);

/** Names without regard to case, for those that differ from another name in more than case. */
const byLooseName: ReadonlyMap<string, number> = new Map(
  [...keysymNames].toReversed().map(([name, keysym]) => [loose(name), keysym]),
);

const maxNameLength = 64;

/**
 * The keysyms that satisfy the name, the usual one first. Throws `bad_argument` for an unknown name.
 * An alias comes before an X name that differs in case, because `CTRL` and `Enter` have one meaning everywhere.
 */
export function keysymsNamed(name: string): readonly number[] {
  const exact = keysymNames.get(name);
  if (isOneCharacter(name)) return charactersOrKey(name);
  const alias = byAlias.get(loose(name));
  const keysym = exact ?? (alias === undefined ? undefined : keysymNames.get(alias)) ?? derived(name);
  if (keysym !== undefined) return [keysym];
  throw unknownKey(name);
}

function charactersOrKey(character: string): readonly number[] {
  const control = { '\n': 'Return', '\r': 'Return', '\t': 'Tab', '\b': 'BackSpace', '\u001B': 'Escape' }[character];
  const keysyms = control === undefined ? keysymsOfCharacter(character) : keysymsNamed(control);
  if (keysyms.length === 0) throw unknownKey(character);
  return keysyms;
}

/** `KeyA`, `Digit1` and `Numpad1` of the web, `num1` of pyautogui, `U20AC` and `0xff0d` of X, and any X name in any case. */
function derived(name: string): number | undefined {
  const plain = loose(name);
  const character = /^(?:key([a-z])|digit(\d))$/.exec(plain);
  if (character) return (character[1] ?? character[2])?.codePointAt(0);
  const digit = /^(?:numpad|num|kp)(\d)$/.exec(plain)?.[1];
  if (digit !== undefined) return keysymNames.get(`KP_${digit}`);
  const code = /^u\+?([0-9a-f]{4,6})$/i.exec(name)?.[1];
  if (code !== undefined) return keysymOfCode(Number.parseInt(code, 16));
  const value = /^0x([0-9a-f]{1,8})$/i.exec(name)?.[1];
  return value === undefined ? byLooseName.get(plain) : Number.parseInt(value, 16);
}

function keysymOfCode(code: number): number | undefined {
  return code > 0x10_ffff ? undefined : keysymsOfCharacter(String.fromCodePoint(code))[0];
}

function isOneCharacter(name: string): boolean {
  return Array.from(name).length === 1;
}

function loose(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}

function unknownKey(name: string): CoreError {
  const shown = name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
  return new CoreError('bad_argument', `key ${JSON.stringify(shown)} is not known`, {
    hint: 'Name keys as X, the web or an agent does, such as Return, ArrowUp or ctrl+c, or pass one character.',
  });
}
