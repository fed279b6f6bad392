/** How often a silent stream shows that it lives. */

const pingHeader = 'keepalive-ping-interval';
const [usualSeconds, leastSeconds] = [90, 0.1];

export function pingMsOf(headers: Headers): number {
  const seconds = Number(headers.get(pingHeader) ?? usualSeconds);
  return (seconds > 0 && Number.isFinite(seconds) ? Math.max(leastSeconds, seconds) : usualSeconds) * 1000;
}
