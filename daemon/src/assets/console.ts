/** The console page, as `console/build.mjs` makes it. */
import page from '../../../console/dist/console.html' with { type: 'file' };

/** Where it can be read: most daemons are never looked at, so that it is no text in memory. */
export const consoleFile = page as unknown as string; // The compiler sees a bundle where the runtime has a path.
