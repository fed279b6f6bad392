/** What the operations that look at directories share: their inputs, their errors, and what they leave out. */
import { z } from 'zod';
import type { SkippedSummary } from '../../core/files/tree/skipped.ts';
import type { ErrorCode } from '../../kit/errors.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { systemText } from '../inputs.ts';

export const directory = systemText
  .min(1)
  .describe('The directory; ~ is a home, a relative path begins in the workspace.');
export const user = systemText
  .min(1)
  .optional()
  .describe('The account whose home ~ is; the default account otherwise.');
export const ignore = z
  .enum(['none', 'gitignore'])
  .default('none')
  .describe('gitignore leaves out what .gitignore files name, and .git itself.');

export const skippedShape = {
  skipped: z
    .array(z.object({ path: z.string(), errno_name: z.string() }))
    .describe('Directories that could not be read, the first 100.'),
  skipped_count: z.int(),
  ignored_count: z.int().describe('Entries that ignore=gitignore left out, without what is below them.'),
  link_count: z.int().describe('Links to directories that were not entered.'),
};

export const lookingFails = [
  'bad_argument',
  'unavailable',
  'file_not_found',
  'file_permission_denied',
  'file_invalid_path',
  'file_bad_request',
  'file_io_error',
  'capacity_reached',
] as const satisfies readonly ErrorCode[];

export function skippedEntries(skipped: SkippedSummary['skipped']) {
  return skipped.map(({ path, errnoName }) => ({ path: showPath(path), errno_name: errnoName }));
}

export function skippedView({ skipped, skippedCount, ignoredCount, linkCount }: SkippedSummary) {
  return {
    skipped: skippedEntries(skipped),
    skipped_count: skippedCount,
    ignored_count: ignoredCount,
    link_count: linkCount,
  };
}
