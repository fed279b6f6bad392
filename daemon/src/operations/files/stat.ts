/** Returns the attributes of a path. */
import { z } from 'zod';
import { digestFile } from '../../core/files/read/digest.ts';
import { statFile as readStatus } from '../../core/files/read/stat.ts';
import { CoreError } from '../../kit/errors.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { etag, fileErrors, FileQuery } from './inputs.ts';
import { operation } from './operation.ts';
import { namedObject } from '../inputs.ts';

export const statFile = operation({
  name: 'files.stat',
  input: FileQuery.extend({
    follow_symlinks: z.boolean().default(true).describe('Follow a link, and return the attributes of its target.'),
    sha256: z.boolean().default(false).describe('Read the whole content, and return its digest.'),
  }),
  output: namedObject('FileStat', {
    path: z.string(),
    real_path: z
      .string()
      .nullable()
      .describe('The path without symbolic links, also in data of a 404; null when it cannot be resolved.'),
    size: z.int(),
    permissions: z.string().describe('Permission bits as octal text.'),
    is_directory: z.boolean(),
    is_symlink: z.boolean().describe('True when the path itself is a link.'),
    modified_time: z.string().describe('RFC 3339, UTC.'),
    uid: z.int(),
    gid: z.int(),
    owner: z.string().nullable(),
    group: z.string().nullable(),
    mode: z.int().describe('st_mode, as stat(2) has it.'),
    target: z.string().nullable().describe('The target text of a link.'),
    inode: z.int(),
    mime: z.string().nullable().describe('By the extension; null unless the path is a regular file.'),
    etag,
    sha256: z.string().optional().describe('SHA-256 of the content, hexadecimal, where it was asked for.'),
  }),
  errors: [...fileErrors, 'precondition_failed'],
  async run({ files }, { path, user = null, follow_symlinks: followSymlinks, sha256 }, { signal }) {
    const { modifiedMs, ...found } = await readStatus(files, { path, user, followSymlinks });
    if (sha256 && found.isSymlink && !followSymlinks)
      throw new CoreError('bad_argument', 'sha256 is that of a content, and a link has none; follow_symlinks finds it');
    return {
      ...snakeKeys(found),
      ...(sha256 && (await digestFile(files, { path, user }, signal))),
      path: showPath(found.path),
      real_path: found.realPath === null ? null : showPath(found.realPath),
      target: found.target === null ? null : showPath(found.target),
      modified_time: new Date(modifiedMs).toISOString(),
    };
  },
});
