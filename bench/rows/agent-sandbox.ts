/** Measures what clients of Kubernetes agent-sandbox wait for, beside its own runtime. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentSandboxPeers } from '../peers/agent-sandbox.ts';
import { idle } from './idle.ts';
import { judged, measureClients } from './measure-clients.ts';
import type { Row } from './row.ts';

export const agentSandbox: Row = {
  name: 'agent-sandbox',
  async measure(field) {
    const root = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      const peers = agentSandboxPeers(field, root);
      const resident = await idle.measure({ ...field, contestants: [], starters: peers });
      await using opened = new AsyncDisposableStack();
      const clients = [];
      for (const peer of peers) clients.push(opened.use(await peer.open()));
      const measured = await measureClients(field, clients, clients, root);
      return judged('agent-sandbox', [...resident, ...measured], { rival: 'agent-sandbox' });
    } finally {
      rmSync(root, { recursive: true });
    }
  },
};
