/** The orders of a listing, each of them total, so that it can be gone on with from any entry: the cursor. */
import { CoreError } from '../../kit/errors.ts';
import type { Entry } from './walk.ts';

export const sortKeys = ['path', 'name', 'size', 'modified'] as const;
export type SortKey = (typeof sortKeys)[number];
export const directions = ['asc', 'desc'] as const;
export type Direction = (typeof directions)[number];

export interface Order {
  /** By type: directories first, then files by their extension. */
  readonly by: SortKey | 'type';
  readonly direction: Direction;
}

/** Where an entry stands: its rank first, then its place in the tree. */
export interface Position {
  readonly rank: number | string;
  readonly place: string;
}

/** A text whose order is that of the tree: directory by directory, name by name. */
export function placeOf(path: string): string {
  return path.replaceAll('/', '\0');
}

/** `figure` is the size, the time or the kind, where that is what counts. */
export function positionOf({ name, path }: Entry, { by }: Order, figure: number | string): Position {
  const place = placeOf(path);
  if (by === 'path') return { rank: 0, place };
  return { rank: by === 'name' ? name : figure, place };
}

export function comparePositions({ direction }: Order): (a: Position, b: Position) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (a, b) => {
    if (a.rank !== b.rank) return a.rank < b.rank ? -sign : sign;
    if (a.place !== b.place) return a.place < b.place ? -sign : sign;
    return 0;
  };
}

/** What a client gives back to go on behind this position. */
export function encodeCursor({ by, direction }: Order, { rank, place }: Position): string {
  return Buffer.from(JSON.stringify([by, direction, rank, place])).toString('base64url');
}

/** Throws `bad_argument` for what is no cursor of this order. */
export function decodeCursor(cursor: string, { by, direction }: Order): Position {
  const hint = 'Send next_cursor of the last answer, with the same path, sort and order; or leave cursor out.';
  const [ofBy, ofDirection, rank, place] = parseCursor(cursor);
  const isRank = typeof rank === (by === 'name' || by === 'type' ? 'string' : 'number');
  if (!isRank || typeof place !== 'string')
    throw new CoreError('bad_argument', 'cursor is none of a listing', { hint });
  if (ofBy !== by || ofDirection !== direction) {
    throw new CoreError('bad_argument', 'cursor belongs to a listing in another order', { hint });
  }
  return { rank: rank as number | string, place };
}

function parseCursor(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return []; // Made up, or cut: told as what it is by the caller.
  }
}
