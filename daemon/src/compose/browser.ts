/** Constructs the object that drives a browser, and the probe for one. */
import type { Shared } from './shared.ts';
import { AgentBrowser } from '../core/browser/backends/agent-browser/agent-browser.ts';
import type { BrowserBackend } from '../core/browser/backends/backend.ts';
import { cdpBackend } from '../core/browser/backends/cdp.ts';
import { Browser } from '../core/browser/browser.ts';
import { browserProbe } from '../core/browser/probe.ts';
import type { Probe } from '../core/capabilities/capabilities.ts';
import type { BrowserCapability } from '../core/capabilities/report.ts';
import { boundsWithin } from '../kit/text/json-bounds.ts';
import { memoryLimitBytes } from '../platform/memory/memory.ts';
import { CdpEndpoint } from '../platform/clients/cdp-connection.ts';

export interface BrowserParts {
  readonly browser: Browser;
  readonly browserBackend: BrowserBackend;
  readonly probe: Probe<BrowserCapability>;
}

export function composeBrowser({ config, tools }: Shared): BrowserParts {
  const memoryBytes = memoryLimitBytes();
  const endpoint = new CdpEndpoint(config.browserHost, config.browserPort, memoryBytes);
  const browser = new Browser({
    address: endpoint.address,
    answerBounds: boundsWithin(memoryBytes),
    idleMs: config.browserIdleSeconds * 1000,
    maxDownloadBytes: config.browserDownloadMib * 1024 * 1024,
    // Loaded with the first connection, because most daemons never have a browser.
    async connect({ requests, downloads }, signal) {
      const [{ ConnectedBrowser }, { pageScript: script }] = await Promise.all([
        import('../core/browser/connected-browser.ts'),
        import('../assets/page.ts'),
      ]);
      return await ConnectedBrowser.connect({ endpoint, downloads, page: { requests, script } }, signal);
    },
  });
  const { agentBrowserBin: program, browserHost: host, browserPort: port } = config;
  const cdp = cdpBackend(browser);
  const browserBackend = program === null ? cdp : new AgentBrowser({ browser, cdp, program, host, port, tools });
  return { browser, browserBackend, probe: browserProbe(endpoint) };
}

/** The version of the browser at an address, for `boxkeep doctor`; null when none answers in time. */
export async function askForBrowser(host: string, port: number, withinMs: number): Promise<string | null> {
  return await new CdpEndpoint(host, port).version(AbortSignal.timeout(withinMs)).then(
    ({ product }) => product,
    () => null, // Whatever the reason, the browser routes would not work.
  );
}
