/** Requests are reported to an OpenTelemetry collector when one is configured. */
import { afterAll } from 'bun:test';
import { Collector } from '../harness/otlp.ts';
import { expect, test } from '../harness/sandbox.ts';

const key = 'canary-key-c8a2e51d90';
const collector = new Collector();
afterAll(() => collector[Symbol.dispose]());

test(
  'OPS-TRACES each request has a span: the route, the status, and the parent that the client names',
  async ({ sandbox }) => {
    const headers = { 'x-api-key': key };
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const parent = { ...headers, traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    await sandbox.request('POST /v2/commands', { command: 'true', command_id: 'traced' }, parent);
    await sandbox.request('GET /v2/commands/traced', undefined, headers);
    await sandbox.request(`GET /v2/nothing/secret?api_key=${key}`);
    const unsampled = { ...headers, traceparent: `00-${'1'.repeat(32)}-b7ad6b7169203331-00` };
    await sandbox.request('GET /v2/sandbox', undefined, unsampled);
    await sandbox.request('GET /health', undefined, { traceparent: 'nonsense' });
    expect(await sandbox.stop()).toBe(0);

    const { spans } = collector;
    expect(spans.map(({ name }) => name)).toEqual([
      'POST /v2/commands',
      'GET /v2/commands/{command_id}',
      'GET',
      'GET /health',
    ]);
    expect(spans.map(({ kind }) => kind)).toEqual([2, 2, 2, 2]);
    expect(spans[0]).toMatchObject({
      traceId,
      parentSpanId: 'b7ad6b7169203331',
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v2/commands',
        'http.response.status_code': 200,
        'boxkeep.request_id': traceId,
      },
    });
    expect(spans[1]).toMatchObject({ parentSpanId: '', attributes: { 'http.response.status_code': 200 } });
    expect(spans[2]?.attributes).toMatchObject({ 'http.response.status_code': 404 });
    expect(Object.keys(spans[2]?.attributes ?? {})).not.toContain('http.route');
    for (const { milliseconds } of spans) expect(milliseconds).toBeGreaterThan(0);
    expect(collector.resource).toMatchObject({ 'service.name': 'boxkeep', 'deployment.environment.name': 'test' });
    expect(collector.requests.map(({ path }) => path)).toContain('/v1/traces');
    expect(collector.requests[0]?.headers.get('x-tenant')).toBe('a b');
    for (const { body } of collector.requests) expect(Buffer.from(body).includes(key)).toBe(false);
  },
  {
    env: {
      SVC_API_KEY: key,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  },
);

test(
  'OPS-TRACES RUN-STOP an unreachable collector costs no request and no time at the end',
  async ({ sandbox }) => {
    expect((await sandbox.request('GET /health')).status).toBe(200);
    const started = performance.now();
    expect(await sandbox.stop()).toBe(0);
    expect(performance.now() - started).toBeLessThan(5000);
  },
  { env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/v1/traces' } },
);
