/** Reads pages and clicks in a running Chromium, independent of the server. */
import type { Limit } from '../limit.ts';

/** How a server is started for the browser row. */
export interface BrowserPeer {
  readonly name: string;
  /** Starts the server for the Chromium with this debugging port. No call has reached the browser yet. */
  open(port: number, limit: Limit | null): Promise<BrowserServer>;
}

/** Every server works in the one tab of its Chromium. */
export interface BrowserServer extends AsyncDisposable {
  navigate(url: string): Promise<void>;
  /** The whole page as text with refs, as a model gets it. */
  snapshot(): Promise<string>;
  click(ref: string): Promise<void>;
}

/** The ref of an element, in the notation that all servers share: `button "Save" [ref=e1]`. */
export function refOf(snapshot: string, name: string): string {
  const line = snapshot.split('\n').find((line) => line.includes(`"${name}"`) && line.includes('ref='));
  const ref = /\bref=([^\],\s]+)/.exec(line ?? '')?.[1];
  if (ref === undefined) throw new Error(`a snapshot has no ref for ${name}: ${snapshot.slice(0, 200)}`);
  return ref;
}
