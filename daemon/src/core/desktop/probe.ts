/** Probes whether a computer-use worker answers, and what works on its display. */
import { CoreError } from '../../kit/errors.ts';
import type { DesktopWorker } from '../../platform/clients/desktop-worker.ts';
import type { Probe } from '../capabilities/capabilities.ts';
import type { ComputerCapability } from '../capabilities/report.ts';
import type { DesktopInfo } from './desktop.ts';

export interface WorkerState extends Pick<DesktopInfo, 'isAvailable' | 'display' | 'screen' | 'warnings'> {
  readonly works: DesktopInfo['capabilities'];
}

const nothingWorks = { screenshot: false, actions: false, clipboard: false, recording: false, accessibility: false };
const nothing = { provider: null, display: null, resolution: null, accessibilityBackend: null, ...nothingWorks };

export function computerProbe(worker: DesktopWorker): Probe<ComputerCapability> {
  return {
    isLive: true,
    async look(signal) {
      try {
        return capabilityOf(await askWorker(worker, signal));
      } catch (error) {
        if (!(error instanceof CoreError)) throw error;
        const missing = [`${error.message} at ${worker.url}: ${String(error.facts?.['reason'])}`];
        return { status: 'absent', missing, warnings: [], ...nothing };
      }
    },
    unknown: nothing,
  };
}

function capabilityOf({ isAvailable, display, screen, works, warnings }: WorkerState): ComputerCapability {
  const lacking = Object.entries(works).flatMap(([name, works]) => (works ? [] : [`${name} does not work`]));
  return {
    status: !isAvailable ? 'absent' : lacking.length > 0 ? 'degraded' : 'ready',
    missing: isAvailable ? lacking : ['the display does not answer'],
    warnings,
    provider: 'x11',
    ...{ display, resolution: screen, ...works },
    accessibilityBackend: works.accessibility ? 'at-spi' : null,
  };
}

/** Throws `unavailable` when no worker answers. */
export async function askWorker(worker: DesktopWorker, signal: AbortSignal): Promise<WorkerState> {
  const info = await worker.info(signal);
  return {
    isAvailable: info.available === true,
    display: info.display ?? null,
    screen: info.screen_resolution ?? null,
    works: { ...nothingWorks, ...info.capabilities },
    warnings: info.warnings ?? [],
  };
}
