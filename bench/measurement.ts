/** One line of the table: samples of each contestant, and what they must reach. */
import { median, ratio } from './statistics.ts';

export interface Measurement {
  readonly title: string;
  readonly unit: 'ms' | '/s' | 'KiB' | 'MiB' | 'MiB/s' | 'descriptors' | 'commands';
  readonly goals: readonly Goal[];
  /** By name of the contestant. */
  readonly samples: Samples;
}

export type Samples = Readonly<Record<string, readonly number[]>>;

export interface Goal {
  readonly bound: 'at most' | 'at least';
  readonly figure: number;
  /** The contestant that the figure is a multiple of; null for a figure in the unit of the measurement. */
  readonly of: string | null;
  /** Fails the run; a timing never does. */
  readonly isBudget: boolean;
}

export interface Verdict {
  readonly goal: Goal;
  readonly reached: number;
  readonly holds: boolean;
}

/** The contestant that the goals are about. */
export const subject = 'sandboxd';

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

/** Of the goals that can be judged: a peer that takes no part leaves its goal open. */
export function verdicts({ goals, samples }: Measurement): Verdict[] {
  return goals.flatMap((goal) => {
    const ours = samples[subject] ?? [];
    const theirs = goal.of === null ? null : samples[goal.of];
    if (theirs === undefined) return [];
    const reached = theirs === null ? median(ours) : ratio(ours, theirs);
    return [{ goal, reached, holds: goal.bound === 'at most' ? reached <= goal.figure : reached >= goal.figure }];
  });
}
