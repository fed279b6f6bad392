/** The operations that read the desktop: its description, picture, pointer, clipboard and windows; and its resolution. */
import { z } from 'zod';
import { CoreError } from '../../kit/errors.ts';
import type { Picture } from '../../core/desktop/desktop.ts';
import { scaleText, side, SizeBody, sizeOf } from './inputs.ts';
import { operation } from './operation.ts';
import { namedObject } from '../inputs.ts';

export const getInfo = operation({
  name: 'desktop.info',
  input: z.object({}),
  output: namedObject('DesktopInfo', {
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
  }),
  errors: ['unavailable', 'capacity_reached'],
  async run({ desktop }, _input, { signal }) {
    const info = await desktop.info({ signal });
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

export const screenshotFields = {
  quality: z.int().min(0).max(100).optional().describe('Of a jpeg or webp.'),
  scale_to: scaleText,
  cursor: z.boolean().default(true).describe('Draws the pointer.'),
  x: coordinate,
  y: coordinate,
  width: side.optional().describe('Of a part of the display, with x, y and height.'),
  height: side.optional(),
};

export const takeScreenshot = operation({
  name: 'desktop.screenshot',
  input: z.object({ format: z.enum(['png', 'jpeg', 'webp']), ...screenshotFields }),
  output: z.custom<Picture>(),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  run({ desktop }, input, { signal }) {
    const { format, quality, scale_to: scaleTo, cursor: hasCursor } = input;
    const look = { format, quality: quality ?? null, hasCursor, scaleTo: sizeOf(scaleTo) };
    return desktop.screenshot({ ...look, area: areaOf(input) }, { signal });
  },
});

const maxWaitSeconds = 60;

export const awaitChange = operation({
  name: 'desktop.changes',
  input: z.object({
    since: z.string().max(64).optional().describe('The version of an earlier answer.'),
    wait_seconds: z.number().min(0).max(maxWaitSeconds).default(30).describe('Answers then in any case.'),
  }),
  output: namedObject('DesktopChange', {
    version: z.string(),
    changed: z.boolean().describe('Whether the version is another than since.'),
  }),
  errors: ['unavailable', 'capacity_reached'],
  async run({ desktop }, { since = null, wait_seconds: seconds }, { signal }) {
    const { version, hasChanged } = await desktop.changes({ since, waitMs: seconds * 1000 }, { signal });
    return { version, changed: hasChanged };
  },
});

/** Null for the whole display. Throws `bad_argument` for some of the four, which no schema of a query can express. */
function areaOf({ x, y, width, height }: z.output<z.ZodObject<typeof screenshotFields>>) {
  if (x !== undefined && y !== undefined && width !== undefined && height !== undefined) return { x, y, width, height };
  if ([x, y, width, height].every((value) => value === undefined)) return null;
  throw new CoreError('bad_argument', 'x, y, width and height belong together', {
    hint: 'Pass all four of them for a part of the display, or none.',
  });
}

export const getCursor = operation({
  name: 'desktop.cursor',
  input: z.object({}),
  output: namedObject('DesktopCursor', { x: z.int(), y: z.int() }),
  errors: ['unavailable', 'capacity_reached'],
  run: ({ desktop }, _input, { signal }) => desktop.cursor({ signal }),
});

export const getClipboard = operation({
  name: 'desktop.clipboard',
  input: z.object({}),
  output: namedObject('DesktopClipboard', { text: z.string() }),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  run: async ({ desktop }, _input, { signal }) => ({ text: await desktop.clipboard({ signal }) }),
});

const bounds = z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() });

export const listWindows = operation({
  name: 'desktop.windows',
  input: z.object({}),
  output: namedObject('DesktopWindows', {
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
  }),
  errors: ['unavailable', 'capacity_reached'],
  async run({ desktop }, _input, { signal }) {
    const { snapshotId, windows } = await desktop.windows({ signal });
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

export const setResolution = operation({
  name: 'desktop.config',
  input: z.object({ resolution: SizeBody.optional().describe('Nothing changes without one.') }),
  output: namedObject('DesktopConfig', { resolution: z.object({ width: z.int(), height: z.int() }).nullable() }),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async run({ desktop }, { resolution }, { signal }) {
    if (resolution === undefined) return { resolution: (await desktop.info({ signal })).screen };
    return { resolution: await desktop.setResolution(resolution, { signal }) };
  },
});
