/** The version of the daemon, from `package.json`, and the commit it was built from. */
import { basename, dirname } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** Defined by the build; undefined when the sources run directly. */
declare const BOXKEEP_COMMIT: string | undefined;

export const commit: string | null = typeof BOXKEEP_COMMIT === 'string' ? BOXKEEP_COMMIT : null;

/** The version, and of a built file its commit and the start of the digest of what it contains, in one line. */
export function versionLine(): string {
  const [, contents] = /^boxkeep-([0-9a-f]{16})$/.exec(basename(dirname(process.execPath))) ?? [];
  const parts = [commit && `commit ${commit}`, contents && `contents ${contents}`].filter(Boolean);
  return parts.length === 0 ? version : `${version} (${parts.join(', ')})`;
}
