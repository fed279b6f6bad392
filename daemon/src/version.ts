/** The version of the daemon, which `package.json` is the one source of, and the commit it was built from. */
import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** Put there by the build; the sources, run as they are, know nothing of it. */
declare const SANDBOXD_COMMIT: string | undefined;

export const commit: string | null = typeof SANDBOXD_COMMIT === 'string' ? SANDBOXD_COMMIT : null;
