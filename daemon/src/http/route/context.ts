/** What a handler may learn about its request beside the inputs. */
import type { BodyLimits } from '../body/body.ts';
import type { StreamEvents } from '../stream/stream-body.ts';

export interface RequestContext {
  readonly requestId: string;
  readonly headers: Headers;
  /** False when a link or an embedded part of a page sent the request, which then must have no effect. */
  readonly mayChange: boolean;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  /** True when the request carries the right key or none is required; set for public routes too. */
  readonly isAuthorized: boolean;
  /** The key that the URL of the request carries; null when it carries none. */
  readonly keyInUrl: string | null;
  readonly body: BodyLimits;
  /** Extra fields for the log line of the request. */
  readonly note: RequestNote;
  /** The idle limit of the connection, which is lifted while the request is served. */
  readonly idleLimit: { lift(): void; isOpen(): boolean; unsentBytes(): number };
  /** Names what the request is about, for the feed of activity. */
  about(subject: string): void;
  /** Opens a stream, which counts towards the limit on open streams. Throws `capacity_reached`. */
  openStream(): StreamEvents;
  /** Counts an answer that is sent in pieces, and the memory that its content occupies meanwhile. */
  openAnswer(bytes: number): StreamEvents;
}

export type ToolOutcome = 'ok' | 'failed' | 'cancelled';

/** Extra fields for the log line of a request. */
export interface RequestNote {
  account?: string;
  /** Why an answer ended before it was complete. */
  broken_off?: string;
  /** The MCP tool that the request called; `upstream` for a tool of another server. */
  tool?: string;
  /** How the call of the tool ended. */
  tool_outcome?: ToolOutcome;
}
