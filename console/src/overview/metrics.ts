/** Reads the metrics of the daemon, in the text format of Prometheus. */

/** By name; the series of a metric are summed over its labels. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [, name = '', value = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{[^\n]*\})? (\S+)/gm)) {
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return sums;
}
