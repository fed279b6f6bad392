/** Sends one span for each request to an OpenTelemetry collector; loaded only where one is configured. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import { percentDecoded } from '../../kit/text/percent.ts';
import type { AnsweredRequest } from '../../kit/types/answered-request.ts';

export interface TracedRequest extends Omit<AnsweredRequest, 'route'> {
  /** The template of the route; null when none matched. */
  readonly route: string | null;
  /** The MCP tool that the request called, and how the call ended. */
  readonly tool: { readonly tool?: string; readonly tool_outcome?: string };
}

export interface TracingOptions {
  readonly version: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS` as init withheld it; null when it is in the environment or not set. */
  readonly headers: string | null;
  /** Called when the collector cannot be reached, once per outage. */
  readonly onUnreachable: (reason: string) => void;
}

/** Long enough for a reachable collector, short enough for a waiting supervisor. */
const flushMs = 500;
const firstServerError = 500;
const sampledFlag = 1;

export class Tracing {
  readonly #provider: TracerProvider;

  /** The variables of OpenTelemetry set the collector, the limits and the resource. */
  constructor({ version, headers, onUnreachable }: TracingOptions) {
    const exporter = new OTLPTraceExporter(headers === null ? {} : { headers: parseHeaders(headers) });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'boxkeep', 'service.version': version }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor({ exporter: telling(exporter, onUnreachable) })],
    });
  }

  observe(request: TracedRequest): void {
    const { method, route, status, startedMs } = request;
    const { tool, tool_outcome: outcome } = request.tool;
    const span = this.#provider.getTracer('boxkeep').startSpan(
      nameOf(method, route, tool),
      {
        kind: SpanKind.SERVER,
        startTime: startedMs,
        attributes: {
          'http.request.method': method,
          ...(route === null ? {} : { 'http.route': route }),
          'http.response.status_code': status,
          'boxkeep.request_id': request.requestId,
          // The names of the semantic conventions for MCP.
          ...(tool === undefined ? {} : { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool }),
          ...(outcome === undefined ? {} : { 'boxkeep.tool_outcome': outcome }),
        },
      },
      parentOf(request.traceparent),
    );
    if (status >= firstServerError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(startedMs + request.ms);
  }

  /** Sends buffered spans; gives up after `flushMs`. */
  async close(): Promise<void> {
    const expired = new Promise<void>((resolve) => setTimeout(resolve, flushMs).unref());
    await Promise.race([this.#provider.shutdown(), expired]);
  }
}

function nameOf(method: string, route: string | null, tool: string | undefined): string {
  if (tool !== undefined) return `tools/call ${tool}`;
  return route === null ? method : `${method} ${route}`;
}

/** Parses a W3C trace context; an invalid header is ignored. */
function parentOf(traceparent: string | null): Context {
  const match = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '');
  if (!match) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = match;
  const traceFlags = Number.parseInt(flags, 16) & sampledFlag;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Parses `name=value` pairs with commas between, percent-encoded, as the variable holds them. */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.split('='))
    .map(([name = '', ...value]) => [percentDecoded(name.trim()), percentDecoded(value.join('=').trim())]);
  return Object.fromEntries(pairs.filter(([name]) => name !== ''));
}

/** Reports an unreachable collector: the library retries and then drops a batch silently. */
function telling(exporter: OTLPTraceExporter, onUnreachable: (reason: string) => void): SpanExporter {
  let isReachable = true;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error && isReachable) onUnreachable(result.error.message);
        isReachable = result.error === undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
