/** Takes pictures of the screen of a display, and changes the size of the screen. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Size } from '../../../kit/types/geometry.ts';
import { X11Refusal, X11Unchangeable } from '../../../protocols/x11-errors.ts';
import type { encodePicture } from '../../../platform/picture/picture.ts';
import type { Display } from '../../../platform/x11/display.ts';
import type { Area } from '../actions/action.ts';
import type { CallOptions, Picture, ScreenshotRequest } from '../desktop.ts';
import { drawOver, resize, type Pixels } from './pixels.ts';

export interface ScreenDeps {
  readonly display: Pick<Display, 'images' | 'resolution' | 'root' | 'windows' | 'connection'>;
  readonly encode: typeof encodePicture;
}

/** Limits of a scaled picture; resizing takes sixteen bytes a pixel. */
const maxPixels = 4096 * 4096;
const maxSide = 8192;

export class Screen {
  constructor(private readonly deps: ScreenDeps) {}

  async size({ signal }: CallOptions): Promise<Size> {
    const { windows, root } = this.deps.display;
    const { width, height } = await windows.geometry(root, signal);
    return { width, height };
  }

  async screenshot(request: ScreenshotRequest, options: CallOptions): Promise<Picture> {
    const { screen, area, pixels } = await this.#capture(request, options);
    const image = imageSize(request, area);
    const { format, quality } = request;
    const bytes = await this.deps.encode(resize(pixels, image), { format, quality });
    return { format, bytes, screen, image };
  }

  /** Returns the size that the screen then has. Throws `bad_argument` for a size that the server refuses. */
  async setSize(size: Size, options: CallOptions): Promise<Size> {
    const current = await this.size(options);
    if (size.width === current.width && size.height === current.height) return current;
    const { resolution } = this.deps.display;
    const { min, max } = await resolution.range(options.signal);
    const fits = (side: 'width' | 'height') => size[side] >= min[side] && size[side] <= max[side];
    if (!fits('width') || !fits('height')) throw outOfRange(size, { min, max });
    try {
      await resolution.set(size, current, options.signal);
    } catch (error) {
      if (error instanceof X11Refusal || error instanceof X11Unchangeable) throw refused(size, error);
      throw error;
    }
    return await this.size(options);
  }

  /** The size of the screen may change between the question for it and the picture. */
  async #capture(request: ScreenshotRequest, options: CallOptions, isSecond = false): Promise<Captured> {
    const screen = await this.size(options);
    const area = partOf(request.area, screen);
    try {
      const [read, cursor] = await Promise.all([
        this.deps.display.images.read(area, options.signal),
        request.hasCursor ? this.#cursor(options) : null,
      ]);
      if (cursor) drawOver(read, cursor, { x: cursor.x - area.x, y: cursor.y - area.y });
      return { screen, area, pixels: read };
    } catch (error) {
      if (!(error instanceof X11Refusal)) throw error;
      if (!isSecond) return await this.#capture(request, options, true);
      throw new CoreError('unavailable', `the X server refused the picture with ${error.kind}`, {
        hint: 'Try again: the size of the screen may be changing.',
      });
    }
  }

  /** Null without XFIXES: a picture without the pointer is better than none. */
  async #cursor({ signal }: CallOptions) {
    const { images, connection } = this.deps.display;
    return connection.has('XFIXES') ? await images.cursor(signal) : null;
  }
}

interface Captured {
  readonly screen: Size;
  readonly area: Area;
  readonly pixels: Pixels;
}

/** Throws `bad_argument` for an area outside the screen. */
function partOf(area: Area | null, screen: Size): Area {
  if (!area) return { x: 0, y: 0, ...screen };
  const [x, y] = [Math.max(0, area.x), Math.max(0, area.y)];
  const width = Math.min(screen.width, area.x + area.width) - x;
  const height = Math.min(screen.height, area.y + area.height) - y;
  if (width > 0 && height > 0) return { x, y, width, height };
  const place = `${area.width} × ${area.height} at ${area.x}, ${area.y}`;
  throw new CoreError('bad_argument', `the area ${place} has no part on the screen of ${sizeText(screen)} pixels`, {
    hint: `Pass an area within 0, 0 and ${screen.width}, ${screen.height}.`,
  });
}

/** The whole screen becomes exactly the size, as coordinates are scaled. A part keeps its proportions and fits in. */
function imageSize({ scaleTo, area: asked }: ScreenshotRequest, area: Area): Size {
  if (!scaleTo) return { width: area.width, height: area.height };
  const scale = Math.min(scaleTo.width / area.width, scaleTo.height / area.height);
  const sideOf = (side: number) => Math.max(1, Math.round(side * scale));
  const size = asked ? { width: sideOf(area.width), height: sideOf(area.height) } : scaleTo;
  if (size.width <= maxSide && size.height <= maxSide && size.width * size.height <= maxPixels) return size;
  throw new CoreError('bad_argument', `a picture of ${sizeText(size)} pixels is too large`, {
    advice: advise`Pass a ${'scaleTo'} of at most ${maxSide} on a side and ${maxPixels} pixels.`,
  });
}

function outOfRange(size: Size, { min, max }: { readonly min: Size; readonly max: Size }): CoreError {
  const range = `from ${sizeText(min)} to ${sizeText(max)}`;
  return new CoreError('bad_argument', `the X server has no screen of ${sizeText(size)}, only ${range} pixels`, {
    hint: 'Pass a size within the range, or start the X server with a larger screen.',
    facts: { min, max },
  });
}

function refused(size: Size, { message }: Error): CoreError {
  return new CoreError('bad_argument', `the screen cannot have ${sizeText(size)} pixels: ${message}`, {
    hint: 'Start the X server with this size, or use one that has RandR 1.2, such as Xvfb or Xvnc.',
  });
}

function sizeText({ width, height }: Size): string {
  return `${width} × ${height}`;
}
