/** Finds files by a glob on their path or name. */
import { z } from 'zod';
import { search, searchKinds } from '../../core/files/search/search.ts';
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
      .describe('With a / a glob on the path below path (**, {a,b}, [a-z], ?), else on the name at any depth.'),
    type: z.enum(searchKinds).default('file').describe('Type of the entries to find; a link counts as its target.'),
    ignore,
  }),
  output: z.object({
    path: z.string(),
    pattern: z.string(),
    files: z.array(z.string()).describe('Absolute paths in the order of the tree, the first 10 000.'),
    total_count: z.number().int().describe('Number of all matches.'),
    truncated: z.boolean(),
    hidden_count: z.number().int().describe('Names with a dot in front that only a pattern with the dot finds.'),
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
    };
    const result = await search(files, request, signal);
    return {
      path: showPath(result.path),
      pattern: input.pattern,
      files: result.files.map(showPath),
      total_count: result.totalCount,
      truncated: result.totalCount > result.files.length,
      hidden_count: result.hiddenCount,
      ...skippedView(result),
    };
  },
});
