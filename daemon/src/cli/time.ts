/** Writes times for people. */

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** The time since the start, by the clock of this machine. */
export function age(startedAt: string | null): string {
  if (startedAt === null) return '-';
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(startedAt)) / 1000));
  const [unit, size] = units.find(([, size]) => seconds >= size * 2) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
