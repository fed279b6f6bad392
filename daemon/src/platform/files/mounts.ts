/** Lists the mount points that this process sees. */
import { promises as fs, statfsSync } from 'node:fs';
import { decodePath, systemPath } from '../../kit/text/path-text.ts';

const mountPointField = 4; // proc_pid_mountinfo(5)

/** Absolute paths without symbolic links. */
export async function mountPoints(): Promise<string[]> {
  const text = await fs.readFile('/proc/self/mountinfo', 'latin1');
  return text
    .split('\n')
    .map((line) => line.split(' ')[mountPointField] ?? '')
    .filter((point) => point !== '')
    .map((point) => decodePath(Buffer.from(unescape(point), 'latin1')));
}

/** The kernel writes a space, a tab, a newline and a backslash as three octal digits. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Magic numbers of statfs(2): NFS, CIFS, SMB, SMB2, FUSE. */
const networkFileSystems = new Set([0x6969, 0xff534d42, 0x517b, 0xfe534d42, 0x65735546]);

/** Whether a path is on a file system that other machines change. Throws the system's error. */
export function isNetworkMount(path: string): boolean {
  return networkFileSystems.has(statfsSync(systemPath(path)).type);
}
