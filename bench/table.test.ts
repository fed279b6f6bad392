/** Goals judge a measurement, and the table shows the verdicts. */
import { expect, test } from 'bun:test';
import { atLeast, atMost, budget, verdicts, type Measurement } from './measurement.ts';
import { table } from './table.ts';

const measurement: Measurement = {
  title: 'a row',
  unit: 'ms',
  goals: [atMost(1.4, 'direct'), atLeast(3, 'absent'), budget(5)],
  samples: { boxkeep: [2, 3, 4], direct: [2, 2, 2] },
};

test('a goal is judged by the median or the ratio of medians; a goal about an absent peer stays open', () => {
  expect(verdicts(measurement)).toEqual([
    { goal: atMost(1.4, 'direct'), reached: 1.5, holds: false },
    { goal: budget(5), reached: 3, holds: true },
  ]);
});

test('the table has one line per server, with the ratio and the verdict', () => {
  expect(table([measurement]).split('\n')).toEqual([
    'row        server   median  p99  boxkeep is  must reach',
    'a row, ms  boxkeep  3       4                at most 5: holds',
    '           direct   2       2    1.5 ×       at most 1.4 × direct: DOES NOT HOLD',
  ]);
});
