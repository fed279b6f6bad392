/** A ring keeps the newest events, and no reader misses a loss. */
import { expect, test } from 'bun:test';
import { EventRing } from './event-ring.ts';

const ringSize = 100;

interface Named {
  readonly path: string;
}

function ringOf(...paths: readonly (string | null)[]): EventRing<Named> {
  const ring = new EventRing<Named>(ringSize);
  for (const path of paths) {
    if (path === null) ring.addLoss();
    else ring.add({ path });
  }
  return ring;
}

/** Reads page after page, as a reader does. Returns the paths, and `!` for each reported loss. */
function readAll(ring: EventRing<Named>, from: number, limit: number): string[][] {
  const pages: string[][] = [];
  for (let cursor = from; ;) {
    const page = ring.after(cursor, limit);
    if (page.events.length === 0 && !page.isOverflow) return pages;
    pages.push([...(page.isOverflow ? ['!'] : []), ...page.events.map(({ path }) => path)]);
    cursor = page.cursor;
  }
}

test('a reader continues after its cursor, page by page', () => {
  const ring = ringOf('a', 'b', 'c');
  expect(ring.cursor).toBe(3);
  expect(readAll(ring, 0, 2)).toEqual([['a', 'b'], ['c']]);
  expect(readAll(ring, 2, 100)).toEqual([['c']]);
  expect(ring.after(3, 100)).toEqual({ events: [], cursor: 3, isOverflow: false });
  expect(ring.after(4000, 100)).toEqual({ events: [], cursor: 3, isOverflow: false });
  expect(ringOf().after(0, 100)).toEqual({ events: [], cursor: 0, isOverflow: false });
});

test('a loss is reported once, in its place, and never on the same page after earlier events', () => {
  const ring = ringOf('a', null, null, 'b', null);
  expect(readAll(ring, 0, 100)).toEqual([['a'], ['!', 'b'], ['!']]);
  expect(readAll(ring, 1, 100)).toEqual([['!', 'b'], ['!']]);
  expect(readAll(ring, 2, 100)).toEqual([['b'], ['!']]);
});

test('events that are no longer kept are reported as a loss', () => {
  const ring = ringOf(...Array.from({ length: ringSize + 5 }, (_, i) => `${i + 1}`));
  expect(ring.after(0, 1)).toMatchObject({ isOverflow: true, cursor: 6, events: [{ seq: 6, path: '6' }] });
  expect(ring.after(4, 1)).toMatchObject({ isOverflow: true, cursor: 6 });
  expect(ring.after(5, 1)).toMatchObject({ isOverflow: false, cursor: 6 });
  expect(ring.after(0, ringSize).events.length).toBe(ringSize);
});

test('numbers may begin later, so that a cursor of another ring is behind or beyond', () => {
  const ring = new EventRing<Named>(ringSize, 1000);
  expect(ring.after(7, 100)).toEqual({ events: [], cursor: 1000, isOverflow: true });
  ring.add({ path: 'a' });
  expect(ring.after(7, 100)).toEqual({ events: [{ path: 'a', seq: 1001 }], cursor: 1001, isOverflow: true });
  expect(ring.after(1000, 100)).toMatchObject({ cursor: 1001, isOverflow: false });
});
