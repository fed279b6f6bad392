/** The values that the 1.x routes of shells take in more than one place. */
import { z } from 'zod';
import { systemText } from './system-text.ts';

/** Any text: 1.x clients choose what they like. */
export const sessionId = z.string();

export const seconds = z.number().min(0);
export const wholeSeconds = z.number().int().min(0);

export const execDirectory = systemText.nullish().describe('Absolute.');
export const preserveSymlinks = z
  .boolean()
  .nullable()
  .default(false)
  .describe('The shell knows the directory by this path, with the links in it.');

export function milliseconds(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : value * 1000;
}
