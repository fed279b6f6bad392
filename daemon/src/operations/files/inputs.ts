/** Input values that the operations and routes of files share. */
import { z } from 'zod';
import type { ErrorCode } from '../../kit/errors.ts';
import { isPath, readPath } from '../../kit/text/path-text.ts';
import { systemText } from '../inputs.ts';

/** Bytes that are not UTF-8 are percent-encoded: directly in a query, as a file URL in a body. */
export const filePath = z
  .string()
  .min(1)
  .refine((text) => isPath(readPath(text)), 'must not contain a NUL byte or half a surrogate pair')
  .meta({ pattern: '^[^\\u0000]*$' })
  .describe('Absolute, below ~, or relative to the workspace; file:/// and percent escapes reach any name.');

export const OwnerQuery = z.object({
  user: systemText
    .min(1)
    .optional()
    .describe('Account that owns what is created, and whose home ~ is; the default account otherwise.'),
});

export const etag = z.string().describe('Changes with the content of the file.');

export const FileQuery = OwnerQuery.extend({ path: filePath });

/** The failures that the system may report for any file operation. */
export const fileErrors = [
  'bad_argument',
  'unavailable',
  'file_not_found',
  'file_permission_denied',
  'file_invalid_target',
  'file_invalid_path',
  'file_bad_request',
  'file_read_only',
  'file_io_error',
] as const satisfies readonly ErrorCode[];

export const fileMode = z
  .string()
  .regex(/^0?[0-7]{3,4}$/)
  .optional()
  .describe('Permission bits as octal text, such as 644.');

export function readMode(text: string | undefined): number | null {
  return text === undefined ? null : Number.parseInt(text, 8);
}
