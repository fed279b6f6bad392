/** The facts about one answered request that the metrics and the traces share. */

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** The template of the route, or `unmatched`. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly ms: number;
  /** The value of the `traceparent` header, unchecked. */
  readonly traceparent: string | null;
}
