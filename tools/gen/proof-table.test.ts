/** docs/proof.md shows every part of the last proof, with its time and its figures. */
import { expect, test } from 'bun:test';
import { proofTable } from './proof-table.ts';

const circumstances = {
  ...{ date: '2026-11-29T21:03:41.889Z', commit: 'd76a0656d282', seed: 7 },
  ...{ cores: 2, cpu: 'Example CPU', memoryMib: 7951, kernel: '6.18' },
};

test('a part is a row: its sentence, its time, its figures and its tests', () => {
  const rows = [
    { name: 'chaos', proves: 'Nothing is lost.', seconds: 614, passed: 1, figures: { tasks: 12_345, faults: 90 } },
    { name: 'images', proves: 'A | B.', seconds: 119, passed: 1000, figures: {} },
  ];
  expect(proofTable({ ...circumstances, rows })).toBe(
    [
      'All 1 001 tests passed in 12 minutes on 2026-11-29: commit d76a0656d282, seed 7, 2 cores, Example CPU, 7 951 MiB of memory, Linux 6.18.',
      '',
      '| part | what it proves | time | figures | tests passed |',
      '|---|---|---|---|---|',
      '| chaos | Nothing is lost. | 10 min | 12 345 tasks, 90 faults | 1 |',
      '| images | A \\| B. | 119 s |  | 1 000 |',
    ].join('\n'),
  );
});

test('without a run the page says so', () => {
  expect(proofTable(null)).toBe('No run is recorded yet.');
});
