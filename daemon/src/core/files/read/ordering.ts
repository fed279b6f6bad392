/** Defines total sort orders for listings, so that a cursor can resume after any entry. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Entry } from '../tree/walk.ts';

export const sortKeys = ['path', 'name', 'size', 'modified'] as const;
export type SortKey = (typeof sortKeys)[number];
export const directions = ['asc', 'desc'] as const;
export type Direction = (typeof directions)[number];

export interface Order {
  /** `type` sorts directories first, then files by extension. */
  readonly by: SortKey | 'type';
  readonly direction: Direction;
}

/** The position of an entry: rank first, then place in the tree. */
export interface Position {
  readonly rank: number | string;
  readonly place: string;
}

/** Maps a path to a sort key that gives tree order: directory by directory, name by name. */
export function placeOf(path: string): string {
  return path.replaceAll('/', '\0');
}

/** `figure` is the size, the time or the kind, if the order uses one of these. */
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

/** The client sends the cursor back to resume after this position. */
export function encodeCursor({ by, direction }: Order, { rank, place }: Position): string {
  return Buffer.from(JSON.stringify([by, direction, rank, place])).toString('base64url');
}

/** Throws `bad_argument` for a cursor that is not of this order. */
export function decodeCursor(cursor: string, { by, direction }: Order): Position {
  const advice = advise`Send ${'nextCursor'} of the last answer with the same path, sort and order, or leave ${'cursor'} out.`;
  const [ofBy, ofDirection, rank, place] = parseCursor(cursor);
  const isRank = typeof rank === (by === 'name' || by === 'type' ? 'string' : 'number');
  if (!isRank || typeof place !== 'string')
    throw new CoreError('bad_argument', 'was not returned by a listing', { argument: 'cursor', advice });
  if (ofBy !== by || ofDirection !== direction) {
    throw new CoreError('bad_argument', 'belongs to a listing in another order', { argument: 'cursor', advice });
  }
  return { rank: rank as number | string, place };
}

function parseCursor(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return []; // The cursor is invalid or truncated. The caller reports the error.
  }
}
