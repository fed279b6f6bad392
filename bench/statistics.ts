/** Computes quantiles, ratios and slopes from raw samples. */

/** The smallest sample that at least `share` of all samples do not exceed. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** The first median divided by the second. */
export function ratio(samples: readonly number[], to: readonly number[]): number {
  return median(samples) / median(to);
}

/** The slope of the least-squares line through (0, y₀), (1, y₁) …: the growth per step. */
export function slope(samples: readonly number[]): number {
  const middle = (samples.length - 1) / 2;
  const mean = samples.reduce((sum, y) => sum + y, 0) / samples.length;
  const [rise, run] = samples.reduce<[number, number]>(
    ([rise, run], y, x) => [rise + (x - middle) * (y - mean), run + (x - middle) ** 2],
    [0, 0],
  );
  return rise / run;
}
