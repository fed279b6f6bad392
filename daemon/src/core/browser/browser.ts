/** The daemon's access to a browser: connects at the first call, bounds every call, and disconnects when idle. */
import type { JsonBounds } from '../../kit/text/json-bounds.ts';
import { CdpUnreachable, type CdpClosed } from '../../protocols/cdp-errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { SharedConnection } from '../../kit/shared-connection.ts';
import type { ConnectedBrowser } from './connected-browser.ts';
import type { DialogPolicy, DialogRecord } from './dialogs.ts';
import { DownloadBudget, type DownloadRecord } from './downloads.ts';
import { Effects, type Download, type OpenedTab } from './effects.ts';
import { callFailure, crashed, dialogLoop, noTabs, unreachable } from './failures.ts';
import type { Page } from './page.ts';
import { NetworkRequests } from './requests.ts';
import { SessionWait } from './session.ts';

export interface BrowserDeps {
  /** Where the browser is expected, as `host:port`. */
  readonly address: string;
  /** Throws `CdpUnreachable`. */
  readonly connect: (records: BrowserRecords, signal: AbortSignal) => Promise<ConnectedBrowser>;
  /** Of what a page returns. */
  readonly answerBounds: JsonBounds;
  /** Bytes that the pages may download in an hour. */
  readonly maxDownloadBytes: number;
  /** Milliseconds without a call after which the daemon disconnects. */
  readonly idleMs: number;
}

/** What outlives a connection. */
export interface BrowserRecords {
  readonly requests: NetworkRequests;
  readonly downloads: DownloadBudget;
}

export interface CallOptions {
  /** Seconds that the caller grants; null for the default. */
  readonly timeout: number | null;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
}

export interface PageCallOptions extends CallOptions {
  /** Null for the active tab. */
  readonly tabId: string | null;
  readonly dialogs?: DialogPolicy;
  /** True for a call that loads a document, and so may open a first tab and load a crashed page again. */
  readonly isLoading?: boolean;
  /** True for a call that makes the page run scripts. A script that does not end in the time of the call is stopped. */
  readonly runsScripts?: boolean;
}

/** Side effects of a call on a page: dialogs, new tabs, downloads. */
export interface CallEffects {
  readonly dialogs: readonly DialogRecord[];
  readonly openedTabs: readonly OpenedTab[];
  readonly downloads: readonly Download[];
  /** Number of further tabs and downloads. */
  readonly omitted: number;
}

export interface PageResult<T> {
  readonly value: T;
  readonly effects: CallEffects;
}

export interface PageCall {
  readonly browser: ConnectedBrowser;
  readonly page: Page;
  readonly effects: Effects;
  /** Fires at the end of the call's time, and when the client, the page or the browser has gone. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Time to find the browser and to open its WebSocket. */
const connectMs = 5000;
const defaultMs = 30_000;
const defaultPolicy: DialogPolicy = { action: null, text: null };

export class Browser implements Disposable {
  readonly requests = new NetworkRequests();
  readonly #downloads: DownloadBudget;
  readonly #shared: SharedConnection<ConnectedBrowser>;

  constructor(private readonly deps: BrowserDeps) {
    this.#downloads = new DownloadBudget(deps.maxDownloadBytes);
    const isBusy = () => this.#downloads.isBusy;
    this.#shared = new SharedConnection({ open: () => this.#open(), idleMs: deps.idleMs, isBusy });
  }

  get address(): string {
    return this.deps.address;
  }

  get answerBounds(): JsonBounds {
    return this.deps.answerBounds;
  }

  get isConnected(): boolean {
    return this.#shared.latest?.isOpen ?? false;
  }

  /** Downloads of the last hour that a connected daemon has seen. */
  get downloads(): readonly DownloadRecord[] {
    return this.#downloads.list();
  }

  /** Tabs that the daemon is attached to. */
  get attachedTabs(): number {
    return this.#shared.latest?.attachedCount ?? 0;
  }

