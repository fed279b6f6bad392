/** Measures in turns, A B A B …, so that other load on the machine affects all contestants alike. */
import type { Contestant } from './peers/peer.ts';
import type { Samples } from './measurement.ts';

/** Collects the samples of each contestant. The first round is a warm-up and does not count. */
export async function inTurns<T extends { readonly name: string }>(
  contestants: readonly T[],
  rounds: number,
  measure: (contestant: T) => Promise<readonly number[]>,
): Promise<Samples> {
  const samples: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const contestant of contestants) {
      const taken = await measure(contestant);
      if (round > 0) (samples[contestant.name] ??= []).push(...taken);
    }
  }
  return samples;
}

/** Does the work several times, one after another. Returns milliseconds. */
export async function timed(times: number, work: (turn: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const startedMs = performance.now();
    await work(turn);
    took.push(performance.now() - startedMs);
  }
  return took;
}

/** Runs one command after another until `count` or the time limit is reached, at least one. Returns milliseconds. */
export async function runInSequence(
  contestant: Contestant,
  script: string,
  count: number,
  limitMs: number,
): Promise<number[]> {
  const took: number[] = [];
  const endsMs = performance.now() + limitMs;
  do {
    const startedMs = performance.now();
    await runSuccessfully(contestant, script);
    took.push(performance.now() - startedMs);
  } while (took.length < count && performance.now() < endsMs);
  return took;
}

/**
 * Keeps `width` commands running until `count` have started or the time is over. Returns the commands ended per
 * second.
 */
export async function runSideBySide(
  contestant: Contestant,
  script: string,
  width: number,
  count: number,
  limitMs: number,
): Promise<number> {
  let started = 0;
  const startedMs = performance.now();
  const worker = async (): Promise<void> => {
    do {
      started++;
      await runSuccessfully(contestant, script);
    } while (started < count && performance.now() < startedMs + limitMs);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return started / ((performance.now() - startedMs) / 1000);
}

async function runSuccessfully(contestant: Contestant, script: string): Promise<void> {
  const exitCode = await contestant.run(script);
  if (exitCode !== 0) throw new Error(`${contestant.name}: ${script} ended with ${exitCode}`);
}
