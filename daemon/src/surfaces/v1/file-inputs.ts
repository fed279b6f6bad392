/** Input values that the 1.x file routes share. */
import { z } from 'zod';
import type { Accounts } from '../../core/identity/accounts.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import { isPath, readPath } from '../../kit/text/path-text.ts';

/** A client may send null for an omitted value, here and in every other field with a default. */
export const sudo = z.boolean().nullable().default(false).describe('New files belong to root.');

const names = {
  file: z.string().optional().describe('The path; path is another name for it.'),
  path: z.string().optional().describe('The path; file is another name for it.'),
};

/** A body with these fields and a path in `file` or `path`. `own` is the name that 1.x uses for the route. */
export function bodyWithPath<S extends z.ZodRawShape>(own: keyof typeof names, fields: S) {
  return z
    .object({ ...names, ...fields })
    .superRefine((body: { readonly file?: unknown; readonly path?: unknown }, context) => {
      if (body.file !== undefined || body.path !== undefined) return;
      context.addIssue({ code: 'invalid_type', expected: 'string', path: [own], input: undefined });
    })
    .meta({ anyOf: [{ required: ['file'] }, { required: ['path'] }] });
}

interface WithPath {
  readonly file?: string | undefined;
  readonly path?: string | undefined;
}

/** `file` takes precedence when both are given. Throws a failure for a text that cannot be a path. */
export const fileOf = ({ file, path }: WithPath): string => sound(file ?? path ?? '');

/** `path` takes precedence when both are given. */
export const pathOf = ({ file, path }: WithPath): string => sound(path ?? file ?? '');

export function sound(text: string): string {
  const path = readPath(text);
  if (path !== '' && isPath(path)) return text;
  throw FileFailure.of('stat', text, 'EINVAL', {
    kind: 'invalidPath',
    message: `no file can be called ${JSON.stringify(text)}`,
    hint: 'Give an absolute path, without a NUL byte.',
  });
}

/** The account that owns the created files. Null is the default account. Only root can give a file to root. */
export function ownerOf(accounts: Accounts, isSudo: boolean | null, path: string): string | null {
  if (isSudo !== true) return null;
  if (accounts.own().uid === 0) return '0';
  const hint = 'sudo needs a daemon that runs as root; leave it out.';
  throw new FileFailure({ operation: 'stat', path, errnoName: 'EPERM', hint });
}
