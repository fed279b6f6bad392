/** The page at `#/overview`: what the sandbox is, what it can do and what it lacks, and how the daemon is doing. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { sizeOf } from '../files/transfers.ts';
import type { Page } from '../frame/view.ts';
import { whileSeen } from '../frame/while-seen.ts';
import { readMetrics } from './metrics.ts';
import { Sparkline } from './sparkline.ts';

type Info = Awaited<ReturnType<Sandbox['orThrow']['info']>>['data'];
type Metrics = ReadonlyMap<string, number>;

interface Plot {
  readonly name: string;
  /** Null where nothing can be said yet. */
  value(now: Metrics, before: Metrics | null, seconds: number): number | null;
  write(value: number): string;
}

const refreshMs = 2000;
const capabilityNames: Readonly<Record<string, string>> = {
  ...{ exec: 'Commands and terminals', files: 'Files', code_interpreter: 'Code', browser: 'Browser' },
  ...{ computer: 'Desktop', mcp: 'Tools of other MCP servers' },
};
/** What a person does about a capability that is absent or has gaps. */
const remedies: Readonly<Record<string, string>> = {
  code_interpreter: 'Install python3 or node in the image; ipykernel gives notebooks their rich outputs.',
  browser: 'Start a Chromium with --remote-debugging-port=9222 in the sandbox, or use an image that has one.',
  computer:
    'Start boxkeep computer-use beside an X11 display, both in one dbus-run-session for accessibility, or use the image with a desktop.',
  exec: 'Install a shell: bash or sh.',
  files: 'The ripgrep of the release searches contents; let the daemon run it.',
  mcp: 'Check the servers in the MCP configuration.',
};

const plots: readonly Plot[] = [
  { name: 'Memory', value: (now) => now.get('process_resident_memory_bytes') ?? null, write: sizeOf },
  {
    name: 'Processor time',
    value: (now, before, seconds) => rate('process_cpu_seconds_total', now, before, seconds),
    write: (value) => `${(value * 100).toFixed(1)} %`,
  },
  {
    name: 'Requests',
    value: (now, before, seconds) => rate('http_requests_total', now, before, seconds),
    write: (value) => `${value.toFixed(1)}/s`,
  },
  { name: 'Open descriptors', value: (now) => now.get('process_open_fds') ?? null, write: String },
  { name: 'Kept output', value: (now) => now.get('boxkeep_retained_log_bytes') ?? null, write: sizeOf },
];

export class OverviewPage implements Page {
  readonly #plots = plots.map((plot) => ({ ...plot, line: new Sparkline(plot.name), text: element('b', {}, '…') }));
  readonly #state = element('p', { class: 'wrong' });
  #before: { readonly metrics: Metrics; readonly atMs: number } | null = null;
  #stop: (() => void) | null = null;
  #isClosed = false;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
  ) {}

  async show(): Promise<void> {
    const { data: info } = await this.box.orThrow.info();
    if (this.#isClosed) return;
    document.title = 'Overview';
    const figures = this.#plots.map(({ name, line, text }) =>
      element('figure', {}, element('figcaption', {}, `${name} `, text), line.place),
    );
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element('header', {}, element('h1', {}, 'Overview'), element('span', { class: 'version' }, info.version)),
        element('h2', {}, 'What it can do'),
        capabilities(info),
        element('h2', {}, 'The daemon'),
        element('div', { class: 'plots' }, ...figures),
        this.#state,
        element('h2', {}, 'The machine'),
        facts(info),
        element('details', {}, element('summary', {}, 'Limits'), limits(info)),
      ),
    );
    this.#stop = whileSeen(refreshMs, () => this.#draw());
  }

  close(): void {
    this.#isClosed = true;
    this.#stop?.();
  }

  /** A daemon that is away leaves a gap in the plots. */
  async #draw(): Promise<void> {
    try {
      const read = await this.box.orThrow.open('operations.metrics', {});
      this.#add(readMetrics(await read.text()));
      this.#state.textContent = '';
    } catch (error) {
      this.#state.textContent = `${error instanceof Error ? error.message : String(error)}; trying again`;
    }
  }

  #add(metrics: Metrics): void {
    const atMs = performance.now();
    const seconds = (atMs - (this.#before?.atMs ?? atMs)) / 1000;
    for (const { value, write, line, text } of this.#plots) {
      const found = value(metrics, this.#before?.metrics ?? null, seconds);
      if (found === null) continue;
      line.add(found);
      text.textContent = write(found);
    }
    this.#before = { metrics, atMs };
  }
}

/** Null before the second scrape, and after a restart, when the counter begins again. */
function rate(name: string, now: Metrics, before: Metrics | null, seconds: number): number | null {
  const [to, from] = [now.get(name), before?.get(name)];
  return to === undefined || from === undefined || to < from || seconds === 0 ? null : (to - from) / seconds;
}

function capabilities({ capabilities: found }: Info): HTMLElement {
  const rows = Object.entries(found).map(([name, { status, missing, warnings }]) => {
    const remedy = status === 'ready' ? [] : [remedies[name] ?? ''];
    const reasons = [...missing, ...warnings, ...remedy].map((reason) => element('div', {}, reason));
    const state = element('span', { class: status === 'ready' ? 'note' : 'wrong' }, status);
    return element('li', {}, element('b', {}, capabilityNames[name] ?? name), ' ', state, ...reasons);
  });
  return element('ul', { class: 'rows' }, ...rows);
}

function facts({ hostname, os, kernel, arch, user, workspace_dir: workspace, started_at: started, ports }: Info) {
  const listening = ports.length === 0 ? 'none' : ports.join(', ');
  return pairs([
    ['Up since', new Date(started).toLocaleString()],
    ['Host', hostname],
    ['System', `${os}, Linux ${kernel}, ${arch}`],
    ['Account', user],
    ['Workspace', workspace],
    ['Ports that listen', listening],
  ]);
}

function limits({ limits: found }: Info): HTMLElement {
  return pairs(Object.entries(found).map(([name, limit]) => [name.replaceAll('_', ' '), limit.toLocaleString()]));
}

function pairs(rows: readonly (readonly [string, string])[]): HTMLElement {
  const parts = rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]);
  return element('dl', {}, ...parts);
}
