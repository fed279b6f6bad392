/** The dashboard, the rules and the examples for a fleet, checked with Prometheus' own tool and a running daemon. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promtool } from '../../tools/deploy/programs.mjs';
import { repositoryRoot, Sandbox, type Json } from '../harness/sandbox.ts';

setDefaultTimeout(120_000);

const folder = join(repositoryRoot, 'deploy/observability');
/** Series that Prometheus itself adds. */
const ofPrometheus = ['up', 'scrape_samples_post_metric_relabeling'];
/** The buckets of a histogram have no series before the first sample; the test makes one of each. */
let served = '';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.start();
  await sandbox.run({ command: 'true' });
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'sandbox_execute_bash', arguments: {} },
  };
  const accept = { accept: 'application/json, text/event-stream' };
  await (await sandbox.fetch('POST /mcp', message, { headers: accept })).text();
  served = await (await sandbox.fetch('GET /metrics')).text();
});
afterAll(() => sandbox.close());

const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
const read = (name: string): Json => Bun.YAML.parse(text(name)) as Json;

function check(...args: string[]): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool(), ...args], { cwd: folder });
  return { code: exitCode, output: `${stdout.toString()}${stderr.toString()}` };
}

/** The names of series in an expression of Prometheus: each has a selector or a comparison after it. */
function seriesIn(expression: string): string[] {
  return [...expression.matchAll(/\b([a-z][a-z0-9_]*)\{/g)].map(([, name = '']) => name);
}

function expectServed(names: readonly string[]): void {
  const known = new Set([...served.matchAll(/^([a-z_]+)(?:\{|\s)/gm)].map(([, name]) => name));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !known.has(name) && !ofPrometheus.includes(name))).toEqual([]);
}

test('DEPLOY-FLEET the rules are valid, and each fires for what it describes and only then', () => {
  const checked = check('check', 'rules', 'alerts.yaml');
  expect([checked.code, checked.output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  const tested = check('test', 'rules', 'alerts.test.yaml');
  expect([tested.code, tested.output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  const names = read('alerts.yaml').groups.flatMap(({ rules }: Json) => rules.map(({ alert }: Json) => alert));
  const fired = read('alerts.test.yaml').tests.flatMap(({ alert_rule_test: cases }: Json) =>
    cases.filter(({ exp_alerts: alerts }: Json) => alerts.length > 0).map(({ alertname }: Json) => alertname),
  );
  expect(names.toSorted()).toEqual(fired.toSorted());
});

test('DEPLOY-FLEET each rule names series that a daemon serves', () => {
  const rules = read('alerts.yaml').groups.flatMap(({ rules: members }: Json) => members);
  expectServed(rules.flatMap(({ expr }: Json) => seriesIn(expr as string)));
});

test('DEPLOY-FLEET each panel of the dashboard has a valid query of series that a daemon serves', () => {
  const { panels, templating } = JSON.parse(text('dashboard.json'));
  const queries = panels.flatMap(({ targets = [] }: Json) => targets.map(({ expr }: Json) => expr as string));
  expect(queries.length).toBeGreaterThan(15);
  expectServed(queries.flatMap(seriesIn));
  expect(templating.list.map(({ name }: Json) => name)).toEqual(['source', 'job']);
  // Rules are the way to have promtool read expressions.
  const rules = queries.map((query: string, index: number) => ({
    record: `panel:${index}`,
    expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'boxkeep'),
  }));
  const place = mkdtempSync(join(tmpdir(), 'boxkeep-deploy-'));
  try {
    writeFileSync(join(place, 'panels.yaml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const { code, output } = check('check', 'rules', join(place, 'panels.yaml'));
    expect([code, output]).toEqual([0, expect.stringContaining(`${queries.length} rules found`)]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

test('DEPLOY-FLEET no panel has a line for each sandbox or for each route', () => {
  const { panels } = JSON.parse(text('dashboard.json'));
  for (const { targets = [] } of panels as Json[])
    for (const { expr, legendFormat } of targets as Json[]) {
      expect(expr).toMatch(/^(?:sum|max|count|quantile|histogram_quantile)\b/);
      expect(String(legendFormat)).not.toMatch(/instance|pod|route/);
    }
});

test('DEPLOY-FLEET the scrape is valid, bounds the series, and keeps the buckets of the dashboard', () => {
  const config = read('prometheus.yaml');
  const [scrape] = config.scrape_configs;
  expect(scrape.sample_limit).toBe(3000);
  // Debian's promtool is built without Kubernetes.
  const { kubernetes_sd_configs: _discovery, ...rest } = scrape;
  const place = mkdtempSync(join(tmpdir(), 'boxkeep-deploy-'));
  try {
    writeFileSync(join(place, 'config.yaml'), JSON.stringify({ ...config, rule_files: [], scrape_configs: [rest] }));
    const { code, output } = check('check', 'config', '--syntax-only', join(place, 'config.yaml'));
    expect([code, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  const drops = scrape.metric_relabel_configs.map(({ regex }: Json) => new RegExp(`^(?:${regex})$`));
  const kept = [...served.matchAll(/^(\w+_bucket)\{le="([^"]+)"/gm)].filter(
    ([, name, bound]) => !drops.some((drop: RegExp) => drop.test(`${name};${bound}`)),
  );
  const boundsOf = (wanted: string) => [
    ...new Set(kept.filter(([, name]) => name === wanted).map((match) => match[2])),
  ];
  expect(boundsOf('http_request_duration_seconds_bucket')).toEqual(['0.01', '0.1', '1', '10', '+Inf']);
  expect(boundsOf('command_exec_duration_seconds_bucket')).toEqual(['0.1', '1', '10', '60', '300', '3600', '+Inf']);
});

test('DEPLOY-FLEET requests to unknown paths with unknown methods add at most one route and one method', async () => {
  const series = async () => (await (await sandbox.fetch('GET /metrics')).text()).split('\n').length;
  await (await sandbox.fetch('STRANGE /first')).text();
  const before = await series();
  for (let index = 0; index < 50; index++) await (await sandbox.fetch(`ODD${index} /no/${index}`)).text();
  expect((await series()) - before).toBeLessThanOrEqual(0);
});
