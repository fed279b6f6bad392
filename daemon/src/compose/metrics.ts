/** Constructs the metrics of all planes, and the traces where a collector is configured. */
import type { Shared } from './shared.ts';
import type { Browser } from '../core/browser/browser.ts';
import type { Sessions } from '../core/commands/sessions.ts';
import type { DesktopWorker } from '../platform/clients/desktop-worker.ts';
import type { OpenStreams } from '../http/stream/open-streams.ts';
import type { Planes } from '../operations/planes.ts';
import { Metrics } from '../platform/observe/metrics.ts';
import { processGauges } from '../platform/observe/process-gauges.ts';
import type { Tracing } from '../platform/observe/tracing.ts';
import { version } from '../version.ts';

export interface MetricsInputs extends Pick<Planes, 'commands' | 'code' | 'terminals' | 'watchers'> {
  readonly browser: Browser;
  readonly desktop: DesktopWorker;
  readonly sessions: Sessions;
  readonly streams: OpenStreams;
}

export function composeMetrics({ runtimeDirectory }: Shared, inputs: MetricsInputs): Metrics {
  const { browser, commands, code, desktop, sessions, streams, terminals, watchers } = inputs;
  const gauge = (name: string, help: string, read: () => number) => ({ name: `boxkeep_${name}`, help, read });
  return new Metrics([
    ...processGauges(runtimeDirectory),
    gauge('commands_running', 'Commands that run.', () => commands.running),
    gauge('commands_kept', 'Commands that can be read, ended ones included.', () => commands.kept),
    gauge('command_sessions', 'Command sessions.', () => sessions.list().length),
    gauge('open_streams', 'Open streams.', () => streams.count),
    gauge('terminals', 'Terminal sessions whose shell lives.', () => terminals.living),
    gauge('code_interpreters', 'Plain interpreters that run code.', () => code.living('repl')),
    gauge('code_kernels', 'Kernels that run code.', () => code.living('kernel')),
    gauge('browser_connections', 'Connections to a browser, 0 or 1.', () => Number(browser.isConnected)),
    gauge('browser_tabs', 'Tabs that the daemon is attached to.', () => browser.attachedTabs),
    gauge('browser_requests_kept', 'Network requests of pages that can be listed.', () => browser.requests.count),
    gauge('desktop_calls', 'Calls that the computer-use worker has not answered yet.', () => desktop.calls),
    gauge('watchers', 'Watchers of files.', () => watchers.count),
  ]);
}

/** Loads tracing only when a collector is configured, because the module takes megabytes. */
export async function composeTracing({ boot, environment, logger }: Shared): Promise<Tracing | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment;
  if (!(all || traces) || environment['OTEL_SDK_DISABLED'] === 'true') return null;
  const { Tracing } = await import('../platform/observe/tracing.ts');
  const { secrets } = boot;
  return new Tracing({
    version,
    headers: secrets.get('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? secrets.get('OTEL_EXPORTER_OTLP_HEADERS') ?? null,
    onUnreachable: (reason) => logger.warn('traces cannot be sent', { reason }),
  });
}
