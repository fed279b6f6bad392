/** The version of the daemon; `package.json` is its one source. */
import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;
