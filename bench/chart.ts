/** Draws one picture with bars for the times and sizes of rows that compare several servers. */
import { subject, type Measurement } from './measurement.ts';
import { median } from './statistics.ts';
import { figure } from './table.ts';

const width = 720;
const margin = 16;
const labelWidth = 110;
const figureWidth = 90;
const barHeight = 18;
const barGap = 6;
const titleHeight = 30;
const panelGap = 14;

/** boxkeep's bars have one colour and all others another. The two also differ in black and white. */
export function chart(title: string, measurements: readonly Measurement[]): string {
  const compared = measurements.filter(
    ({ unit, samples }) => Object.keys(samples).length > 1 && unit !== 'descriptors' && unit !== 'commands',
  );
  let y = margin + titleHeight;
  const panels = compared.map((measurement) => {
    const drawn = panel(measurement, y);
    y += panelHeight(measurement);
    return drawn;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + margin}" font-family="sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    text(margin, margin + 14, title, 'font-size="15" font-weight="bold"'),
    ...panels,
    '</svg>',
    '',
  ].join('\n');
}

function panelHeight({ samples }: Measurement): number {
  return titleHeight + Object.keys(samples).length * (barHeight + barGap) + panelGap;
}

function panel({ title, unit, samples }: Measurement, top: number): string {
  const medians = Object.entries(samples).map(([name, values]) => [name, median(values)] as const);
  const most = Math.max(...medians.map(([, value]) => value));
  const room = width - 2 * margin - labelWidth - figureWidth;
  const bars = medians.flatMap(([name, value], index) => {
    const y = top + titleHeight + index * (barHeight + barGap);
    const length = Math.max(1, (room * value) / most);
    return [
      text(margin + labelWidth - 8, y + 13, name, 'text-anchor="end"'),
      `<rect x="${margin + labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" fill="${name === subject ? '#1f5fa8' : '#b9c3cf'}"/>`,
      text(margin + labelWidth + length + 6, y + 13, figure(value), ''),
    ];
  });
  return [text(margin, top + 18, `${title}, ${unit}`, 'font-weight="bold"'), ...bars].join('\n');
}

function text(x: number, y: number, words: string, attributes: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${Bun.escapeHTML(words.replaceAll('`', ''))}</text>`;
}
