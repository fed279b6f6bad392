/** Works on pixels of four bytes (blue, green, red, unused): resizes a picture, and draws the pointer on it. */
import type { Size, Point } from '../../../kit/types/geometry.ts';

export interface Pixels extends Size {
  readonly bytes: Buffer;
}

/** Each new pixel is the average of the pixels that it covers, which keeps small text readable. */
export function resize(picture: Pixels, { width, height }: Size): Pixels {
  if (width === picture.width && height === picture.height) return picture;
  const columns = coverage(picture.width, width);
  const rows = coverage(picture.height, height);
  const narrow = resizeRows(picture, columns, width);
  const bytes = Buffer.alloc(width * height * 4);
  const stride = width * 3;
  for (let y = 0; y < height; y += 1) {
    const sums = new Float32Array(stride);
    for (const { at, weight } of rows[y]!) {
      for (let x = 0, from = at * stride; x < stride; x += 1, from += 1) sums[x]! += narrow[from]! * weight;
    }
    for (let x = 0, to = y * width * 4; x < stride; x += 3, to += 4) {
      bytes[to] = sums[x]! + 0.5;
      bytes[to + 1] = sums[x + 1]! + 0.5;
      bytes[to + 2] = sums[x + 2]! + 0.5;
    }
  }
  return { width, height, bytes };
}

interface Share {
  readonly at: number;
  readonly weight: number;
}

/** For each new pixel of a line, the old pixels below it with their shares, which add up to one. */
function coverage(from: number, to: number): readonly (readonly Share[])[] {
  const scale = from / to;
  return Array.from({ length: to }, (_, index) => {
    const [begin, end] = [index * scale, Math.min(from, (index + 1) * scale)];
    const shares: Share[] = [];
    for (let at = Math.floor(begin); at < end && at < from; at += 1) {
      const covered = Math.min(end, at + 1) - Math.max(begin, at);
      if (covered > 0) shares.push({ at, weight: covered / (end - begin) });
    }
    return shares;
  });
}

/** Three numbers a pixel. */
function resizeRows(picture: Pixels, columns: readonly (readonly Share[])[], width: number): Float32Array {
  const { bytes } = picture;
  const out = new Float32Array(width * picture.height * 3);
  let to = 0;
  for (let y = 0; y < picture.height; y += 1) {
    const row = y * picture.width * 4;
    for (let x = 0; x < width; x += 1, to += 3) {
      let [blue, green, red] = [0, 0, 0];
      for (const { at, weight } of columns[x]!) {
        const from = row + at * 4;
        blue += bytes[from]! * weight;
        green += bytes[from + 1]! * weight;
        red += bytes[from + 2]! * weight;
      }
      out[to] = blue;
      out[to + 1] = green;
      out[to + 2] = red;
    }
  }
  return out;
}

/** Draws a picture whose colours are multiplied by alpha; what lies outside is left out. */
export function drawOver(picture: Pixels, image: Pixels, at: Point): void {
  const [left, top] = [Math.max(0, at.x), Math.max(0, at.y)];
  const right = Math.min(picture.width, at.x + image.width);
  const bottom = Math.min(picture.height, at.y + image.height);
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const from = ((y - at.y) * image.width + (x - at.x)) * 4;
      const to = (y * picture.width + x) * 4;
      const through = 255 - image.bytes[from + 3]!;
      for (let channel = 0; channel < 3; channel += 1) {
        const under = (picture.bytes[to + channel]! * through) / 255;
        picture.bytes[to + channel] = Math.min(255, image.bytes[from + channel]! + Math.round(under));
      }
    }
  }
}
