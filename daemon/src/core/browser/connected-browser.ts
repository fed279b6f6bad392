/** A browser while the daemon is connected to it: its targets, and the pages in use. */
import { untilAborted } from '../../kit/shared-work.ts';
import type { CdpClosed } from '../../protocols/cdp-errors.ts';
import type {
  CdpConnection,
  CdpEndpoint,
  CdpEvent,
  CdpResult,
  CdpVersion,
} from '../../platform/clients/cdp-connection.ts';
import type { DownloadBudget } from './downloads.ts';
import { Page, type PageDeps } from './page.ts';
import { CdpSessions, type Session } from './session.ts';
import { noTab } from './failures.ts';

export type TargetInfo = CdpResult<'Target.getTargetInfo'>['targetInfo'];

export interface ConnectedBrowserDeps {
  readonly endpoint: CdpEndpoint;
  readonly downloads: DownloadBudget;
  readonly page: Omit<PageDeps, 'sessions'>;
}

/** Time for a page to say whether it is visible. A page whose script does not end says nothing. */
const visibilityMs = 300;
/** The same for all tabs at once. */
const allVisibilityMs = 1500;
/** A browser with many tabs shows the one that was activated only a moment later. */
const activationMs = 2000;

export class ConnectedBrowser {
  /** The session of the browser itself. */
  readonly root: Session;
  private readonly sessions: CdpSessions;
  readonly #targets = new Map<string, TargetInfo>();
  readonly #pages = new Map<string, Promise<Page>>();
  /** The tab that was visible when the daemon last looked. */
  #activeId: string | null = null;
  #activatedMs = -activationMs;

