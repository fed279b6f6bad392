/** Constructs the daemon's link to the computer-use worker, and the probe for it. */
import type { Shared } from './shared.ts';
import type { Probe } from '../core/capabilities/capabilities.ts';
import type { ComputerCapability } from '../core/capabilities/report.ts';
import { askWorker, computerProbe } from '../core/desktop/probe.ts';
import { SharedPictures } from '../core/desktop/screen/shared-pictures.ts';
import { DesktopWorker } from '../platform/clients/desktop-worker.ts';

export interface DesktopParts {
  readonly upstream: DesktopWorker;
  readonly desktopPictures: SharedPictures;
  readonly computerProbe: Probe<ComputerCapability>;
}

export function composeDesktop({ config }: Shared): DesktopParts {
  const upstream = new DesktopWorker(config.computerUseUrl);
  return { upstream, desktopPictures: new SharedPictures(), computerProbe: computerProbe(upstream) };
}

/** What the worker at an address serves, for `boxkeep doctor`; null when none answers in time. */
export async function askForWorker(url: string, withinMs: number): Promise<string | null> {
  return await askWorker(new DesktopWorker(url), AbortSignal.timeout(withinMs)).then(
    ({ display, screen }) => `${display ?? 'no display'}${screen ? ` (${screen.width}x${screen.height})` : ''}`,
    () => null, // Whatever the reason, the desktop routes would not work.
  );
}
