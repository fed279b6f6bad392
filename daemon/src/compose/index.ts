/** Constructs every object of the daemon and wires them together; each plane has its own file beside this one. */
import { composeActivity } from './activity.ts';
import { composeAgentSandbox } from './agent-sandbox.ts';
import { describeV2 } from '../api.ts';
import { composeBrowser } from './browser.ts';
import { composeBrowserMcp } from './browser-mcp.ts';
import { composeCode } from './code.ts';
import { composeCommands } from './commands.ts';
import { composeDesktop } from './desktop.ts';
import { composeE2b } from './e2b.ts';
import { composeFiles, composeWatchers } from './files.ts';
import { composeRoom, composeHttp } from './http.ts';
import { composeMetrics, composeTracing } from './metrics.ts';
import { composeMcp } from './mcp.ts';
import { composeOperations } from './operations.ts';
import { composeShared, type DaemonInputs } from './shared.ts';
import { composeScreens, composeTerminals } from './terminals.ts';
import { Daemon } from '../daemon.ts';
import { OpenStreams } from '../http/stream/open-streams.ts';

export { askForBrowser } from './browser.ts';
export { askForKernels } from './code.ts';
export { askForWorker } from './desktop.ts';
export { askMcpServers, askSkills } from './mcp.ts';

export async function composeDaemon(inputs: DaemonInputs): Promise<Daemon> {
  const shared = composeShared(inputs);
  const closing = new AbortController();
  const streams = new OpenStreams(inputs.config.maxStreams);
  const room = composeRoom();
  const tracing = await composeTracing(shared);
  const activity = composeActivity();
  const { commands, sessions } = composeCommands(shared, {
    onStart: activity.onStart,
    onEnd(command) {
      const { state, startedMs } = command;
      metrics.observeCommand({ status: state.status, seconds: ((state.endedMs ?? startedMs) - startedMs) / 1000 });
      activity.onEnd(command);
    },
  });
  const files = composeFiles(shared, room);
  const watchers = composeWatchers(shared, files);
  const terminals = composeTerminals(shared);
  const code = composeCode(shared, files);
  const { browser, browserBackend, probe } = composeBrowser(shared);
  const { upstream, desktopPictures, computerProbe } = composeDesktop(shared);
  const metrics = composeMetrics(shared, {
    browser,
    commands,
    code: code.sessions,
    desktop: upstream,
    sessions,
    streams,
    terminals,
    watchers,
  });
  const planes = {
    ...composeOperations(shared, { room, browserProbe: probe, code, computerProbe }),
    ...{ browser, browserBackend, commands, files, terminals, upstream, watchers },
    ...{
      code: code.sessions,
      codeInfo: code.info,
      screens: composeScreens(),
      activity: activity.feed,
      closing: closing.signal,
      desktopPictures,
      ending: AbortSignal.any([closing.signal, terminals.clients.left]),
    },
  };
  const mcp = composeMcp(shared, closing.signal);
  const app = await composeHttp(shared, {
    planes,
    mcp,
    room,
    streams,
    metrics,
    onAnswer: activity.onAnswer,
    tracing,
  });
  return new Daemon({
    ...inputs,
    app,
    further: [
      ...(await composeE2b(shared, planes, app)),
      ...(await composeAgentSandbox(shared, planes, app)),
      ...composeBrowserMcp(shared, { ...planes, ...mcp, openApi: describeV2 }, app),
    ],
    code: code.sessions,
    ...{ browser, commands, terminals, watchers, tracing, closing },
    accounts: shared.accounts,
    ownership: shared.ownership,
    spawn: shared.spawn,
    tools: shared.tools,
  });
}
