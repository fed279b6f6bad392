/** The documents show the figures of the bench run, whatever rows and servers took part in it. */
import { expect, test } from 'bun:test';
import type { RowMeasurement } from '../../bench/measurement.ts';
import { benchRun, benchSentence, benchTables, type BenchRun } from './bench-tables.ts';

const measured = (
  row: string,
  title: string,
  unit: RowMeasurement['unit'],
  samples: RowMeasurement['samples'],
): RowMeasurement => ({ row, title, unit, goals: [], samples });

const idle = measured('idle', 'resident when idle', 'MiB', { boxkeep: [25.96] });
const start = measured('start', 'start to the first answer', 'ms', { boxkeep: [33, 31, 29], direct: [6] });
const exec = measured('exec', 'exec `true`, one connection', 'ms', { direct: [1], boxkeep: [2.046], envd: [3.25] });
const output = measured('output', '64 MiB of output, streamed', 'MiB/s', { boxkeep: [610], envd: [210] });

const run = (...rows: RowMeasurement[]): BenchRun => ({
  date: '2026-11-21T03:29:41.889Z',
  commit: 'd76a0656d282',
  cores: 2,
  cpu: 'Example CPU',
  memoryMib: 1024,
  kernel: '6.18',
  runtime: 'Bun',
  limit: 'none',
  rows,
});

test('a group is a table of medians: boxkeep first, and an empty cell for a server that took no part', () => {
  expect(benchTables(run(start, exec, output))).toBe(
    [
      'Medians of one run: 2 cores, Example CPU, 2026-11-21, commit d76a0656d282. Only the ratios within a table mean something.',
      '',
      '| commands and output | boxkeep | direct | envd |',
      '|---|---|---|---|',
      '| start to the first answer, ms | 31 | 6 |  |',
      '| exec `true`, one connection, ms | 2.05 | 1 | 3.25 |',
      '| 64 MiB of output, streamed, MiB/s | 610 |  | 210 |',
      '',
    ].join('\n'),
  );
});

test('servers of a single measurement share a column; a unit is spelled once', () => {
  const tables = benchTables(
    run(
      measured('grep', 'grep', 'ms', { boxkeep: [279], rg: [275], 'rg | sort': [300] }),
      measured('transfer', 'files', '/s', { boxkeep: [4] }),
      measured('transfer', 'descriptors that they leave', 'descriptors', { boxkeep: [0] }),
    ),
  );

  expect(tables.split('\n').slice(2)).toEqual([
    '| files | boxkeep | others |',
    '|---|---|---|',
    '| grep, ms | 279 | rg: 275; rg \\| sort: 300 |',
    '| files, per second | 4 |  |',
    '| descriptors that they leave | 0 |  |',
    '',
  ]);
});

test('a new row joins the group whose name it begins with, or the last group', () => {
  const tables = benchTables(
    run(
      measured('novel', 'something new', 'ms', { boxkeep: [1] }),
      measured('code-new', 'a new cell', 'ms', { boxkeep: [2], gateway: [3] }),
    ),
  );

  expect(tables.split('\n').slice(2)).toEqual([
    '| code | boxkeep | gateway |',
    '|---|---|---|',
    '| a new cell, ms | 2 | 3 |',
    '',
    '| other | boxkeep |',
    '|---|---|',
    '| something new, ms | 1 |',
    '',
  ]);
});

test('the sentence has only the facts that were measured', () => {
  expect(benchSentence(run(idle, start, exec, output))).toBe(
    "On 2 cores, boxkeep streams output 2.9 times as fast as E2B's envd, runs commands in 63 % of envd's time, starts in 31 ms and uses 26 MiB a second later.\n",
  );
  expect(benchSentence({ ...run(start), cores: 1 })).toBe('On 1 core, boxkeep starts in 31 ms.\n');
  expect(benchSentence(run(measured('exec', 'exec', 'ms', { boxkeep: [1] })))).toBe('');
});

test('a result without the name of its row is an error', () => {
  expect(() => benchRun('{"rows": [{"title": "old"}]}')).toThrow('"old" names no row');
});
