/** Finds files by a glob on their path or name. */
import { z } from 'zod';
import { foundTypes, maxFound, search, searchKinds, typesOf } from '../../core/files/search/search.ts';
import { showPath } from '../../kit/text/path-text.ts';
import { systemText } from '../inputs.ts';
import { directory, ignore, lookingFails, skippedShape, skippedView, user } from './omissions.ts';
import { operation } from './operation.ts';

export const searchFiles = operation({
  name: 'files.search',
  input: z.object({
    path: directory,
    user,
    pattern: systemText
      .min(1)
      .describe(
        'With a / a glob on the path below path (**, {a,b}, [a-z], ?), else on the name at any depth. A / in front stands for path: /*.md finds only what is directly in path.',
      ),
    type: z.enum(searchKinds).default('file').describe('Type of the entries to find; a link counts as its target.'),
    limit: z.int().min(1).max(maxFound).default(maxFound).describe('Matches in this answer.'),
    cursor: z.string().min(1).optional().describe('next_cursor of the answer before this one.'),
    details: z.boolean().default(false).describe('Answer entries too, with the type of each match.'),
    ignore,
  }),
  output: z.object({
    path: z.string(),
    pattern: z.string(),
    files: z.array(z.string()).describe('Absolute paths in the order of the tree.'),
    entries: z
      .array(
        z.object({ path: z.string(), type: z.enum(foundTypes).describe('Of the entry itself: a link is a symlink.') }),
      )
      .optional()
      .describe('The same matches with their types; only with details.'),
    total_count: z.int().describe('Number of all matches, not only of those in this answer.'),
    truncated: z.boolean().describe('More follows: continue with next_cursor.'),
    next_cursor: z.string().nullable(),
    hidden_count: z.int().describe('Names with a dot in front that only a pattern with the dot finds.'),
    ...skippedShape,
  }),
  errors: lookingFails,
  async run({ files }, input, { signal }) {
    const request = {
      path: input.path,
      user: input.user ?? null,
      pattern: input.pattern,
      kind: input.type,
      isAnyDepth: true,
      obeysGitignore: input.ignore === 'gitignore',
      cursor: input.cursor ?? null,
      limit: input.limit,
    };
    const result = await search(files, request, signal);
    const types = input.details ? await typesOf(result.files) : null;
    const paths = result.files.map((found) => showPath(found.path));
    return {
      path: showPath(result.path),
      pattern: input.pattern,
      files: paths,
      ...(types && { entries: types.map((type, i) => ({ path: paths[i]!, type })) }),
      total_count: result.totalCount,
      truncated: result.nextCursor !== null,
      next_cursor: result.nextCursor,
      hidden_count: result.hiddenCount,
      ...skippedView(result),
    };
  },
});
