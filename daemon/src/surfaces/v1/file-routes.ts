/** The 1.x file routes, all of which tell failures in one way. */
import type { Route } from '../../http/route.ts';
import type { V1Deps } from './app.ts';
import * as editor from './editor.ts';
import { tellFailures } from './file-failures.ts';
import * as fileList from './file-list.ts';
import * as fileSearch from './file-search.ts';
import * as fileTransfer from './file-transfer.ts';
import * as fileTrees from './file-trees.ts';
import * as files from './files.ts';

export const fileRoutes: readonly Route<V1Deps>[] = tellFailures([
  ...Object.values(files),
  ...Object.values(fileSearch),
  ...Object.values(fileList),
  ...Object.values(fileTransfer),
  ...Object.values(fileTrees),
  ...Object.values(editor),
]);
