/** What the operations of the desktop work on. */
import type { LiveDesktop } from '../../core/desktop/live-desktop.ts';
import { operationsOn } from '../operation.ts';

export interface DesktopDeps {
  readonly desktop: LiveDesktop;
}

export const operation = operationsOn<DesktopDeps>();
