/** Parses the Range header (RFC 9110, section 14): one range of bytes, or the whole. */
import type { Range } from '../../kit/byte-log.ts';

/**
 * `whole` when the header is absent, uses another unit, or lists several ranges, which RFC 9110 lets a server answer
 * with the whole. `unsatisfiable` when the range contains no byte of the file.
 */
export function rangeOf(header: string | null, size: number): Range | 'whole' | 'unsatisfiable' {
  const [, list] = /^\s*bytes\s*=(.*)$/i.exec(header ?? '') ?? [];
  if (list === undefined) return 'whole';
  const ranges = list.split(',').filter((text) => text.trim() !== '');
  if (ranges.length > 1 && ranges.every(isRange)) return 'whole';
  return ranges.length === 1 && ranges[0] !== undefined ? oneRange(ranges[0], size) : 'unsatisfiable';
}

function isRange(text: string): boolean {
  return /^\s*(\d+-\d*|-\d+)\s*$/.test(text);
}

function oneRange(text: string, size: number): Range | 'unsatisfiable' {
  if (!isRange(text)) return 'unsatisfiable';
  const [first = '', last = ''] = text.trim().split('-');
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return from < to ? { from, to } : 'unsatisfiable';
}
