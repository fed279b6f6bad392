/** Records what a call causes beside its answer: opened tabs, downloads and navigations. */
import type { CdpEvents } from '../../platform/clients/cdp-connection.ts';
import { Notifier } from '../../kit/events/notifier.ts';
import type { ConnectedBrowser } from './connected-browser.ts';
import type { DownloadRecord } from './downloads.ts';
import type { Session } from './session.ts';

export interface OpenedTab {
  readonly tabId: string;
  readonly url: string;
}

export interface Download extends Omit<DownloadRecord, 'id'> {
  /** True when the daemon has cancelled the download, because the pages have downloaded too much. */
  readonly isRefused: boolean;
}

/** A call lists this many of each. */
const maxRecords = 20;

export class Effects implements Disposable {
  readonly #changes = new Notifier();
  readonly #tabs = new Map<string, OpenedTab>();
  readonly #downloads = new Map<string, Download>();
  readonly #removals: (() => void)[];
  /** Tabs and downloads that are not listed. */
  #omitted = 0;
  #navigation: 'none' | 'requested' | 'started' | 'stopped' | 'ended' = 'none';

  constructor(
    private readonly targetId: string,
    session: Session,
    private readonly browser: Pick<ConnectedBrowser, 'root' | 'downloads'>,
  ) {
    const { root } = browser;
    this.#removals = [
      root.on('Target.targetCreated', ({ targetInfo }) => this.#addTab(targetInfo)),
      root.on('Target.targetInfoChanged', ({ targetInfo }) => this.#changeTab(targetInfo)),
      root.on('Browser.downloadWillBegin', (download) => this.#addDownload(download)),
      root.on('Browser.downloadProgress', (progress) => this.#changeDownload(progress)),
      // A form asks for a navigation when it is sent, and the navigation begins in a later task or is cancelled there.
      session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
        if (frameId === targetId && disposition === 'currentTab') this.#navigate('requested');
      }),
      session.on('Page.frameClearedScheduledNavigation', ({ frameId }) => {
        if (frameId === targetId && this.isRequested) this.#navigate('none');
      }),
      session.on('Page.frameStartedNavigating', ({ frameId, navigationType }) => {
        if (frameId === targetId && navigationType !== 'sameDocument') this.#navigate('started');
      }),
      session.on('Page.frameNavigated', ({ frame }) => frame.id === targetId && this.#navigate('ended')),
      session.on('Page.frameStoppedLoading', ({ frameId }) => frameId === targetId && this.#navigate('stopped')),
    ];
  }

  get openedTabs(): readonly OpenedTab[] {
    return [...this.#tabs.values()];
  }

  get downloads(): readonly Download[] {
    return [...this.#downloads.values()];
  }

  get omitted(): number {
    return this.#omitted;
  }

  /** The page has asked for a navigation that has not begun yet. */
  get isRequested(): boolean {
    return this.#navigation === 'requested';
  }

  get isNavigating(): boolean {
    return this.#navigation === 'started';
  }

  /** The navigation has ended without a new document, as that of a download does a moment before the download begins. */
  get hasStopped(): boolean {
    return this.#navigation === 'stopped';
  }

  get hasDownloads(): boolean {
    return this.#downloads.size > 0;
  }

  get isDownloading(): boolean {
    return this.downloads.some(({ state }) => state === 'inProgress');
  }

  /** Resolves at the next change, or when the signal fires. */
  async changed(signal: AbortSignal): Promise<void> {
    await this.#changes.wait(signal);
  }

  [Symbol.dispose](): void {
    for (const remove of this.#removals) remove();
  }

  #navigate(state: 'none' | 'requested' | 'started' | 'stopped' | 'ended'): void {
    if (state === 'requested' && this.#navigation === 'started') return;
    if (state === 'ended' && (this.#navigation === 'none' || this.isRequested)) return;
    if (state === 'stopped' && this.#navigation !== 'started') return;
    this.#navigation = state;
    this.#changes.notify();
  }

  #hasRoom(records: ReadonlyMap<string, unknown>): boolean {
    if (records.size < maxRecords) return true;
    this.#omitted += 1;
    return false;
  }

  #addTab({ targetId: tabId, type, openerId, url }: CdpEvents['Target.targetCreated'][0]['targetInfo']): void {
    if (type !== 'page' || openerId !== this.targetId || !this.#hasRoom(this.#tabs)) return;
    this.#tabs.set(tabId, { tabId, url });
    this.#changes.notify();
  }

  #changeTab({ targetId: tabId, url }: CdpEvents['Target.targetInfoChanged'][0]['targetInfo']): void {
    if (!this.#tabs.has(tabId)) return;
    this.#tabs.set(tabId, { tabId, url });
    this.#changes.notify();
  }

  /** Chromium names the frame of a download; a frame of another tab belongs to another call. */
  #addDownload({ guid, url, suggestedFilename, frameId }: CdpEvents['Browser.downloadWillBegin'][0]): void {
    const isOfTab = frameId === this.targetId || this.#tabs.has(frameId);
    if (!isOfTab || !this.#hasRoom(this.#downloads)) return;
    const isRefused = this.browser.downloads.isRefused(guid);
    this.#downloads.set(guid, { url, suggestedFilename, state: 'inProgress', receivedBytes: 0, path: null, isRefused });
    this.#navigate('ended');
    this.#changes.notify();
  }

  #changeDownload({ guid, state, receivedBytes, filePath }: CdpEvents['Browser.downloadProgress'][0]): void {
    const download = this.#downloads.get(guid);
    if (!download) return;
    const isRefused = this.browser.downloads.isRefused(guid);
    this.#downloads.set(guid, { ...download, state, receivedBytes, path: filePath ?? null, isRefused });
    this.#changes.notify();
  }
}
