/** Bounds what the pages of a browser download in an hour, because a page can begin any number of downloads. */
import type { CdpEvents } from '../../platform/clients/cdp-connection.ts';
import type { Session } from './session.ts';
import { shortened } from './url.ts';

interface Download {
  readonly startedMs: number;
  readonly url: string;
  readonly suggestedFilename: string;
  state: DownloadState;
  receivedBytes: number;
  path: string | null;
  /** What the file takes on the disk, or will take as far as its server has announced. */
  bytes: number;
  isRunning: boolean;
  isRefused: boolean;
}

export type DownloadState = 'inProgress' | 'completed' | 'canceled';

/** A download of the last hour. */
export interface DownloadRecord {
  readonly id: string;
  readonly url: string;
  readonly suggestedFilename: string;
  readonly state: DownloadState;
  readonly receivedBytes: number;
  /** Null when the browser does not say where the file is. */
  readonly path: string | null;
}

const windowMs = 3_600_000;
/** Files within the window. */
const maxFiles = 500;

/** The bound holds for the whole browser, because a page can open tabs. Only a connected daemon sees the downloads. */
export class DownloadBudget {
  readonly #downloads = new Map<string, Download>();

  constructor(private readonly maxBytes: number) {}

  /** The daemon stays connected while a download runs. */
  get isBusy(): boolean {
    return this.#downloads.values().some(({ isRunning }) => isRunning);
  }

  /** In the order of their start. */
  list(): readonly DownloadRecord[] {
    return [...this.#downloads].map(([id, { url, suggestedFilename, state, receivedBytes, path }]) => ({
      ...{ id, url, suggestedFilename, state, receivedBytes, path },
    }));
  }

  /** True when the daemon has cancelled the download. */
  isRefused(guid: string): boolean {
    return this.#downloads.get(guid)?.isRefused ?? true;
  }

  watch(root: Session): void {
    root.on('Browser.downloadWillBegin', ({ guid, url, suggestedFilename }) => {
      this.#forgetOld();
      // Not recorded, so that a page cannot make the record grow.
      if (this.#downloads.size >= maxFiles) return root.tell('Browser.cancelDownload', { guid });
      this.#downloads.set(guid, {
        ...{ startedMs: performance.now(), bytes: 0, isRunning: true, isRefused: false },
        // The page chooses both.
        ...{ url: shortened(url), suggestedFilename: shortened(suggestedFilename) },
        ...{ state: 'inProgress', receivedBytes: 0, path: null },
      });
      this.#check(guid, root);
    });
    root.on('Browser.downloadProgress', (progress) => this.#follow(progress, root));
  }

  /** Called when the daemon has disconnected and hears nothing more of the downloads. */
  end(): void {
    for (const download of this.#downloads.values()) download.isRunning = false;
  }

  #follow(progress: CdpEvents['Browser.downloadProgress'][0], root: Session): void {
    const { guid, state, receivedBytes, totalBytes, filePath } = progress;
    const download = this.#downloads.get(guid);
    if (!download) return;
    Object.assign(download, { state, receivedBytes, path: filePath ?? download.path });
    download.isRunning = state === 'inProgress';
    // The browser deletes the file of a download that is cancelled.
    download.bytes = state === 'canceled' ? 0 : Math.max(receivedBytes, download.isRunning ? totalBytes : 0);
    this.#check(guid, root);
  }

  #check(guid: string, root: Session): void {
    const download = this.#downloads.get(guid);
    if (!download?.isRunning || download.isRefused) return;
    const bytes = this.#downloads.values().reduce((sum, other) => sum + other.bytes, 0);
    if (bytes <= this.maxBytes) return;
    download.isRefused = true;
    download.bytes = 0;
    root.tell('Browser.cancelDownload', { guid });
  }

  #forgetOld(): void {
    for (const [guid, { startedMs, isRunning }] of this.#downloads) {
      if (!isRunning && performance.now() - startedMs > windowMs) this.#downloads.delete(guid);
    }
  }
}
