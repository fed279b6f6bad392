/** The v2 routes that list directories, and find files by name and by content. */
import { z } from 'zod';
import { leftOut } from '../../../core/files/search/left-out.ts';
import { routeOf } from '../../../http/route/operation-route.ts';
import { hintWith } from '../../../http/route/refusal.ts';
import { Answer } from '../../../kit/answer.ts';
import { GrepBody, grepFiles as grep, isSilent } from '../../../operations/files/grep.ts';
import { listFiles as list } from '../../../operations/files/list.ts';
import { user } from '../../../operations/files/omissions.ts';
import { searchFiles as search } from '../../../operations/files/search.ts';
import { style } from '../app.ts';
import { naming } from '../refusal.ts';

export const listFiles = routeOf(list, {
  method: 'GET',
  path: '/v2/fs/list',
  summary: 'List a directory or a tree, 10 000 entries at a time',
  query: list.input,
  answer: (listing) => new Answer(listing, { hint: skippedHint(listing, 'show_hidden=true lists them') }),
})(style);

export const searchFiles = routeOf(search, {
  method: 'GET',
  path: '/v2/fs/search',
  summary: 'Find files by a glob on their path or name',
  query: search.input,
  answer(found) {
    const cut = `These are ${found.files.length} of ${found.total_count} matches; pass next_cursor as cursor, or a narrower path or pattern.`;
    return new Answer(found, {
      hint: found.truncated ? cut : skippedHint(found, 'a pattern such as .* or **/.*/** names them'),
    });
  },
})(style);

export const grepFiles = routeOf(grep, {
  method: 'POST',
  path: '/v2/fs/grep',
  summary: 'Search the contents of files',
  query: z.object({ user }),
  body: GrepBody,
  data: grep.output.omit({ is_file: true }),
  answer(found, input) {
    const { is_file: _isFile, ...data } = found;
    return new Answer(data, { hint: grepHint(found, input) });
  },
})(style);

/** The sentence on what the search has left out; null when there is nothing to say. */
function grepHint(
  found: z.output<typeof grep.output>,
  { show_hidden: showsHidden, ignore }: z.output<typeof GrepBody>,
): string | null {
  const { skipped, skipped_count: count, truncated: isTruncated } = found;
  const errnoNames = skipped.map((one) => one.errno_name);
  const omitted = leftOut({ errnoNames, count, isTruncated });
  if (omitted) return hintWith(omitted.hint, omitted.next, naming.calls);
  const options = [showsHidden ? null : 'show_hidden true', ignore === 'none' ? null : 'ignore none'];
  const more = options.filter((option) => option !== null);
  if (!isSilent(found) || more.length === 0) return null;
  return `Hidden and ignored names are not searched by default: ${more.join(' and ')} searches them too.`;
}

type Skipped = Pick<z.output<typeof list.output>, 'skipped_count' | 'ignored_count' | 'hidden_count' | 'link_count'>;

/** Null when everything was listed. */
function skippedHint(
  { skipped_count: skipped, ignored_count: ignored, hidden_count: hidden, link_count: links }: Skipped,
  howToSeeHidden: string,
): string | null {
  const parts = [
    skipped > 0 ? `${skipped} unreadable (see skipped)` : null,
    ignored > 0 ? `${ignored} ignored (ignore=none lists them)` : null,
    hidden > 0 ? `${hidden} hidden (${howToSeeHidden})` : null,
    links > 0 ? `${links} linked directories not entered (pass their paths)` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `Left out: ${parts.join(', ')}.`;
}
