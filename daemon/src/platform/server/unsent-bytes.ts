/** Counts the bytes that the system still has to send to a client, which the runtime does not report. */
import { readText } from '../host/read-text.ts';

/** 0 when the connection is gone, or where the system has no such table. */
export function unsentBytes(localPort: number, remotePort: number): number {
  const [local, remote] = [localPort, remotePort].map((port) => port.toString(16).toUpperCase().padStart(4, '0'));
  const row = new RegExp(`^ *\\d+: [\\dA-F]+:${local} [\\dA-F]+:${remote} [\\dA-F]{2} ([\\dA-F]+):`, 'gm');
  const counts = ['tcp', 'tcp6'].flatMap((table) =>
    [...(readText(`/proc/self/net/${table}`)?.matchAll(row) ?? [])].map(([, count]) => count ?? '0'),
  );
  return Math.max(0, ...counts.map((count) => Number.parseInt(count, 16)));
}
