/** Converts the figures of a bench run into the tables of bench/README.md and the sentence of README.md. */
import type { Circumstances } from '../../bench/machine.ts';
import { subject, type RowMeasurement } from '../../bench/measurement.ts';
import { median, ratio } from '../../bench/statistics.ts';
import { figure } from '../../bench/table.ts';
import { table } from './reference.ts';

export interface BenchRun extends Circumstances {
  readonly rows: readonly RowMeasurement[];
}

/** One table per group. A name stands for a row, and for all rows that begin with the name and a hyphen. */
const groups: readonly { readonly title: string; readonly rows: readonly string[] }[] = [
  {
    title: 'commands and output',
    rows: ['idle', 'start', 'exec', 'burst', 'first-byte', 'output', 'many', 'followers', 'readoption'],
  },
  { title: 'terminals', rows: ['terminal', 'terminals', 'busy-terminals'] },
  { title: 'clients of E2B', rows: ['e2b'] },
  { title: 'clients of agent-sandbox', rows: ['agent-sandbox'] },
  { title: 'agents', rows: ['agent'] },
  { title: 'files', rows: ['grep', 'transfer', 'tree', 'large-file', 'watch'] },
  { title: 'code', rows: ['code'] },
  { title: 'browser', rows: ['browser'] },
  { title: 'desktop', rows: ['desktop', 'accessibility'] },
  { title: 'MCP', rows: ['mcp'] },
  { title: '1.x routes', rows: ['v1'] },
];
const otherGroup = 'other';

const rival = 'envd';
const fullNameOfRival = "E2B's envd";

export function benchRun(json: string): BenchRun {
  const run = JSON.parse(json) as BenchRun;
  const nameless = run.rows.find(({ row }) => typeof row !== 'string');
  if (nameless) throw new Error(`The bench result "${nameless.title}" names no row. Run npm run bench again.`);
  return run;
}

export function benchTables({ cores, cpu, date, commit, limit, rows }: BenchRun): string {
  const machine = `${spellCores(cores)}, ${cpu}${limit === 'none' ? '' : `, each server with ${limit}`}`;
  const titles = [...groups.map(({ title }) => title), otherGroup];
  const tables = titles.flatMap((title) => {
    const members = rows.filter(({ row }) => groupOf(row) === title);
    return members.length > 0 ? [groupTable(title, members)] : [];
  });
  return [
    `Medians of one run: ${machine}, ${date.slice(0, 10)}, commit ${commit}. Only the ratios within a table mean something.\n`,
    ...tables,
  ].join('\n');
}

function groupOf(row: string): string {
  const isMember = (name: string): boolean => row === name || row.startsWith(`${name}-`);
  return groups.find(({ rows }) => rows.some(isMember))?.title ?? otherGroup;
}

/** Servers of a single measurement share the last column, so that a table does not become too wide to read. */
function groupTable(title: string, members: readonly RowMeasurement[]): string {
  const servers = serversOf(members);
  const countOf = (name: string): number => members.filter(({ samples }) => name in samples).length;
  const isAlone = (name: string): boolean => members.length > 1 && name !== subject && countOf(name) === 1;
  const columns = servers.filter((name) => !isAlone(name));
  const lone = servers.filter(isAlone);
  const lines = members.map(({ title, unit, samples }) => {
    const cells = columns.map((name) => medianOf(samples[name]));
    const others = lone.flatMap((name) => (name in samples ? [`${name}: ${medianOf(samples[name])}`] : []));
    return [label(title, unit), ...cells, ...(lone.length > 0 ? [others.join('; ')] : [])];
  });
  const head = [title, ...columns, ...(lone.length > 0 ? ['others'] : [])];
  return table(
    head.map(escape),
    lines.map((cells) => `| ${cells.map(escape).join(' | ')} |`),
  );
}

/** boxkeep first, the others in the order in which they appear. */
function serversOf(members: readonly RowMeasurement[]): string[] {
  const names = new Set(members.flatMap(({ samples }) => Object.keys(samples)));
  return [...names].toSorted((a, b) => Number(b === subject) - Number(a === subject));
}

function medianOf(samples: readonly number[] | undefined): string {
  return samples === undefined ? '' : figure(median(samples));
}

/** A unit that begins the title is not repeated. */
function label(title: string, unit: string): string {
  if (title.startsWith(unit)) return title;
  return `${title}, ${unit === '/s' ? 'per second' : unit}`;
}

function escape(cell: string): string {
  return cell.replaceAll('|', '\\|');
}

/** Names only what the run has measured. Empty if the run has none of it. */
export function benchSentence({ cores, rows }: BenchRun): string {
  const speed = comparison(rows, 'output', 'MiB/s');
  const time = comparison(rows, 'exec', 'ms');
  const start = own(rows, 'start', 'ms');
  const memory = own(rows, 'idle', 'MiB');
  const facts = [
    speed && `streams output ${speed.toFixed(speed < 10 ? 1 : 0)} times as fast as ${rival}`,
    time && `runs commands in ${(time * 100).toFixed(0)} % of ${rival}'s time`,
    start && `starts in ${start.toFixed(0)} ms`,
    memory && `uses ${memory.toFixed(0)} MiB a second later`,
  ].filter((fact) => typeof fact === 'string');
  if (facts.length === 0) return '';
  const list = [facts.slice(0, -1).join(', '), ...facts.slice(-1)].filter(Boolean).join(' and ');
  return `On ${spellCores(cores)}, ${subject} ${list}.\n`.replace(rival, fullNameOfRival);
}

/** Null if the run lacks the measurement or the rival. */
function comparison(rows: readonly RowMeasurement[], row: string, unit: string): number | null {
  const { [subject]: ours, [rival]: theirs } = samplesOf(rows, row, unit);
  return ours && theirs ? ratio(ours, theirs) : null;
}

function own(rows: readonly RowMeasurement[], row: string, unit: string): number | null {
  const { [subject]: ours } = samplesOf(rows, row, unit);
  return ours ? median(ours) : null;
}

function samplesOf(rows: readonly RowMeasurement[], row: string, unit: string): RowMeasurement['samples'] {
  return rows.find((measurement) => measurement.row === row && measurement.unit === unit)?.samples ?? {};
}

function spellCores(cores: number): string {
  return cores === 1 ? '1 core' : `${cores} cores`;
}
