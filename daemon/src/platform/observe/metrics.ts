/** Counts requests, commands and calls of tools, and renders them with the gauges for Prometheus. */
import type { Counter, Histogram, Registry } from 'prom-client';
import type { AnsweredRequest } from '../../kit/types/answered-request.ts';

export type RequestSample = Pick<AnsweredRequest, 'method' | 'route' | 'status' | 'ms'>;

export interface CommandSample {
  readonly status: string;
  readonly seconds: number;
}

export interface ToolSample {
  /** The name of a built-in tool; one common label for the tools of other servers. */
  readonly tool: string;
  readonly outcome: string;
  readonly ms: number;
}

/** A value that is read when a client scrapes the metrics; a counter when its name ends in `_total`. */
export interface GaugeSource {
  readonly name: string;
  readonly help: string;
  readonly read: () => number | Promise<number>;
}

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

type Sample = { readonly request: RequestSample } | { readonly command: CommandSample } | { readonly tool: ToolSample };

/** Samples buffered before the library is loaded. At this number it is loaded even without a scrape. */
const waitingSamples = 4096;
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const commandSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Loads the library, six megabytes, at the first scrape. Earlier samples are recorded then. */
export class Metrics {
  #waiting: Sample[] = [];
  #instruments: Instruments | null = null;
  #loading: Promise<Instruments> | null = null;

  constructor(private readonly gauges: readonly GaugeSource[]) {}

  observeRequest({ method, route, status, ms }: RequestSample): void {
    // Arbitrary method names would add labels without bound.
    this.#take({ request: { method: knownMethods.has(method) ? method : 'other', route, status, ms } });
  }

  observeCommand(command: CommandSample): void {
    this.#take({ command });
  }

  observeTool(tool: ToolSample): void {
    this.#take({ tool });
  }

  async render(): Promise<Exposition> {
    const { registry } = await this.#load();
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  #take(sample: Sample): void {
    if (this.#instruments) return record(this.#instruments, sample);
    this.#waiting.push(sample);
    if (this.#waiting.length >= waitingSamples) void this.#load();
  }

  #load(): Promise<Instruments> {
    return (this.#loading ??= makeInstruments(this.gauges).then((instruments) => {
      for (const sample of this.#waiting.splice(0)) record(instruments, sample);
      this.#instruments = instruments;
      return instruments;
    }));
  }
}

interface Instruments {
  readonly registry: Registry;
  readonly requests: Counter<'method' | 'route' | 'status'>;
  readonly requestSeconds: Histogram<'method' | 'route'>;
  readonly commands: Counter<'status'>;
  readonly commandSeconds: Histogram;
  readonly tools: Counter<'tool' | 'outcome'>;
  readonly toolSeconds: Histogram<'tool'>;
}

function record(instruments: Instruments, sample: Sample): void {
  if ('request' in sample) {
    const { method, route, status, ms } = sample.request;
    instruments.requests.inc({ method, route, status });
    instruments.requestSeconds.observe({ method, route }, ms / 1000);
  } else if ('tool' in sample) {
    const { tool, outcome, ms } = sample.tool;
    instruments.tools.inc({ tool, outcome });
    instruments.toolSeconds.observe({ tool }, ms / 1000);
  } else {
    instruments.commands.inc({ status: sample.command.status });
    instruments.commandSeconds.observe(sample.command.seconds);
  }
}

async function makeInstruments(gauges: readonly GaugeSource[]): Promise<Instruments> {
  const [{ default: Registry }, { default: Counter }, { default: Histogram }, { default: Gauge }] = await Promise.all([
    import('prom-client/lib/registry.js'),
    import('prom-client/lib/counter.js'),
    import('prom-client/lib/histogram.js'),
    import('prom-client/lib/gauge.js'),
  ]);
  const registry = new Registry();
  const registers = [registry];
  for (const { name, help, read } of gauges) {
    const registerNowhere: Registry[] = [];
    const metric = name.endsWith('_total')
      ? new Counter({
          name,
          help,
          registers: registerNowhere,
          async collect() {
            const value = await read();
            this.reset();
            this.inc(value);
          },
        })
      : new Gauge({
          name,
          help,
          registers: registerNowhere,
          async collect() {
            this.set(await read());
          },
        });
    registry.registerMetric(metric);
  }
  return {
    registry,
    requests: new Counter({
      name: 'http_requests_total',
      help: 'Requests answered.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time until the answer was complete, a stream to its end.',
      labelNames: ['method', 'route'],
      buckets: requestSeconds,
      registers,
    }),
    commands: new Counter({
      name: 'command_exec_total',
      help: 'Commands that ended, by how.',
      labelNames: ['status'],
      registers,
    }),
    commandSeconds: new Histogram({
      name: 'command_exec_duration_seconds',
      help: 'Time from the start of a command to its end.',
      buckets: commandSeconds,
      registers,
    }),
    tools: new Counter({
      name: 'mcp_tool_calls_total',
      help: 'Calls of MCP tools, by how they ended.',
      labelNames: ['tool', 'outcome'],
      registers,
    }),
    toolSeconds: new Histogram({
      name: 'mcp_tool_duration_seconds',
      help: 'Time until the answer of an MCP tool was complete.',
      labelNames: ['tool'],
      buckets: commandSeconds,
      registers,
    }),
  };
}
