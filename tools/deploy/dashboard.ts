/** Writes the Grafana dashboard: `node_modules/.bin/bun tools/deploy/dashboard.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';

const target = join(repositoryRoot, 'deploy/observability/dashboard.json');
const source = { type: 'prometheus', uid: '${source}' };
const mine = 'job=~"$job"';

interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly queries: Readonly<Record<string, string>>;
  readonly isStat?: boolean;
}

/** Sums and quantiles over the fleet, so that the number of lines does not grow with the number of sandboxes. */
const rows: Readonly<Record<string, readonly Panel[]>> = {
  Fleet: [
    {
      title: 'Sandboxes up',
      description: 'Sandboxes whose metrics the last scrape has read.',
      unit: 'none',
      isStat: true,
      queries: { up: `sum(up{${mine}})` },
    },
    {
      title: 'Sandboxes down',
      description: 'Sandboxes that Prometheus knows and cannot read.',
      unit: 'none',
      isStat: true,
      queries: { down: `count(up{${mine}} == 0) or vector(0)` },
    },
    {
      title: 'Commands that run',
      description: 'Over all sandboxes.',
      unit: 'none',
      isStat: true,
      queries: { running: `sum(boxkeep_commands_running{${mine}})` },
    },
    {
      title: 'Daemons restarted in an hour',
      description: 'The counter of processor time starts again with each process.',
      unit: 'none',
      isStat: true,
      queries: { restarts: `sum(resets(process_cpu_seconds_total{${mine}}[1h]))` },
    },
  ],
  Requests: [
    {
      title: 'Requests by status',
      description: 'All sandboxes together.',
      unit: 'reqps',
      queries: { '{{status}}': `sum by (status) (rate(http_requests_total{${mine}}[$__rate_interval]))` },
    },
    {
      title: 'Time of an answer',
      description: 'Streams and waits count to their end, so that the 99th percentile can be long.',
      unit: 's',
      queries: Object.fromEntries(
        [0.5, 0.9, 0.99].map((share) => [
          `p${share * 100}`,
          `histogram_quantile(${share}, sum by (le) (rate(http_request_duration_seconds_bucket{${mine}}[$__rate_interval])))`,
        ]),
      ),
    },
    {
      title: 'Commands that ended',
      description: 'By how they ended; lost means that the keeper died and the exit code is unknown.',
      unit: 'ops',
      queries: { '{{status}}': `sum by (status) (rate(command_exec_total{${mine}}[$__rate_interval]))` },
    },
    {
      title: 'Calls of MCP tools',
      description: 'By how they ended.',
      unit: 'ops',
      queries: { '{{outcome}}': `sum by (outcome) (rate(mcp_tool_calls_total{${mine}}[$__rate_interval]))` },
    },
  ],
  Resources: [
    {
      title: 'Resident memory of a daemon',
      description: 'Median and largest of the fleet. Commands and browsers are not part of it.',
      unit: 'bytes',
      queries: {
        median: `quantile(0.5, process_resident_memory_bytes{${mine}})`,
        largest: `max(process_resident_memory_bytes{${mine}})`,
      },
    },
    {
      title: 'Processor time of all daemons',
      description: 'In cores.',
      unit: 'none',
      queries: { cores: `sum(rate(process_cpu_seconds_total{${mine}}[$__rate_interval]))` },
    },
    {
      title: 'Event loop lag',
      description: 'How late the event loop was at a scrape. Lag delays every answer of that sandbox.',
      unit: 's',
      queries: {
        median: `quantile(0.5, boxkeep_event_loop_lag_seconds{${mine}})`,
        largest: `max(boxkeep_event_loop_lag_seconds{${mine}})`,
      },
    },
    {
      title: 'Output kept on disk',
      description: 'The logs of commands.',
      unit: 'bytes',
      queries: {
        total: `sum(boxkeep_retained_log_bytes{${mine}})`,
        largest: `max(boxkeep_retained_log_bytes{${mine}})`,
      },
    },
    {
      title: 'Open in sandboxes',
      description: 'What clients hold open.',
      unit: 'none',
      queries: {
        streams: `sum(boxkeep_open_streams{${mine}})`,
        terminals: `sum(boxkeep_terminals{${mine}})`,
        interpreters: `sum(boxkeep_code_interpreters{${mine}}) + sum(boxkeep_code_kernels{${mine}})`,
        browsers: `sum(boxkeep_browser_connections{${mine}})`,
      },
    },
    {
      title: 'Zombies',
      description: 'Processes that ended and were not reaped. More than zero for a minute is a fault.',
      unit: 'none',
      queries: { zombies: `sum(boxkeep_zombie_processes{${mine}})` },
    },
  ],
};

const height = 8;
const columns = 24;

function panels(): object[] {
  let y = 0;
  let id = 0;
  return Object.entries(rows).flatMap(([title, members]) => {
    const across = members.every(({ isStat }) => isStat) ? members.length : 2;
    const tall = members.every(({ isStat }) => isStat) ? height / 2 : height;
    const header = { id: ++id, type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: columns, h: 1 } };
    const drawn = members.map((panel, index) => {
      const width = columns / across;
      const x = (index % across) * width;
      return drawnPanel(panel, ++id, { x, y: y + Math.floor(index / across) * tall, w: width, h: tall });
    });
    y += Math.ceil(members.length / across) * tall;
    return [header, ...drawn];
  });
}

function drawnPanel({ title, description, unit, queries, isStat }: Panel, id: number, gridPos: object): object {
  const targets = Object.entries(queries).map(([legendFormat, expr], index) => ({
    ...{ refId: String.fromCodePoint(65 + index), datasource: source, editorMode: 'code', expr, legendFormat },
    ...(isStat ? { instant: true, range: false } : { instant: false, range: true }),
  }));
  const custom = isStat ? {} : { custom: { fillOpacity: 10, showPoints: 'never' } };
  const fieldConfig = { defaults: { unit, min: 0, ...custom }, overrides: [] };
  const options = isStat
    ? { colorMode: 'value', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false } }
    : { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } };
  return {
    ...{ id, type: isStat ? 'stat' : 'timeseries', title, description, datasource: source, gridPos },
    ...{ fieldConfig, options, targets },
  };
}

const dashboard = {
  ...{ uid: 'boxkeep-fleet', title: 'boxkeep fleet', tags: ['boxkeep'], schemaVersion: 39, version: 1, editable: true },
  ...{ time: { from: 'now-1h', to: 'now' }, refresh: '30s', timezone: 'browser', graphTooltip: 1 },
  templating: {
    list: [
      { name: 'source', label: 'Source', type: 'datasource', query: 'prometheus', current: {}, hide: 0 },
      {
        ...{ name: 'job', label: 'Job', type: 'query', datasource: source, refresh: 2, includeAll: false, multi: true },
        ...{ query: 'label_values(boxkeep_commands_running, job)', current: {}, hide: 0 },
      },
    ],
  },
  annotations: { list: [] },
  panels: panels(),
};
writeFileSync(target, `${JSON.stringify(dashboard, null, 2)}\n`);
