/** Reads the rows of a long list that are on the screen. */
import { getExtents, getIndex, getObjectAt, screenCoordinates } from './methods.ts';
import type { AccessibleObject, Children, ObjectReader } from './reader.ts';
import { hasState } from './states.ts';

/** Cells of a list that are read around the one in its middle; a screen shows fewer. */
const maxCells = 200;

/**
 * True for a list that creates its cells when they are asked for. GTK 3 says that all of them are showing, whether the
 * list is scrolled to them or not.
 */
export function isLongList({ states }: AccessibleObject): boolean {
  return hasState(states, 'manages_descendants');
}

/** The cells around the one in the middle of the list, without those that are outside of the list. */
export async function visibleCells(reader: ObjectReader, list: AccessibleObject, max: number): Promise<Children> {
  const { calls } = reader;
  const extents = (await calls.ask(list, getExtents, screenCoordinates))?.[0];
  if (!extents) return { objects: [], isCut: false };
  const [x, y, width, height] = extents;
  const room = Math.min(max, maxCells);
  const middle = await calls.ask(list, getObjectAt, x + Math.min(width >> 1, 8), y + (height >> 1), screenCoordinates);
  const [bus, path] = middle?.[0] ?? ['', ''];
  const index = bus.startsWith(':') ? ((await calls.ask({ bus, path }, getIndex))?.[0] ?? 0) : 0;
  const from = Math.max(0, index - (room >> 1));
  const { objects } = await reader.childrenInRange(list, { from, max: room });
  const places = await Promise.all(objects.map((cell) => calls.ask(cell, getExtents, screenCoordinates)));
  const isInside = (cell: readonly number[] | undefined) =>
    cell === undefined || (overlaps([x, width], [cell[0]!, cell[2]!]) && overlaps([y, height], [cell[1]!, cell[3]!]));
  return { objects: objects.filter((_cell, at) => isInside(places[at]?.[0])), isCut: false };
}

/** Two ranges, each with its start and its length. */
function overlaps(
  [start, length]: readonly [number, number],
  [other, otherLength]: readonly [number, number],
): boolean {
  return other < start + length && start < other + otherLength;
}
