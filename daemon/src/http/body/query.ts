/** Parses the query of a URL. A value may be a path, so bytes that are not UTF-8 survive (`kit/text/path-text.ts`). */
import { percentDecode } from '../../kit/text/path-text.ts';

/** When a name is repeated, the last value counts. */
export function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(pieces(url).map((piece) => [nameOf(piece), decode(valueOf(piece))]));
}

/** The same URL without this parameter; all other parameters stay as written. */
export function withoutParameter(url: string, name: string): string {
  const rest = pieces(url).filter((piece) => nameOf(piece) !== name);
  const [path = ''] = url.split('?', 1);
  return rest.length === 0 ? path : `${path}?${rest.join('&')}`;
}

function pieces(url: string): string[] {
  const start = url.indexOf('?');
  return start === -1
    ? []
    : url
        .slice(start + 1)
        .replace(/#.*$/, '')
        .split('&')
        .filter((piece) => piece !== '');
}

function nameOf(piece: string): string {
  return decode(piece.split('=', 1)[0] ?? '');
}

function valueOf(piece: string): string {
  const at = piece.indexOf('=');
  return at === -1 ? '' : piece.slice(at + 1);
}

function decode(text: string): string {
  return percentDecode(text.replaceAll('+', ' '));
}
