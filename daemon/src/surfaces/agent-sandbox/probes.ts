/** The routes of port 8080 that are not about files. */
import { routesFor } from '../../http/route/route.ts';
import { CoreError } from '../../kit/errors.ts';
import type { AgentSandboxDeps } from './app.ts';

const route = routesFor<AgentSandboxDeps>();

export const health = route({
  operation: 'agentSandbox.health',
  method: 'GET',
  path: '/v1/health',
  summary: 'Whether the daemon serves',
  raw: { contentType: 'application/json', description: '`status` is `ok`; `uptime_seconds` is a number.' },
  errors: ['unavailable'],
  handle({ closing, uptimeSeconds }) {
    if (closing.aborted) throw new CoreError('unavailable', 'the daemon shuts down');
    return Response.json({ status: 'ok', uptime_seconds: uptimeSeconds() });
  },
});

const secretWords = /TOKEN|SECRET|PASSWORD|PASSWD|CRED|KEY|AUTH|BEARER|PRIVATE|CERT/i;

export const metadata = route({
  operation: 'agentSandbox.metadata',
  method: 'GET',
  path: '/v1/metadata',
  summary: 'Variables that the orchestrator has set',
  raw: { contentType: 'application/json', description: '`env` is a map of names to values.' },
  handle({ environment, metadataPrefix }) {
    const shown = Object.entries(environment).filter(
      ([name]) => name.startsWith(metadataPrefix) && !secretWords.test(name),
    );
    return Response.json({ env: Object.fromEntries(shown) });
  },
});
