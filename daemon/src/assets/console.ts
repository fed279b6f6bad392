/** The console page, as `console/build.mjs` makes it. */
import page from '../../../console/dist/console.html' with { type: 'file' };

/** The path of the page. The page is not kept in memory, because most daemons are never looked at. */
export const consoleFile = page as unknown as string; // The compiler sees a bundle where the runtime has a path.
