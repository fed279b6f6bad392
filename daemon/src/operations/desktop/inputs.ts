/** The inputs that desktop routes share, and how core takes them. */
import { z } from 'zod';
import type { Size } from '../../kit/types/geometry.ts';
import type { PictureFormat, ScreenshotRequest } from '../../core/desktop/desktop.ts';

/** X11 has 15 bits for a side of a window. */
const maxSide = 32_767;

export const side = z.int().gt(0).max(maxSide);
export const SizeBody = z.object({ width: side, height: side });

const sizeText = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

export const scaleText = z
  .string()
  .regex(sizeText, 'must be a width and a height, as in 1024x768')
  .optional()
  .describe('WIDTHxHEIGHT in pixels.');

/** The size in a text that the schema has accepted; null for none. */
export function sizeOf(text: string | undefined): Size | null {
  const [, width, height] = sizeText.exec(text ?? '') ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}

/** The whole screen as PNG, in the size that the client uses for its coordinates. */
export function wholeScreen(scaleTo: Size | null): ScreenshotRequest {
  return { format: 'png', quality: null, area: null, scaleTo, hasCursor: true };
}

const mediaTypes: readonly (readonly [string, PictureFormat])[] = [
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/webp', 'webp'],
];

/** The format that an Accept header prefers (RFC 9110, section 12.5.1); PNG where it names none. */
export function acceptedFormat(accept: string | null): PictureFormat {
  const wanted = (accept ?? '').split(',').flatMap((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const format = mediaTypes.find(([name]) => name === type)?.[1];
    const weight = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1);
    return format === undefined || !(weight > 0) ? [] : [{ format, weight }];
  });
  return wanted.toSorted((a, b) => b.weight - a.weight)[0]?.format ?? 'png';
}

export function mediaTypeOf(format: PictureFormat): string {
  return `image/${format}`;
}

export const includeScreenshot = z.object({
  include_screenshot: z.boolean().default(false).describe('Answers with a picture of the display after the action.'),
});

export const scaledTo = {
  scale_to: SizeBody.nullish().describe('The size of the picture that the coordinates refer to.'),
};
