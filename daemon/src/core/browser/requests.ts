/** The newest network requests of the pages in use, bounded by count and length. */
import type { CdpEvents } from '../../platform/clients/cdp-connection.ts';
import type { Session } from './session.ts';

export interface NetworkRequest {
  readonly id: string;
  readonly tabId: string;
  readonly url: string;
  readonly method: string;
  /** For example `Document`, `Script` or `XHR`. */
  readonly resourceType: string;
  readonly status: number | null;
  readonly mimeType: string | null;
  readonly startedMs: number;
  readonly durationMs: number | null;
  /** Bytes on the wire, headers included. */
  readonly encodedBytes: number | null;
  /** For example `net::ERR_CONNECTION_REFUSED`; null unless the request failed. */
  readonly error: string | null;
}

interface OpenRequest {
  request: NetworkRequest;
  readonly startedSeconds: number;
}

const maxRequests = 1000;
const maxUrlCharacters = 4096;
/** A page can choose the method of a request, and the type of a `data:` URL. */
const maxNameCharacters = 200;

export class NetworkRequests {
  /** In the order of their start. */
  readonly #requests = new Map<string, OpenRequest>();

  get count(): number {
    return this.#requests.size;
  }

  /** The newest ones whose URL has the text, in the order of their start. */
  list(limit: number, text: string | null): readonly NetworkRequest[] {
    const all = [...this.#requests.values()].map(({ request }) => request);
    const matching = text === null ? all : all.filter(({ url }) => url.includes(text));
    return limit > 0 ? matching.slice(-limit) : [];
  }

  clear(): void {
    this.#requests.clear();
  }

  watch(session: Session, tabId: string): void {
    session.on('Network.requestWillBeSent', (event) => this.#start(tabId, event));
    session.on('Network.responseReceived', ({ requestId, response: { status, mimeType } }) =>
      this.#change(requestId, () => ({ status, mimeType: mimeType.slice(0, maxNameCharacters) })),
    );
    session.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) =>
      this.#change(requestId, ({ startedSeconds }) => ({
        durationMs: milliseconds(timestamp - startedSeconds),
        encodedBytes: encodedDataLength,
      })),
    );
    session.on('Network.loadingFailed', ({ requestId, timestamp, errorText }) =>
      this.#change(requestId, ({ startedSeconds }) => ({
        durationMs: milliseconds(timestamp - startedSeconds),
        error: errorText,
      })),
    );
  }

  #start(tabId: string, event: CdpEvents['Network.requestWillBeSent'][0]): void {
    const { requestId, request, type = 'Other', wallTime, timestamp, redirectResponse } = event;
    const former = this.#requests.get(requestId);
    if (former && redirectResponse) {
      // A redirect has the id of the request that it ends.
      this.#requests.delete(requestId);
      const { status, mimeType } = redirectResponse;
      const durationMs = milliseconds(timestamp - former.startedSeconds);
      former.request = { ...former.request, status, mimeType: mimeType.slice(0, maxNameCharacters), durationMs };
      this.#requests.set(`${requestId}.${this.#requests.size}`, former);
    }
    this.#requests.set(requestId, {
      startedSeconds: timestamp,
      request: {
        id: requestId,
        ...{ tabId, method: request.method.slice(0, maxNameCharacters), resourceType: type },
        url: request.url.slice(0, maxUrlCharacters),
        startedMs: wallTime * 1000,
        ...{ status: null, mimeType: null, durationMs: null, encodedBytes: null, error: null },
      },
    });
    for (const id of this.#requests.keys()) {
      if (this.#requests.size <= maxRequests) break;
      this.#requests.delete(id);
    }
  }

  #change(requestId: string, changes: (open: OpenRequest) => Partial<NetworkRequest>): void {
    const open = this.#requests.get(requestId);
    if (open) open.request = { ...open.request, ...changes(open) };
  }
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
