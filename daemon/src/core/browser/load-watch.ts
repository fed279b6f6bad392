/** Follows how the main frame of a page loads, from before the navigation begins. */
import { Notifier } from '../../kit/events/notifier.ts';
import type { Session } from './session.ts';

/** `none` and `commit`, as Playwright calls it, wait only until the document has replaced the one before. */
export const loadStates = ['load', 'domcontentloaded', 'networkidle', 'commit', 'none'] as const;
export type LoadState = (typeof loadStates)[number];

const lifecycleNames: Readonly<Record<Exclude<LoadState, 'commit' | 'none'>, string>> = {
  load: 'load',
  domcontentloaded: 'DOMContentLoaded',
  networkidle: 'networkIdle',
};

export interface Commit {
  readonly url: string;
  /** Null for a navigation inside the document. */
  readonly loaderId: string | null;
  /** The URL that could not be loaded; the browser shows an error page instead. */
  readonly unreachableUrl: string | null;
  /** A page from the back-forward cache is complete at once. */
  readonly isRestored: boolean;
}

export class LoadWatch implements Disposable {
  readonly #changes = new Notifier();
  readonly #reached = new Map<string, Set<string>>();
  readonly #statuses = new Map<string, number>();
  /** The navigations that have started, in their order. */
  readonly #started: string[] = [];
  /** The navigations that had started after each document before it began. */
  readonly #rivals = new Map<string, readonly string[]>();
  readonly #removals: (() => void)[];
  #commit: Commit | null = null;

  constructor(session: Session, mainFrameId: string) {
    this.#removals = [
      session.on('Page.frameStartedNavigating', ({ frameId, loaderId, navigationType }) => {
        if (frameId === mainFrameId && navigationType !== 'sameDocument') this.#started.push(loaderId);
      }),
      session.on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
        if (frameId === mainFrameId) this.#reach(loaderId, name);
      }),
      session.on('Page.navigatedWithinDocument', ({ frameId, url }) => {
        if (frameId === mainFrameId) this.#commitTo({ url, loaderId: null, unreachableUrl: null, isRestored: true });
      }),
      session.on('Page.frameNavigated', ({ frame, type }) => {
        if (frame.id !== mainFrameId) return;
        const { loaderId, unreachableUrl = null, urlFragment = '' } = frame;
        const isRestored = type === 'BackForwardCacheRestore';
        this.#commitTo({ url: `${frame.url}${urlFragment}`, loaderId, unreachableUrl, isRestored });
      }),
      session.on('Network.responseReceived', ({ requestId, type, response }) => {
        if (type === 'Document') this.#statuses.set(requestId, response.status);
      }),
    ];
  }

  /** The URL of the newest document, as the frame reported it; null before it has changed its document. */
  get url(): string | null {
    return this.#commit?.url ?? null;
  }

  /** The HTTP status of a document; null for one that did not come over HTTP. */
  statusOf(loaderId: string): number | null {
    return this.#statuses.get(loaderId) ?? null;
  }

  /** The newest document that the main frame has changed to. */
  async committed(signal: AbortSignal): Promise<Commit> {
    while (this.#commit === null) await this.#change(signal);
    return this.#commit;
  }

  /**
   * Resolves when the document has replaced the one before. A frame that changes its process may not report the change
   * itself, but reports the lifecycle of the new document.
   */
  async begun(loaderId: string, signal: AbortSignal): Promise<void> {
    while (!this.#reached.has(loaderId) && this.#commit?.loaderId !== loaderId) await this.#change(signal);
  }

  /** True when the document before has started another navigation meanwhile, which replaces the new document soon. */
  hasRival(loaderId: string): boolean {
    return (this.#rivals.get(loaderId) ?? []).length > 0;
  }

  async reached(loaderId: string, state: LoadState, signal: AbortSignal): Promise<void> {
    if (state === 'none' || state === 'commit') return;
    while (!this.#reached.get(loaderId)?.has(lifecycleNames[state])) {
      // A page that redirects itself goes on with the next document.
      const next = this.#commit?.loaderId;
      if (next && next !== loaderId && this.#reached.get(next)?.has(lifecycleNames[state])) return;
      await this.#change(signal);
    }
  }

  [Symbol.dispose](): void {
    for (const remove of this.#removals) remove();
  }

  #reach(loaderId: string, name: string): void {
    this.#begin(loaderId);
    this.#reached.getOrInsertComputed(loaderId, () => new Set()).add(name);
    this.#changes.notify();
  }

  #commitTo(commit: Commit): void {
    this.#commit = commit;
    if (commit.loaderId !== null) this.#begin(commit.loaderId);
    this.#changes.notify();
  }

  #begin(loaderId: string): void {
    if (this.#rivals.has(loaderId)) return;
    const at = this.#started.indexOf(loaderId);
    this.#rivals.set(loaderId, at === -1 ? [] : this.#started.slice(at + 1));
  }

  async #change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#changes.wait(signal);
    signal.throwIfAborted();
  }
}
