/** Pictures of a real display, decoded again: their pixels, sizes and formats, and the size of the screen. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { inflateSync } from 'node:zlib';
import { TestDisplay } from '../../../../../test/harness/display.ts';
import { needPrograms } from '../../../../../test/harness/programs.ts';
import { until } from '../../../../../test/harness/until.ts';
import { encodePicture } from '../../../platform/picture/picture.ts';
import { Display } from '../../../platform/x11/display.ts';
import type { ScreenshotRequest } from '../desktop.ts';
import { resize } from './pixels.ts';
import { Screen } from './screen.ts';

const options = { signal: new AbortController().signal };
const plain: ScreenshotRequest = { format: 'png', quality: null, area: null, scaleTo: null, hasCursor: false };
/** Within the window of the test, and away from its text cursor. */
const inside = { x: 200, y: 180, width: 40, height: 30 };
const colour = [0x12, 0x80, 0xfe];

let server: TestDisplay;
let display: Display;
let screen: Screen;

beforeAll(async () => {
  needPrograms('xterm');
  server = await TestDisplay.start({ width: 1000, height: 700 });
  display = await Display.open({ name: server.name, authority: null, withinMs: 20_000 });
  screen = new Screen({ display, encode: encodePicture });
  server.spawn(['xterm', '-geometry', '60x20+100+100', '-bg', '#1280fe', '-e', 'sleep', '1000']);
  await until('the window is drawn', async () => (await pixelsOf({ area: inside }))[0] === colour.join());
});
afterAll(async () => {
  display.close();
  await server[Symbol.asyncDispose]();
});

/** The different colours of a picture. */
async function pixelsOf(request: Partial<ScreenshotRequest>): Promise<string[]> {
  const { bytes } = await screen.screenshot({ ...plain, ...request }, options);
  return [...new Set(decodePng(Buffer.from(bytes)).pixels)];
}

test('a picture has the colours of the screen, as a whole and in part', async () => {
  const { bytes, image, screen: size } = await screen.screenshot(plain, options);
  const { width, height, pixels } = decodePng(Buffer.from(bytes));
  const whole = { width: 1000, height: 700 };
  expect([{ width, height }, image, size]).toEqual([whole, whole, whole]);
  expect([pixels[0], pixels[190 * 1000 + 210]]).toEqual(['0,0,0', colour.join()]);
  expect(await pixelsOf({ area: inside })).toEqual([colour.join()]);
});

test('the pointer is drawn when the client asks for it', async () => {
  await display.input.moveTo(inside.x + 10, inside.y + 10);
  await until('the pointer is drawn', async () => (await pixelsOf({ area: inside, hasCursor: true })).length > 1);
  expect(await pixelsOf({ area: inside })).toEqual([colour.join()]);
  // At the corner, only a part of its picture is on the screen.
  await display.input.moveTo(999, 699);
  expect((await screen.screenshot({ ...plain, hasCursor: true }, options)).image.width).toBe(1000);
});

test('jpeg, webp and png state their sizes, scaled and not', async () => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const scaleTo = { width: 640, height: 400 };
    const { bytes, image } = await screen.screenshot({ ...plain, format, scaleTo }, options);
    expect(image).toEqual(scaleTo);
    expect(await new Bun.Image(bytes).metadata()).toEqual({ ...scaleTo, format });
  }
  const area = { x: 150, y: 150, width: 100, height: 50 };
  const part = await screen.screenshot({ ...plain, area, scaleTo: { width: 400, height: 400 } }, options);
  expect(part.image).toEqual({ width: 400, height: 200 });
});

test('an area is cut at the edges of the screen, and refused outside', async () => {
  const { image } = await screen.screenshot({ ...plain, area: { x: 950, y: 690, width: 500, height: 500 } }, options);
  expect(image).toEqual({ width: 50, height: 10 });
  const outside = screen.screenshot({ ...plain, area: { x: 1000, y: 0, width: 5, height: 5 } }, options);
  expect(String(await failureOf(outside))).toContain('no part on the screen of 1000 × 700 pixels');
});

test('the screen changes its size and back, and a size beyond the range is refused with the range', async () => {
  const small = { width: 801, height: 600 };
  expect(await screen.setSize(small, options)).toEqual(small);
  expect((await screen.screenshot(plain, options)).image).toEqual(small);
  const full = { width: 1000, height: 700 };
  expect(await screen.setSize(full, options)).toEqual(full);
  const beyond = screen.setSize({ width: 1001, height: 700 }, options);
  expect(await failureOf(beyond)).toMatchObject({ code: 'bad_argument', facts: { max: full } });
  expect(await screen.size(options)).toEqual(full);
});

test('a server that shares no memory and has 16 bits a pixel gives the same colours', async () => {
  await using old = await TestDisplay.start({ depth: 16, flags: ['-extension', 'MIT-SHM'] });
  const connected = await Display.open({ name: old.name, authority: null, withinMs: 20_000 });
  const oldScreen = new Screen({ display: connected, encode: encodePicture });
  old.spawn(['xterm', '-geometry', '60x20+100+100', '-bg', '#ff0084', '-e', 'sleep', '1000']);
  const colours = async () => {
    const { bytes } = await oldScreen.screenshot({ ...plain, area: inside }, options);
    return [...new Set(decodePng(Buffer.from(bytes)).pixels)];
  };
  // Sixteen bits have five for red and blue: 0x84 is the nearest value to itself.
  await until('the window is drawn', async () => (await colours())[0] === '255,0,132');
  expect(connected.connection.has('MIT-SHM')).toBe(false);
  connected.close();
});

test('a smaller picture has the averages of the pixels below', () => {
  const row = (...values: number[]) => values.flatMap((value) => [value, value, value, 0]);
  const picture = { width: 4, height: 2, bytes: Buffer.from([...row(0, 100, 200, 0), ...row(100, 200, 0, 0)]) };
  expect([...resize(picture, { width: 2, height: 1 }).bytes]).toEqual(row(100, 50));
  expect([...resize(picture, { width: 4, height: 1 }).bytes]).toEqual(row(50, 150, 100, 0));
});

interface Decoded {
  readonly width: number;
  readonly height: number;
  /** Format: `red,green,blue`. */
  readonly pixels: readonly string[];
}

/** For three channels of eight bits and the filter "Up" in every row. */
function decodePng(bytes: Buffer): Decoded {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const content: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const isContent = bytes.toString('latin1', at + 4, at + 8) === 'IDAT';
    if (isContent) content.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  const rows = inflateSync(Buffer.concat(content));
  const stride = width * 3;
  const above = Buffer.alloc(stride);
  const pixels: string[] = [];
  for (let y = 0; y < height; y += 1) {
    const from = y * (stride + 1) + 1;
    if (rows[from - 1] !== 2) throw new Error(`row ${y} has the filter ${rows[from - 1]}`);
    for (let x = 0; x < stride; x += 1) above[x]! += rows[from + x]!;
    for (let x = 0; x < stride; x += 3) pixels.push(`${above[x]},${above[x + 1]},${above[x + 2]}`);
  }
  return { width, height, pixels };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}