  /** Runs work on the browser itself. Throws `unavailable` without a browser, and `page_timeout`. */
  async call<T>(
    { timeout, signal }: CallOptions,
    work: (browser: ConnectedBrowser, signal: AbortSignal, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = timeLimitMs(timeout);
    using deadline = new Deadline(timeoutMs, signal);
    using _call = this.#shared.begin();
    const facts = { address: this.address, targetId: null, timeoutMs, hasTab: true, loading: null, dialogs: 0 };
    let browser: ConnectedBrowser | null = null;
    let gone: CdpClosed | null = null;
    try {
      browser = await this.#shared.connect();
      using wait = new SessionWait(browser.root, deadline.signal);
      try {
        return await work(browser, wait.signal, deadline);
      } finally {
        gone = wait.gone;
      }
    } catch (error) {
      const isConnected = browser?.isOpen ?? false;
      throw callFailure(error, { ...facts, gone, isOver: deadline.passed, isConnected });
    }
  }

  /** Runs work on one page; see `call`. Also throws `tab_not_found` and `ref_stale`. */
  async onPage<T>(
    { tabId, dialogs = defaultPolicy, isLoading = false, runsScripts = false, ...options }: PageCallOptions,
    work: (call: PageCall) => Promise<T>,
  ): Promise<PageResult<T>> {
    const timeoutMs = timeLimitMs(options.timeout);
    return await this.call(options, async (browser, browserSignal, deadline) => {
      const targetId =
        tabId ?? (await browser.activeId(browserSignal)) ?? (await firstTab(browser, isLoading, browserSignal));
      let count = 0;
      let gone: CdpClosed | null = null;
      let loading: string | null = null;
      try {
        const page = await browser.page(targetId, browserSignal);
        if (page.isCrashed && !isLoading) throw crashed(targetId);
        using wait = new SessionWait(page.session, browserSignal);
        const { signal } = wait;
        using effects = new Effects(targetId, page.session, browser);
        using dialogCall = page.dialogs.begin(dialogs);
        try {
          const value = await work({ browser, page, effects, signal, timeoutMs });
          // Some work ends early when the page goes. A tab that its own click has closed is an answer.
          if (wait.gone !== null && browser.hasTab(targetId)) throw wait.gone;
          browser.root.assertOpen();
          // V8 may stop the script in time, so that the work succeeds. A call that loads has replaced the page.
          if (dialogCall.hasLoop && !isLoading) throw dialogLoop({ targetId, dialogs: dialogCall.count });
          const { openedTabs, downloads, omitted } = effects;
          return { value, effects: { dialogs: dialogCall.records, openedTabs, downloads, omitted } };
        } finally {
          count = dialogCall.count;
          gone = wait.gone;
          loading = page.loading;
          if (runsScripts && deadline.passed && !options.signal.aborted) void page.release();
        }
      } catch (error) {
        const state = { isConnected: browser.isOpen, hasTab: browser.hasTab(targetId), isOver: deadline.passed };
        throw callFailure(error, {
          ...state,
          gone,
          loading,
          address: this.address,
          targetId,
          timeoutMs,
          dialogs: count,
        });
      }
    });
  }

  /** Attaches to the active tab, whose requests are recorded from then on. */
  async watchActive(options: CallOptions): Promise<void> {
    await this.call(options, async (browser, signal) => {
      const tabId = await browser.activeId(signal);
      if (tabId !== null) await browser.page(tabId, signal);
    });
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
  }

  async #open(): Promise<ConnectedBrowser> {
    using deadline = new Deadline(connectMs);
    try {
      return await this.deps.connect({ requests: this.requests, downloads: this.#downloads }, deadline.signal);
    } catch (error) {
      if (error instanceof CdpUnreachable) throw unreachable(this.address, error);
      if (deadline.passed) throw unreachable(this.address, new CdpUnreachable('it did not answer in time'));
      throw error;
    }
  }
}

async function firstTab(browser: ConnectedBrowser, isLoading: boolean, signal: AbortSignal): Promise<string> {
  if (!isLoading) throw noTabs();
  return await browser.openTab(signal);
}

function timeLimitMs(seconds: number | null): number {
  return seconds === null ? defaultMs : seconds * 1000;
}
