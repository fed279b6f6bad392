/** Constructs every object of the daemon and wires them together; each plane has its own file `compose-<plane>.ts`. */
import { composeBrowser } from './compose-browser.ts';
import { composeCode } from './compose-code.ts';
import { composeCommands } from './compose-commands.ts';
import { composeDesktop } from './compose-desktop.ts';
import { composeFiles, composeWatchers } from './compose-files.ts';
import { composeRoom, composeHttp } from './compose-http.ts';
import { composeMetrics, composeTracing } from './compose-metrics.ts';
import { composeMcp } from './compose-mcp.ts';
import { composeOperations } from './compose-operations.ts';
import { composeShared, type DaemonInputs } from './compose-shared.ts';
import { composeScreens, composeTerminals } from './compose-terminals.ts';
import type { Command } from './core/commands/command.ts';
import { Daemon } from './daemon.ts';
import { OpenStreams } from './http/stream/open-streams.ts';

export { askForBrowser } from './compose-browser.ts';
export { askForKernels } from './compose-code.ts';
export { askForWorker } from './compose-desktop.ts';
export { askMcpServers, askSkills } from './compose-mcp.ts';

export async function composeDaemon(inputs: DaemonInputs): Promise<Daemon> {
  const shared = composeShared(inputs);
  const closing = new AbortController();
  const streams = new OpenStreams(inputs.config.maxStreams);
  const room = composeRoom();
  const tracing = await composeTracing(shared);
  const onEnd = ({ state, startedMs }: Command) =>
    metrics.observeCommand({ status: state.status, seconds: ((state.endedMs ?? startedMs) - startedMs) / 1000 });
  const { commands, sessions } = composeCommands(shared, onEnd);
  const files = composeFiles(shared, room);
  const watchers = composeWatchers(shared, files);
  const terminals = composeTerminals(shared);
  const code = composeCode(shared, files);
  const { browser, agentBrowser, probe } = composeBrowser(shared);
  const { upstream, computerProbe } = composeDesktop(shared);
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
    ...{ agentBrowser, browser, commands, files, terminals, upstream, watchers },
    ...{ code: code.sessions, codeInfo: code.info, screens: composeScreens(), closing: closing.signal },
  };
  return new Daemon({
    ...inputs,
    app: await composeHttp(shared, {
      planes,
      mcp: composeMcp(shared, closing.signal),
      room,
      streams,
      metrics,
      tracing,
    }),
    code: code.sessions,
    ...{ browser, commands, terminals, watchers, tracing, closing },
    ownership: shared.ownership,
    spawn: shared.spawn,
    tools: shared.tools,
  });
}
