/** The script of the isolated world that the daemon keeps in each document of a page. */
import actionable from './page/actionable.js' with { type: 'text' };
import call from './page/call.js' with { type: 'text' };
import changes from './page/changes.js' with { type: 'text' };
import dom from './page/dom.js' with { type: 'text' };
import editable from './page/editable.js' with { type: 'text' };
import elements from './page/elements.js' with { type: 'text' };
import files from './page/files.js' with { type: 'text' };
import fill from './page/fill.js' with { type: 'text' };
import find from './page/find.js' with { type: 'text' };
import hitTest from './page/hit-test.js' with { type: 'text' };
import imageMap from './page/image-map.js' with { type: 'text' };
import labels from './page/labels.js' with { type: 'text' };
import names from './page/names.js' with { type: 'text' };
import pressWatch from './page/press-watch.js' with { type: 'text' };
import read from './page/read.js' with { type: 'text' };
import roles from './page/roles.js' with { type: 'text' };
import scroll from './page/scroll.js' with { type: 'text' };
import select from './page/select.js' with { type: 'text' };
import states from './page/states.js' with { type: 'text' };
import stillness from './page/stillness.js' with { type: 'text' };
import walk from './page/walk.js' with { type: 'text' };
import widgets from './page/widgets.js' with { type: 'text' };

/** `elements` first, because the others add to what it makes. */
const parts = [
  elements,
  call,
  editable,
  roles,
  states,
  names,
  walk,
  changes,
  dom,
  imageMap,
  hitTest,
  stillness,
  pressWatch,
  actionable,
  find,
  select,
  widgets,
  fill,
  files,
  labels,
  read,
  scroll,
] as unknown[] as string[]; // The compiler sees modules where the runtime has their texts.

/** Evaluated once for each document and session. What an earlier session has stored in the world stays. */
export const pageScript = parts.map((part) => `{${part}}`).join('\n');
