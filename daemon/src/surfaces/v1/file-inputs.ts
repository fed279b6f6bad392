/** The inputs that the 1.x file routes have in common. */
import { z } from 'zod';
import type { Accounts } from '../../core/identity/accounts.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import { isPath, readPath } from '../../kit/path-text.ts';

/** What a client leaves out may also be null, here and in every other field that has a default. */
export const sudo = z.boolean().nullable().default(false).describe('What is created belongs to root.');

const names = {
  file: z.string().optional().describe('The path; path is another name for it.'),
  path: z.string().optional().describe('The path; file is another name for it.'),
};

/** A body with these fields and a path, which is `file` or `path`; `own` is the one that 1.x has for the route. */
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

/** Where both come, `file` counts. Throws the failure of what no file can be called. */
export const fileOf = ({ file, path }: WithPath): string => sound(file ?? path ?? '');

/** Where both come, `path` counts. */
export const pathOf = ({ file, path }: WithPath): string => sound(path ?? file ?? '');

export function sound(text: string): string {
  const path = readPath(text);
  if (path !== '' && isPath(path)) return text;
  throw new FileFailure({
    operation: 'stat',
    path: text,
    errnoName: 'EINVAL',
    errorType: 'invalid_path',
    message: `no file can be called ${JSON.stringify(text)}`,
    hint: 'Give an absolute path, without a NUL byte.',
  });
}

/** The account that owns what a call creates; null is the default account. Only root can give a file to root. */
export function ownerOf(accounts: Accounts, isSudo: boolean | null, path: string): string | null {
  if (isSudo !== true) return null;
  if (accounts.own().uid === 0) return '0';
  const hint = 'sudo needs a daemon that runs as root; leave it out.';
  throw new FileFailure({ operation: 'stat', path, errnoName: 'EPERM', hint });
}
