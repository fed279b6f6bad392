/** The console page and the scripts of its views, as `console/build.mjs` makes them. */
import page from '../../../console/dist/console.html' with { type: 'file' };
import editor from '../../../console/dist/editor.js.txt' with { type: 'file' };
import terminal from '../../../console/dist/terminal.js.txt' with { type: 'file' };

/** Paths. The contents are not kept in memory, because most daemons are never looked at. */
// The compiler sees texts and a bundle where the runtime has paths.
export const consoleFiles = { page, editor, terminal } as unknown as Readonly<
  Record<'page' | 'editor' | 'terminal', string>
>;
