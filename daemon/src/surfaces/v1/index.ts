/** All routes of the v1 surface, and what to tell who asks for one that 1.x had and this daemon has not. */
import type { Route } from '../../http/route.ts';
import type { V1Deps } from './app.ts';
import * as bashSessions from './bash-sessions.ts';
import * as bash from './bash.ts';
import * as browserPage from './browser-page.ts';
import * as browserSnapshot from './browser-snapshot.ts';
import * as browserTabs from './browser-tabs.ts';
import * as browser from './browser.ts';
import * as code from './code.ts';
import * as desktop from './desktop.ts';
import { fileRoutes } from './file-routes.ts';
import * as jupyter from './jupyter.ts';
import * as nodejs from './nodejs.ts';
import * as ops from './ops.ts';
import * as sandbox from './sandbox.ts';
import * as shellSessions from './shell-sessions.ts';
import * as shellSocket from './shell-socket.ts';
import * as shell from './shell.ts';
import * as watch from './watch.ts';
import { inWordsOfV1 } from './wording.ts';

export { removedHint } from './removed.ts';

export const v1Routes: readonly Route<V1Deps>[] = inWordsOfV1([
  ...Object.values(bashSessions),
  ...Object.values(bash),
  ...Object.values(browserPage),
  ...Object.values(browserSnapshot),
  ...Object.values(browserTabs),
  ...Object.values(browser),
  ...Object.values(code),
  ...Object.values(desktop),
  ...fileRoutes,
  ...Object.values(jupyter),
  ...Object.values(nodejs),
  ...Object.values(ops),
  ...Object.values(sandbox),
  ...Object.values(shellSessions),
  ...Object.values(shellSocket),
  ...Object.values(shell),
  ...Object.values(watch),
]);
