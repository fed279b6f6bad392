/** Serves the counters and gauges of the daemon for Prometheus. */
import { route } from './app.ts';

export const metrics = route({
  operation: 'operations.metrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Read the counters and gauges of the daemon',
  raw: { contentType: 'text/plain', description: 'Prometheus text format' },
  async handle({ renderMetrics }) {
    const { contentType, text } = await renderMetrics();
    return new Response(text, { headers: { 'content-type': contentType, 'cache-control': 'no-store' } });
  },
});
