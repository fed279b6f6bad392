/** Formats the table: one line for each contestant of each measurement, with the goals. */
import { subject, verdicts, type Goal, type Measurement } from './measurement.ts';
import { median, quantile, ratio } from './statistics.ts';

const head = ['row', 'server', 'median', 'p99', 'boxkeep is', 'must reach'];

export function table(measurements: readonly Measurement[]): string {
  const lines = [head, ...measurements.flatMap(linesOf)];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function linesOf(measurement: Measurement): string[][] {
  const { title, unit, samples } = measurement;
  const judged = new Map(verdicts(measurement).map(({ goal, holds }) => [goal, holds]));
  return Object.entries(samples).map(([name, values], index) => [
    index === 0 ? `${title}, ${unit}` : '',
    name,
    figure(median(values)),
    values.length > 1 ? figure(quantile(values, 0.99)) : '',
    name === subject ? '' : times(samples[subject] ?? [], values),
    measurement.goals
      .filter(({ of }) => (of ?? subject) === name)
      .map((goal) => `${spell(goal)}: ${judged.get(goal) ? 'holds' : 'DOES NOT HOLD'}`)
      .join('; '),
  ]);
}

/** Empty when a median is zero or negative, because a ratio would be meaningless. */
function times(ours: readonly number[], theirs: readonly number[]): string {
  return Math.min(median(ours), median(theirs)) > 0 ? `${figure(ratio(ours, theirs))} ×` : '';
}

function spell({ bound, figure: number, of }: Goal): string {
  return `${bound} ${number}${of === null ? '' : ` × ${of}`}`;
}

/** Three significant digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
