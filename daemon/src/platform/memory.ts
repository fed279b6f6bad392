/** Whether memory is short: of the machine, or of the control group that the daemon is in. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Less than this part of it is left. */
const shortBelow = 0.1;

export function isMemoryShort(): boolean {
  const limit = Math.min(process.constrainedMemory() || totalmem(), totalmem());
  const isGrouped = limit < totalmem();
  const used = isGrouped ? groupUse() : null;
  const left = used === null ? availableBytes() : limit - used;
  return left !== null && left < limit * shortBelow;
}

/** Null where it cannot be read; pages of files that may go at any time are not counted. */
function groupUse(): number | null {
  try {
    const current = Number(readFileSync('/sys/fs/cgroup/memory.current', 'utf8'));
    const inactive = /^inactive_file (\d+)$/m.exec(readFileSync('/sys/fs/cgroup/memory.stat', 'utf8'))?.[1];
    return current - Number(inactive ?? 0);
  } catch {
    return null; // Version 1 of control groups, or none that can be seen.
  }
}

/** What programs could have without swapping, pages of files included (proc(5)); null where it is not told. */
function availableBytes(): number | null {
  const kibibytes = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
