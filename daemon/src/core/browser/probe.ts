/** Probes whether a browser answers at the configured address. */
import { CdpUnreachable } from '../../protocols/cdp-errors.ts';
import type { CdpEndpoint } from '../../platform/clients/cdp-connection.ts';
import type { Probe } from '../capabilities/capabilities.ts';
import type { BrowserCapability } from '../capabilities/report.ts';

export function browserProbe(endpoint: CdpEndpoint): Probe<BrowserCapability> {
  return {
    isLive: true,
    async look(signal) {
      try {
        const { product: version } = await endpoint.version(signal);
        return { status: 'ready', missing: [], warnings: [], process: true, cdp: true, version };
      } catch (error) {
        if (!(error instanceof CdpUnreachable)) throw error;
        const missing = [`no browser answers at ${endpoint.address}: ${error.message}`];
        return { status: 'absent', missing, warnings: [], process: false, cdp: false, version: null };
      }
    },
    unknown: { process: null, cdp: null, version: null },
  };
}
