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

/** The position of an entry in a listing: compared by rank, then by tree key. */
export interface Position {
  readonly rank: number | string;
  readonly treeKey: string;
}

/** Maps a path to a sort key that gives tree order: directory by directory, name by name. */
export function treeKeyOf(path: string): string {
  return path.replaceAll('/', '\0');
}

/** `value` is the size, the time or the extension, if the order uses one of them. */
export function positionOf({ name, path }: Entry, { by }: Order, value: number | string): Position {
  const treeKey = treeKeyOf(path);
  if (by === 'path') return { rank: 0, treeKey };
  return { rank: by === 'name' ? name : value, treeKey };
}

export function comparePositions({ direction }: Order): (a: Position, b: Position) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (a, b) => {
    if (a.rank !== b.rank) return a.rank < b.rank ? -sign : sign;
    if (a.treeKey !== b.treeKey) return a.treeKey < b.treeKey ? -sign : sign;
    return 0;
  };
}

/** The client sends the cursor back to resume after this position. */
export function encodeCursor({ by, direction }: Order, { rank, treeKey }: Position): string {
  return Buffer.from(JSON.stringify([by, direction, rank, treeKey])).toString('base64url');
}

/** Throws `bad_argument` for a cursor that is not of this order. */
export function decodeCursor(cursor: string, { by, direction }: Order): Position {
  const advice = advise`Send ${'nextCursor'} of the last answer with otherwise the same arguments, or leave ${'cursor'} out.`;
  const [ofBy, ofDirection, rank, treeKey] = parseCursor(cursor);
  const isRank = typeof rank === (by === 'name' || by === 'type' ? 'string' : 'number');
  if (!isRank || typeof treeKey !== 'string')
    throw new CoreError('bad_argument', 'was not returned by a listing', { argument: 'cursor', advice });
  if (ofBy !== by || ofDirection !== direction) {
    throw new CoreError('bad_argument', 'belongs to a listing in another order', { argument: 'cursor', advice });
  }
  return { rank: rank as number | string, treeKey };
}

function parseCursor(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return []; // The cursor is invalid or truncated. The caller reports the error.
  }
}
