/** Sends one span for each request to an OpenTelemetry collector; loaded only where one is configured. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';

export interface TracedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The template of the route; null when none matched. */
  readonly route: string | null;
  readonly status: number;
  readonly startedMs: number;
  readonly ms: number;
  /** The header of that name, as it came. */
  readonly traceparent: string | null;
}

export interface TracingOptions {
  readonly version: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS` as init kept it back; null when it is in the environment, or not set. */
  readonly headers: string | null;
  /** Called when the collector cannot be reached, once until it can be again. */
  readonly onUnreachable: (reason: string) => void;
}

/** Long enough for a collector that is there, short enough for a supervisor that waits. */
const flushMs = 500;
const firstServerError = 500;
const sampledFlag = 1;

export class Tracing {
  readonly #provider: TracerProvider;

  /** The variables of OpenTelemetry name the collector, the limits and the resource. */
  constructor({ version, headers, onUnreachable }: TracingOptions) {
    const exporter = new OTLPTraceExporter(headers === null ? {} : { headers: parseHeaders(headers) });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'sandboxd', 'service.version': version }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor({ exporter: telling(exporter, onUnreachable) })],
    });
  }

  observe(request: TracedRequest): void {
    const { method, route, status, startedMs } = request;
    const span = this.#provider.getTracer('sandboxd').startSpan(
      route === null ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        startTime: startedMs,
        attributes: {
          'http.request.method': method,
          ...(route === null ? {} : { 'http.route': route }),
          'http.response.status_code': status,
          'sandboxd.request_id': request.requestId,
        },
      },
      parentOf(request.traceparent),
    );
    if (status >= firstServerError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(startedMs + request.ms);
  }

  /** Sends what waits; gives up after a moment. */
  async close(): Promise<void> {
    const expired = new Promise<void>((resolve) => setTimeout(resolve, flushMs).unref());
    await Promise.race([this.#provider.shutdown(), expired]);
  }
}

/** W3C trace context; what does not look like one has no say. */
function parentOf(traceparent: string | null): Context {
  const match = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '');
  if (!match) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = match;
  const traceFlags = Number.parseInt(flags, 16) & sampledFlag;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** `name=value` with commas between, each percent-encoded, as the variable has it. */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.split('='))
    .map(([name = '', ...value]) => [decode(name.trim()), decode(value.join('=').trim())]);
  return Object.fromEntries(pairs.filter(([name]) => name !== ''));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A lone percent sign: the value is meant as it stands.
  }
}

/** The library retries and then drops a batch without a word. */
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
