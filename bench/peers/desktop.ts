/** The interface of a measured server that drives a display. */
import type { Limit } from '../limit.ts';

export interface DesktopServer extends AsyncDisposable {
  click(x: number, y: number): Promise<void>;
  /** The clicks of a list, in the quickest way that the server has. */
  clickAll(points: readonly (readonly [x: number, y: number])[]): Promise<void>;
  /** The whole screen as PNG. */
  screenshot(): Promise<Uint8Array>;
}

export interface DesktopPeer {
  readonly name: string;
  /** `display` is the value of DISPLAY. */
  open(display: string, limit: Limit | null): Promise<DesktopServer>;
}