  private constructor(
    private readonly deps: ConnectedBrowserDeps,
    readonly version: CdpVersion,
    readonly connection: CdpConnection,
  ) {
    this.sessions = new CdpSessions(connection);
    this.root = this.sessions.root;
    deps.downloads.watch(this.root);
    this.root.on('Target.targetCreated', ({ targetInfo }) => void this.#targets.set(targetInfo.targetId, targetInfo));
    this.root.on('Target.targetInfoChanged', ({ targetInfo }) => this.#change(targetInfo));
    this.root.on('Target.targetDestroyed', ({ targetId }) => this.#drop(targetId, 'the tab has closed'));
  }

  /** Throws `CdpUnreachable`. */
  static async connect(deps: ConnectedBrowserDeps, signal: AbortSignal): Promise<ConnectedBrowser> {
    const version = await deps.endpoint.version(signal);
    // Events cannot arrive before the first command.
    let browser: ConnectedBrowser | null = null;
    const observer = {
      onEvent: (event: CdpEvent) => browser?.sessions.receive(event),
      isHeard: (method: string) => browser?.sessions.isHeard(method) ?? false,
      onClose: (reason: CdpClosed) => browser?.end(reason),
    };
    const connection = await deps.endpoint.connect(version.socketPath, observer, signal);
    browser = new ConnectedBrowser(deps, version, connection);
    await browser.root.send('Target.setDiscoverTargets', { discover: true }, signal);
    browser.root.tell('Browser.setDownloadBehavior', { behavior: 'default', eventsEnabled: true });
    return browser;
  }

  get downloads(): DownloadBudget {
    return this.deps.downloads;
  }

  get isOpen(): boolean {
    return this.connection.isOpen;
  }

  close(): void {
    this.connection.close();
  }

  /** The tabs, in the order in which the browser has reported them. */
  tabs(): readonly TargetInfo[] {
    return [...this.#targets.values()].filter(isTab);
  }

  /** Reads the titles of the tabs, which the browser does not report when they change. */
  async readTitles(signal: AbortSignal): Promise<void> {
    const { targetInfos } = await this.root.send('Target.getTargets', {}, signal);
    for (const target of targetInfos) this.#change(target);
  }

  hasTab(targetId: string): boolean {
    const target = this.#targets.get(targetId);
    return target !== undefined && isTab(target);
  }

  /** Resolves when all that the browser has reported so far has arrived, or when the time is over. */
  async catchUp(withinMs: number): Promise<void> {
    try {
      await this.root.send('Browser.getVersion', undefined, AbortSignal.timeout(withinMs));
    } catch {
      // The caller looks at what has arrived.
    }
  }

  /** Attaches to the tab at its first use. Throws `tab_not_found`. */
  async page(targetId: string, signal: AbortSignal): Promise<Page> {
    if (!this.hasTab(targetId)) throw noTab(targetId);
    let page = this.#pages.get(targetId);
    if (!page) {
      page = this.#attach(targetId);
      this.#pages.set(targetId, page);
      page.catch(() => this.#pages.delete(targetId)); // The callers get the error; the next call tries again.
    }
    return await untilAborted(page, signal);
  }

  get attachedCount(): number {
    return this.#pages.size;
  }

  /** The visible tab, the most recently used one among several; null when the browser has no tab. */
  async activeId(signal: AbortSignal): Promise<string | null> {
    const ids = this.tabs().map(({ targetId }) => targetId);
    const [first = null] = ids;
    if (ids.length <= 1) return (this.#activeId = first);
    const last = this.#activeId;
    if (last !== null && ids.includes(last)) {
      const isRecent = performance.now() - this.#activatedMs < activationMs;
      if (isRecent || (await this.#isVisible(last, visibilityMs)) !== false) return last;
    }
    const recent = await this.deps.endpoint.recentTargets(signal);
    const ordered = ids.toSorted((a, b) => rank(recent, a) - rank(recent, b));
    const visible = await Promise.all(ordered.map((id) => this.#isVisible(id, allVisibilityMs)));
    const found = ordered.find((_id, index) => visible[index] === true);
    return (this.#activeId = found ?? ordered[0] ?? first);
  }

  async activate(targetId: string, signal: AbortSignal): Promise<void> {
    await this.root.send('Target.activateTarget', { targetId }, signal);
    await this.#becomesVisible(targetId);
    this.#bringToFront(targetId);
  }

  /** Opens an empty tab in the foreground. */
  async openTab(signal: AbortSignal): Promise<string> {
    const { targetId } = await this.root.send('Target.createTarget', { url: 'about:blank' }, signal);
    this.#bringToFront(targetId);
    return targetId;
  }

  end(reason: CdpClosed): void {
    this.sessions.end(reason);
    this.deps.downloads.end();
    this.#targets.clear();
    this.#pages.clear();
  }

  #bringToFront(targetId: string): void {
    this.#activeId = targetId;
    this.#activatedMs = performance.now();
  }

  /** Ends with the connection, because several callers may wait for the page. */
  async #attach(targetId: string): Promise<Page> {
    const { sessionId } = await this.root.send('Target.attachToTarget', { targetId, flatten: true });
    return new Page(targetId, this.sessions.open(sessionId), { ...this.deps.page, sessions: this.sessions });
  }

  /** The browser shows a tab a moment after it has agreed to. A busy page is not waited for. */
  async #becomesVisible(targetId: string): Promise<void> {
    const signal = AbortSignal.timeout(visibilityMs);
    const expression =
      "document.visibilityState === 'visible' || new Promise((seen) => document.addEventListener('visibilitychange', seen, { once: true }))";
    try {
      const { session } = await this.page(targetId, signal);
      await session.send('Runtime.evaluate', { expression, awaitPromise: true }, signal);
    } catch {
      // The tab is active, whether its page answers in time or not.
    }
  }

  /** Null when the page does not answer. */
  async #isVisible(targetId: string, withinMs: number): Promise<boolean | null> {
    const signal = AbortSignal.timeout(withinMs);
    try {
      const { session } = await this.page(targetId, signal);
      return await session.valueOf<boolean>("document.visibilityState === 'visible'", signal);
    } catch {
      return null; // A busy page, or one that closes meanwhile, has no answer.
    }
  }

  #change(target: TargetInfo): void {
    if (this.#targets.has(target.targetId)) this.#targets.set(target.targetId, target);
  }

  #drop(targetId: string, reason: string): void {
    this.#targets.delete(targetId);
    const page = this.#pages.get(targetId);
    this.#pages.delete(targetId);
    page?.then(
      ({ session }) => session.id !== null && this.sessions.close(session.id, reason),
      () => {
        // The tab has closed before the daemon was attached.
      },
    );
  }
}

function isTab({ type, url }: TargetInfo): boolean {
  return type === 'page' && !url.startsWith('devtools://');
}

function rank(recent: readonly string[], id: string): number {
  const index = recent.indexOf(id);
  return index === -1 ? recent.length : index;
}
