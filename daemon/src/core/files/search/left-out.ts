/** Says what a search of contents has left out, with the calls that search it. */
import type { NextStep } from '../../../kit/errors.ts';

export interface LeftOut {
  readonly hint: string;
  readonly next: readonly NextStep[];
}

export interface GrepOmissions {
  /** The errnos of the named entries: EILSEQ is a binary file that matches, EFBIG a file that is too large. */
  readonly errnoNames: readonly string[];
  /** Null when not counted. */
  readonly count: number | null;
  /** The caller continues anyway. */
  readonly isTruncated: boolean;
}

/** Null when nothing that the caller asked for was left out. */
export function leftOut({ errnoNames, count, isTruncated }: GrepOmissions): LeftOut | null {
  if (isTruncated) return null;
  const binary = errnoNames.filter((name) => name === 'EILSEQ').length;
  const large = errnoNames.filter((name) => name === 'EFBIG').length;
  const unreadable = errnoNames.length - binary - large;
  const more = (count ?? 0) - errnoNames.length;
  const parts = [
    binary > 0 ? counted(binary, 'binary file that matches', 'binary files that match') : null,
    large > 0 ? counted(large, 'file that is too large', 'files that are too large') : null,
    unreadable > 0 ? counted(unreadable, 'entry that could not be read', 'entries that could not be read') : null,
    more > 0 ? `${more} more` : null,
    count === null ? 'binary files, which were not looked into because the search took long' : null,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  const next: NextStep[] = [];
  if (binary > 0 || count === null) next.push({ operation: 'files.grepBinary' });
  if (large > 0) next.push({ operation: 'files.grepLargeFile' });
  return { hint: `Left out: ${parts.join(', ')}.`, next };
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
