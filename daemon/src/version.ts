/** The version of the daemon, from `package.json`, and the commit it was built from. */
import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** Defined by the build; undefined when the sources run directly. */
declare const BOXKEEP_COMMIT: string | undefined;

export const commit: string | null = typeof BOXKEEP_COMMIT === 'string' ? BOXKEEP_COMMIT : null;
