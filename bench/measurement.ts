/** One line of the table: the samples of each contestant, and the goals. */
import { median, ratio } from './statistics.ts';

export interface Measurement {
  readonly title: string;
  readonly unit: 'ms' | '/s' | 'KiB' | 'MiB' | 'MiB/s' | 'descriptors' | 'commands' | 'tokens';
  readonly goals: readonly Goal[];
  /** Keyed by the contestant's name. */
  readonly samples: Samples;
}

/** A measurement with the name of its row. */
export interface RowMeasurement extends Measurement {
  readonly row: string;
}

export type Samples = Readonly<Record<string, readonly number[]>>;

export interface Goal {
  readonly bound: 'at most' | 'at least';
  readonly figure: number;
  /** The contestant whose result the figure multiplies. Null for a figure in the measurement's unit. */
  readonly of: string | null;
  /** Whether a miss fails the run. A timing never does. */
  readonly isBudget: boolean;
}

export interface Verdict {
  readonly goal: Goal;
  readonly reached: number;
  readonly holds: boolean;
}

/** The contestant that the goals apply to. */
export const subject = 'boxkeep';

export const atMost = (figure: number, of: string | null = null): Goal => ({
  bound: 'at most',
  figure,
  of,
  isBudget: false,
});
export const atLeast = (figure: number, of: string | null = null): Goal => ({
  bound: 'at least',
  figure,
  of,
  isBudget: false,
});
export const budget = (figure: number): Goal => ({ bound: 'at most', figure, of: null, isBudget: true });

/** Only goals that can be judged: without the peer's samples, its goal stays open. */
export function verdicts({ goals, samples }: Measurement): Verdict[] {
  return goals.flatMap((goal) => {
    const ours = samples[subject] ?? [];
    const theirs = goal.of === null ? null : samples[goal.of];
    if (theirs === undefined) return [];
    const reached = theirs === null ? median(ours) : ratio(ours, theirs);
    return [{ goal, reached, holds: goal.bound === 'at most' ? reached <= goal.figure : reached >= goal.figure }];
  });
}
