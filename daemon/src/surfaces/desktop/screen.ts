/** The routes that read the desktop: its description, picture, pointer, clipboard and windows; and its resolution. */
import { z } from 'zod';
import { RawReply } from '../../http/stream/raw.ts';
import { CoreError } from '../../kit/errors.ts';
import { desktopRoute } from './app.ts';
import { acceptedFormat, mediaTypeOf, scaleText, side, SizeBody, sizeOf } from './inputs.ts';
import { sizeHeaders } from './views.ts';

export const getInfo = desktopRoute({
  operation: 'desktop.info',
  method: 'GET',
  path: '/v2/computer/info',
  summary: 'Describe the display and what works on it',
  data: z
    .object({
      available: z.boolean(),
      display: z.string().nullable(),
      xauthority: z.string().nullable(),
      screen_resolution: z.object({ width: z.int(), height: z.int() }).nullable(),
      capabilities: z.object({
        screenshot: z.boolean(),
        actions: z.boolean(),
        clipboard: z.boolean(),
        recording: z.boolean(),
        accessibility: z.boolean(),
      }),
      warnings: z.array(z.string()),
    })
    .meta({ id: 'DesktopInfo' }),
  errors: ['unavailable', 'capacity_reached'],
  async handle({ desktop }, { context }) {
    const info = await desktop.info({ signal: context.signal });
    return {
      available: info.isAvailable,
      display: info.display,
      xauthority: info.xauthority,
      screen_resolution: info.screen,
      capabilities: info.capabilities,
      warnings: [...info.warnings],
    };
  },
});

const coordinate = z.int().min(0).max(32_767).optional();

export const takeScreenshot = desktopRoute({
  operation: 'desktop.screenshot',
  method: 'GET',
  path: '/v2/computer/screenshot',
  summary: 'Take a picture of the display',
  query: z.object({
    format: z.enum(['png', 'jpg', 'jpeg', 'webp']).optional().describe('What Accept prefers by default, else png.'),
    quality: z.int().min(0).max(100).optional().describe('Of a jpeg or webp.'),
    scale_to: scaleText,
    cursor: z.boolean().default(true).describe('Draws the pointer.'),
    x: coordinate,
    y: coordinate,
    width: side.optional().describe('Of a part of the display, with x, y and height.'),
    height: side.optional(),
  }),
  raw: {
    contentType: ['image/png', 'image/jpeg', 'image/webp'],
    description:
      'The picture. x-image-width and x-image-height are its size, x-screen-width and x-screen-height that of the display.',
  },
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async handle({ desktop }, { query, context }) {
    const { format, quality, scale_to: scaleTo, cursor: hasCursor } = query;
    const picture = await desktop.screenshot(
      {
        format: format === 'jpg' ? 'jpeg' : (format ?? acceptedFormat(context.headers.get('accept'))),
        ...{ quality: quality ?? null, hasCursor, scaleTo: sizeOf(scaleTo) },
        area: areaOf(query),
      },
      { signal: context.signal },
    );
    return new RawReply(
      { kind: 'bytes', bytes: picture.bytes },
      { ...sizeHeaders(picture), 'content-type': mediaTypeOf(picture.format) },
    );
  },
});

interface AreaQuery {
  readonly x?: number | undefined;
  readonly y?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** Null for the whole display. Throws `bad_argument` for some of the four, which no schema of a query can express. */
function areaOf({ x, y, width, height }: AreaQuery) {
  if (x !== undefined && y !== undefined && width !== undefined && height !== undefined) return { x, y, width, height };
  if ([x, y, width, height].every((value) => value === undefined)) return null;
  throw new CoreError('bad_argument', 'x, y, width and height belong together', {
    hint: 'Pass all four of them for a part of the display, or none.',
  });
}

export const getCursor = desktopRoute({
  operation: 'desktop.cursor',
  method: 'GET',
  path: '/v2/computer/cursor',
  summary: 'Say where the pointer is',
  data: z.object({ x: z.int(), y: z.int() }).meta({ id: 'DesktopCursor' }),
  errors: ['unavailable', 'capacity_reached'],
  handle: ({ desktop }, { context }) => desktop.cursor({ signal: context.signal }),
});

export const getClipboard = desktopRoute({
  operation: 'desktop.clipboard',
  method: 'GET',
  path: '/v2/computer/clipboard',
  summary: 'Read the text of the clipboard',
  data: z.object({ text: z.string() }).meta({ id: 'DesktopClipboard' }),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  handle: async ({ desktop }, { context }) => ({ text: await desktop.clipboard({ signal: context.signal }) }),
});

const bounds = z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() });

export const listWindows = desktopRoute({
  operation: 'desktop.windows',
  method: 'GET',
  path: '/v2/computer/windows',
  summary: 'List the windows',
  data: z
    .object({
      snapshot_id: z.string().describe('Changes when the list does.'),
      windows: z.array(
        z.object({
          window_id: z.string(),
          title: z.string(),
          process_id: z.int().nullable(),
          bounds,
          minimized: z.boolean(),
          active: z.boolean(),
        }),
      ),
    })
    .meta({ id: 'DesktopWindows' }),
  errors: ['unavailable', 'capacity_reached'],
  async handle({ desktop }, { context }) {
    const { snapshotId, windows } = await desktop.windows({ signal: context.signal });
    return {
      snapshot_id: snapshotId,
      windows: windows.map((window) => ({
        window_id: window.id,
        title: window.title,
        process_id: window.processId,
        bounds: window.bounds,
        minimized: window.isMinimized,
        active: window.isActive,
      })),
    };
  },
});

export const setResolution = desktopRoute({
  operation: 'desktop.config',
  method: 'POST',
  path: '/v2/computer/config',
  summary: 'Set the resolution of the display',
  body: z.object({ resolution: SizeBody.optional().describe('Nothing changes without one.') }),
  data: z
    .object({ resolution: z.object({ width: z.int(), height: z.int() }).nullable() })
    .meta({ id: 'DesktopConfig' }),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async handle({ desktop }, { body: { resolution }, context: { signal } }) {
    if (resolution === undefined) return { resolution: (await desktop.info({ signal })).screen };
    return { resolution: await desktop.setResolution(resolution, { signal }) };
  },
});
