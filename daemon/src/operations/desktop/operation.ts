/** What the operations of the desktop work on. */
import type { Desktop } from '../../core/desktop/desktop.ts';
import { operationsOn } from '../operation.ts';

export interface DesktopDeps {
  readonly desktop: Desktop;
}

export const operation = operationsOn<DesktopDeps>();
