/** All routes of the v2 surface. */
import type { Route } from '../../http/route.ts';
import type { V2Deps } from './app.ts';
import * as code from './code.ts';
import * as codeInfo from './code-info.ts';
import * as commands from './commands.ts';
import * as fileEdit from './file-edit.ts';
import * as fileTrees from './file-trees.ts';
import * as files from './files.ts';
import * as fileSearch from './file-search.ts';
import * as ops from './ops.ts';
import * as sessions from './sessions.ts';
import * as terminalSockets from './terminal-sockets.ts';
import * as terminalExec from './terminal-exec.ts';
import * as terminals from './terminals.ts';
import * as terminalScreen from './terminal-screen.ts';
import * as watch from './watch.ts';
import * as transfer from './transfer.ts';
import * as tree from './tree.ts';

export const v2Routes: readonly Route<V2Deps>[] = [
  ...Object.values(commands),
  ...Object.values(sessions),
  ...Object.values(files),
  ...Object.values(fileEdit),
  ...Object.values(watch),
  ...Object.values(fileSearch),
  ...Object.values(fileTrees),
  ...Object.values(transfer),
  ...Object.values(tree),
  ...Object.values(terminals),
  ...Object.values(terminalSockets),
  ...Object.values(terminalScreen),
  ...Object.values(terminalExec),
  ...Object.values(code),
  ...Object.values(codeInfo),
  ...Object.values(ops),
];
